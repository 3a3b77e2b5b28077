// The parts of the compare panel. All draw inside the rectangle they are given.
#pragma once

#include <string>
#include <vector>

#include "core/trace/compare.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

inline constexpr const char* kSideNames[2] = {"A", "B"};

/// The two sides as they are, or as they were asked for while nothing is there.
struct Picked {
  trace::Variant variant[2];
  std::vector<trace::Variant> choices;  // of this step
  Picked(const Frame& frame, const ViewState& view);
};

/// Asks for a comparison and remembers it.
void ask_compare(Ui& ui, const trace::Variant& a, const trace::Variant& b);

/// "< as recorded: paged, level 2 v >": cycles, or opens the list. Marks "compare/a/previous", ".../pick",
/// ".../next".
void draw_pick(Ui& ui, const Picked& picked, int side, const Rect& rect);
/// The list of variants of a side. Marks "compare/a/choice/3".
void draw_choices(Ui& ui, const Picked& picked, int side, const Rect& rect);

/// max |A - B| of o over head_dim, heads by query rows of the focus sequence (decode: by sequences), with
/// colour bar and the worst place. Marks "compare/diff/...".
void draw_difference(Ui& ui, const trace::CompareView& compare, const Rect& rect);
/// Its sentence alone. Marks "compare/diff/text".
void draw_difference_text(Ui& ui, const trace::CompareView& compare, const Rect& rect);
/// Height with cells that are `cell` pixels high, in a rectangle that is `width` wide.
float difference_height(const Ui& ui, const trace::CompareView& compare, float width, float cell);
/// "equal to the bit", "differ by at most ...": one sentence.
std::string difference_text(const Frame& frame, const trace::CompareView& compare);

/// Which query rows the costs are of: "Costs of all 4096 queries" where only some were compared.
std::string cost_rows_text(const trace::CompareView& compare);
/// "B moves 3.4x the bytes", or "the same".
std::string bytes_ratio_text(const trace::CompareView& compare);
/// Bytes, FLOP, and time where it was measured.
int num_cost_bars(const trace::CompareView& compare);
/// The first `count` of them for both sides, under a heading. Marks "compare/cost/...".
void draw_cost_bars(Ui& ui, const trace::CompareView& compare, int count, const Rect& rect);
float cost_bars_height(const Ui& ui, int count);
/// Those from `first` on, then the launches, A's at the left of B's where there is the width. Marks
/// "compare/cost/...", "compare/a/launch/0".
void draw_cost_details(Ui& ui, const trace::CompareView& compare, int first, const Rect& rect);
float cost_details_height(const Ui& ui, const trace::CompareView& compare, int first, float width);

/// What stands below the two pictures: difference and bytes of each first, then the details.
struct CompareLower {
  bool beside = true;    // difference and bars next to each other
  float costs_w = 0.0F;  // width of the bars
  float diff_h = 0.0F;   // height of the difference
  int bars = 1;          // quantities that stand with it
  float core_h = 0.0F;   // difference and these
  float all_h = 0.0F;    // with the details
};
/// With cells that are `cell` pixels high at scale 1. What stands beside each other is no higher than `seen`,
/// what of the panel is on screen at once.
CompareLower compare_lower(const Ui& ui, const trace::CompareView& compare, float width, float cell,
                           float seen);
void draw_compare_lower(Ui& ui, const trace::CompareView& compare, const CompareLower& lower,
                        const Rect& rect);

}  // namespace attn::viz
