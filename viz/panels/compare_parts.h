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
/// Height from which its cells can be read.
float difference_height(const Ui& ui, const trace::CompareView& compare);
/// "equal to the bit", "differ by at most ...": one sentence.
std::string difference_text(const Frame& frame, const trace::CompareView& compare);

/// Which query rows the costs are of: "Costs of all 4096 queries" where only some were compared.
std::string cost_rows_text(const trace::CompareView& compare);
/// "B moves 3.4x the bytes", or "the same".
std::string bytes_ratio_text(const trace::CompareView& compare);
/// Bytes, FLOP and time of both sides as bars under that heading, then their launches as far as there is
/// room. Marks "compare/cost/...", "compare/a/launch/0".
void draw_compare_costs(Ui& ui, const trace::CompareView& compare, const Rect& rect);
/// Height of the bars with their heading, and of the launches below.
float cost_bars_height(const Ui& ui, const trace::CompareView& compare);
float launches_height(const Ui& ui, const trace::CompareView& compare);

}  // namespace attn::viz
