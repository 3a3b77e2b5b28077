// The whole screen: lays out and draws every panel of a frame with Dear ImGui.
#pragma once

#include "viz/attention_views.h"
#include "viz/compare_view.h"
#include "viz/data_views.h"
#include "viz/fonts.h"
#include "viz/frame.h"
#include "viz/heat_texture.h"
#include "viz/layout/screen_layout.h"
#include "viz/marks.h"
#include "viz/picture_view.h"
#include "viz/play_loop.h"
#include "viz/shell_view.h"
#include "viz/teach_view.h"
#include "viz/theme.h"
#include "viz/widgets/scroll_parts.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {

/// What the mouse is over, told from one panel to the others so that the same thing lights up in each.
struct Hover {
  int seq = -1;
  int q_row = -1;  // within the sequence
  int k_col = -1;  // within the sequence
  int block = -1;
  int head = -1;
  int tile = -1;
  std::string name = {};  // a name of the engine's or a kernel's: "context_lens", "block_tables", "m", ...
  bool operator==(const Hover&) const = default;
};

/// Of the tile stepper: what it last scrolled to.
struct TilesView {
  int listed_tile = -1;
};

/// Of the code pane.
struct CodeView {
  int tab = 1;        // CodeTab
  int launch = -1;    // of the stage's launches; -1: the main one
  int stage = -1;     // stage and layer that `launch` belongs to
  std::string shown;  // what it last scrolled to
};

/// How the window looks: what is remembered from one start to the next.
struct ViewSettings {
  ThemeId theme = ThemeId::dark;  // of mode explore
  ThemeId present_theme = ThemeId::light;
  float scale = 1.0F;
  ScreenMode mode = ScreenMode::explore;
  StageView stage = StageView::weights;
  SideView side = SideView::stages;
  Splits splits;  // of mode explore
  Splits present_splits;
  float speed = 1.0F;  // of playing, 0.25 .. 4
  bool reduced_motion = false;
  bool operator==(const ViewSettings&) const = default;
};

/// The settings, and what lives as long as the window: text being typed, what was scrolled to. Never in the
/// trace.
struct ViewState : ViewSettings {
  std::string prompt;
  int max_tokens = 24;
  float temperature = 0.0F;
  bool playing = false;
  PlayLoop loop;
  int page = 0;                                    // of layout_screen: what does not fit at once (X)
  PanelId wanted = PanelId::count_;                // the next frame turns to the page that has it
  PanelId maximised = PanelId::count_;             // count_: none
  ShellView shell;                                 // menus, dialogs, splitters
  trace::Grain grain = trace::Grain::step;         // what the arrow keys step by
  WeightScale weight_scale = WeightScale::linear;  // colour and bar height of weights (L)
  std::vector<std::string> font_dirs;              // searched before the usual places
  TilesView tiles;
  CodeView code;
  CompareViews compare;
  int listed_stage = -1;                // stage the stage list last scrolled to
  Hover hover;                          // of the last frame: what panels light up
  Hover next_hover;                     // being filled in this frame
  DataViews data;                       // of pool, timeline, requests, changes
  AttentionViews attention;             // of strip, mask, weights, heads
  PictureView picture;                  // of films and stills
  TeachView teach;                      // blank stage, pen, notes
  HeatPainter* heat_painter = nullptr;  // draws large matrices; null: as coarse quads
  ScrollParts scroll_parts;             // open while a frame is drawn
  TextLog* text_log = nullptr;          // of the frame drawn last; null: not kept
};

/// Mode present has a theme, a scale and splitters of its own.
ThemeId theme_in_use(const ViewState& view);
ThemeId& theme_to_change(ViewState& view);
Splits& splits_to_change(ViewState& view);
/// What view.scale asks for in the mode in use.
float asked_scale(const ViewState& view);
/// The scale that is asked for, or the largest that the current ImGui window has room for.
float screen_scale(const ViewState& view);
/// "Scale 2.5: 1.6 fits this window"; "" when the scale is the one asked for.
std::string scale_note(const ViewState& view);
/// Shows a view of the lower right, alone when another one was.
void show_side(ViewState& view, SideView side);
/// Sequences of one batch at most, of the whole run, so that panels stay where they are when the step
/// changes.
int most_tables(const Frame& frame);
LayoutInput layout_input(const ViewState& view, const Frame& frame, float width, float height);

/// The role of the letters that captions of mode present have; those of a panel alone are smaller than its
/// own titles where it was enlarged.
FontRole caption_role(const ViewState& view);
/// Of a panel alone in a picture so wide: the longest caption has room in it. Pixels.
float caption_height_alone(const ViewState& view, float width);
/// Of the line that says where the numbers of a picture come from.
float provenance_height(float scale);

/// What apply_style depends on: call it again when this differs.
struct StyleKey {
  float scale = 0.0F;
  ThemeId theme = ThemeId::dark;
  ScreenMode mode = ScreenMode::explore;
  bool operator==(const StyleKey&) const = default;
};
StyleKey style_key(const ViewState& view);

/// Draws into the current ImGui frame (display size from ImGui::GetIO()). Fills marks, appends commands,
/// handles the keys of keys.h. The target must be cleared to the style's ImGuiCol_WindowBg, on which the
/// panels stand.
void draw_screen(const Frame& frame, const Selection& selection, ViewState& view, Marks& marks,
                 Commands& commands);

/// Panels bring what is selected into view once, so that it can be scrolled away again: after this they do so
/// anew.
void show_selected_again(ViewState& view);

/// Builds the font atlas for the screen's scale and applies the theme; call before the first frame and
/// whenever style_key differs from the last call. Keys change it. A new scale bakes a new atlas, whose
/// texture must be uploaded again; a new theme does not. Returns "" or one sentence naming fonts that were
/// not found.
std::string apply_style(const ViewState& view);

/// The same state as text, for the clipboard and `describe`; while a lesson asks, its question alone.
std::string describe_screen(const Frame& frame, const Selection& selection);

}  // namespace attn::viz
