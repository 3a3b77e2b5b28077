// The whole screen: lays out and draws every panel of a frame with Dear ImGui.
#pragma once

#include "viz/frame.h"
#include "viz/marks.h"

namespace attn::viz {

/// Text being typed and view settings; lives as long as the window, never in the trace.
struct ViewState {
  std::string prompt;
  int max_tokens = 24;
  float temperature = 0.0F;
  bool playing = false;
  float scale = 1.0F;
  bool light_theme = false;
  bool show_help = false;
};

/// Draws into the current ImGui frame (display size from ImGui::GetIO()). Fills marks, appends commands,
/// handles the keys of section 3.4 that exist so far (Space, arrows, Home, End, ?).
void draw_screen(const Frame& frame, const Selection& selection, ViewState& view, Marks& marks,
                 Commands& commands);

/// Builds the font atlas for a scale and applies the theme; call before the first frame and on change.
void apply_style(const ViewState& view);

/// The same state as text, for the clipboard and `describe`.
std::string describe_screen(const Frame& frame, const Selection& selection);

}  // namespace attn::viz
