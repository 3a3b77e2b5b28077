// Where every panel goes: a pure function of window size, scale, mode and what the user dragged, so that it
// can be tested without drawing and so that panels never move when the step changes.
#pragma once

#include <array>

#include "viz/marks.h"

namespace attn::viz {

enum class PanelId : unsigned char {
  header,
  requests,
  strip,
  stage_tabs,  // which view the middle shows
  mask,        // stage view "weights": left part
  weights,     // ... right part
  tiles,       // stage view "tiles": online softmax, tile by tile, and the merge of splits
  heads,       // stage view "heads": GQA groups
  compare,     // stage view "compare": A beside B
  roofline,    // stage view "roofline": levels under this machine's ceilings
  numbers,     // the row of numbers below the stage
  pool,
  free_queue,
  tables,
  side_tabs,  // which view the lower right shows
  code,
  stages,
  costs,
  changes,  // what changed since the last step; diff of two cursors; bookmarks and break points
  timeline,
  status,
  caption,  // mode present: what this step does, for the back row
  banner,   // what is broken on purpose
  lesson,   // mode explore: the stop that is told
  count_
};
inline constexpr int kNumPanels = static_cast<int>(PanelId::count_);

/// Explore: everything. Present: the stage, one panel beside it, timeline and caption; for a projector.
enum class ScreenMode : unsigned char { explore, present };
enum class StageView : unsigned char { weights, tiles, heads, compare, roofline };
inline constexpr int kNumStageViews = 5;
enum class SideView : unsigned char { code, stages, costs, changes };
inline constexpr int kNumSideViews = 4;

/// The panel of a view of the lower right, and whether a panel is one of them.
PanelId side_panel(SideView side);
bool is_side_panel(PanelId id);

/// What the user dragged, as shares of what is divided; 0 = default, each clamped to what the panels need.
struct Splits {
  float left = 0.0F;    // width of requests, of the window
  float right = 0.0F;   // width of the pool column, of the window
  float bottom = 0.0F;  // height of the timeline, of the window
  float stage = 0.0F;   // width of the mask, of mask and weights
  float side = 0.0F;    // height of the lower right, of the pool column
  bool operator==(const Splits&) const = default;
};
enum class Split : unsigned char { left, right, bottom, stage, side, count_ };
inline constexpr int kNumSplits = static_cast<int>(Split::count_);
float& share_of(Splits& splits, Split split);

/// The gap between two panels that can be dragged.
struct Splitter {
  Rect handle;            // w = 0: not on this page
  Rect whole;             // what it divides
  bool vertical = false;  // a vertical bar, dragged left and right
  bool from_end = false;  // the share is that of the right or lower part
  float share = 0.0F;     // as laid out
};

struct LayoutInput {
  float width = 0.0F;  // pixels
  float height = 0.0F;
  float scale = 1.0F;
  ScreenMode mode = ScreenMode::explore;
  StageView stage = StageView::weights;
  SideView side = SideView::stages;
  int page = 0;  // of what does not fit at once; wraps
  // One panel in the place of all between header and timeline; of the lower right with its tabs, so that its
  // other views can be reached.
  PanelId maximised = PanelId::count_;
  Splits splits = {};
  bool broken = false;     // room for the banner
  bool lesson = false;     // room for the stop that is told
  int tables = 0;          // sequences of one batch at most: so many block tables want to be seen
  bool caption = true;     // of mode present
  bool note = false;       // ... with a line below it: letters are smaller than asked for
  bool alone = false;      // of mode and maximised panel, only caption and panel are laid out
  float margin = 0.0F;     // around a panel alone, pixels
  float caption_h = 0.0F;  // of its caption in mode present, pixels
};

struct ScreenLayout {
  std::array<Rect, kNumPanels> rects{};  // w = 0: not on this page
  std::array<Splitter, kNumSplits> splitters{};
  float gap = 0.0F;  // between panels, pixels
  int pages = 1;     // how many pages the window needs to show everything
  int page = 0;      // the one laid out, within pages

  const Rect& operator[](PanelId id) const { return rects[static_cast<std::size_t>(id)]; }
  Rect& operator[](PanelId id) { return rects[static_cast<std::size_t>(id)]; }
  const Splitter& operator[](Split split) const { return splitters[static_cast<std::size_t>(split)]; }
  bool shows(PanelId id) const { return (*this)[id].w > 0.0F; }
};

/// Explore, by size / scale: everything at once (from 1360 x 740), two pages (from 1000 x 600), below that a
/// page for each thing, or for two that stand beside each other.
/// Present: at most three cards and a caption, the timeline being one. The stage and a panel beside it, which
/// pages through pool, tables and lower right; with the weights also packed batch and mask on a page of their
/// own. One panel per page below 800 x 440. Pages wrap.
ScreenLayout layout_screen(const LayoutInput& input);

/// Whether a panel is the foot of the card above it, without a gap: the free queue of the pool, the numbers
/// of the weights.
bool joined_above(const ScreenLayout& layout, PanelId id);

/// The largest scale at which a window of so many pixels still has room for every part of every panel.
float fitting_scale(ScreenMode mode, float width, float height);

}  // namespace attn::viz
