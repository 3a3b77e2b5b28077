// Draws the pictures of a film. Each is a function of its shot alone: no picture depends on which were drawn
// before it, so that parts of a film can be made in any order, and again.
#pragma once

#include <optional>
#include <string>

#include "app/edit_list.h"
#include "app/footage.h"
#include "app/frame_sink.h"
#include "app/headless.h"
#include "viz/screen.h"

namespace attn::app {

/// How every picture of a film looks.
struct FilmLook {
  int width = 1920;  // pixels
  int height = 1080;
  viz::ScreenMode mode = viz::ScreenMode::present;
  viz::ThemeId theme = viz::ThemeId::light;
  viz::PanelId panel = viz::PanelId::count_;       // alone in the picture; count_: all of the screen
  viz::StageView stage = viz::StageView::weights;  // where a stop does not say
  viz::SideView side = viz::SideView::stages;
  bool caption = true;     // of mode present, in the picture
  bool provenance = true;  // the small line where the numbers come from
};

/// Letters are as large for the shorter side of the picture as in a window of 1080 pixels.
float film_scale(int width, int height);
/// What a shot shows: what its stop says, or the script of a film without stops.
const Shown& shown_of(const Script& script, const Shot& shot);
viz::ViewState view_of(const FilmLook& look, const Shot& shot, const Shown& shown);
/// "shakespeare-1m - L0 H2 - decode, paged - max|d| 8e-07 - trace 3f2a" with middle dots and a delta: where
/// the numbers of a picture come from.
std::string provenance_of(const viz::Frame& frame, const viz::Selection& selection, std::uint64_t trace_hash);

/// Frames of a film, both in it.
struct FrameRange {
  int first = 0;
  int last = 0;
};

class FilmPainter {
 public:
  /// Called before each picture with the frames written so far; false ends the work with Footage::Cancelled.
  using Advance = std::function<bool(int frames)>;

  /// All are kept and outlive the painter.
  FilmPainter(Footage& footage, const Script& script, const EditList& list, const FilmLook& look);

  /// The frames of a section that are in the range, into a sink. With `hashes`, one line for each frame: the
  /// SHA-256 of its RGBA pixels and its number.
  void paint(const Section& section, const FrameRange& range, FrameSink& sink, std::string* hashes,
             const Advance& advance);
  std::string renderer() const { return headless_.renderer(); }

 private:
  struct Frames;  // written to the sink
  void start(const Shot& shot);

  Footage& footage_;
  const Script& script_;
  const EditList& list_;
  const FilmLook look_;
  Headless headless_;
};

}  // namespace attn::app
