// What stands below the two pictures of a comparison: the difference and the bytes that each side moves, then
// the details.
#include <algorithm>
#include <cmath>

#include "viz/panels/compare_parts.h"
#include "viz/widgets/ui.h"

namespace attn::viz {
namespace {

constexpr float kLowerGap = 10.0F;  // px at scale 1
constexpr float kDetailsGap = 8.0F;

}  // namespace

CompareLower compare_lower(const Ui& ui, const trace::CompareView& compare, float width, float cell,
                           float seen) {
  const float gap = ui.px(kLowerGap);
  const float half = std::floor((width - gap) / 2.0F);
  CompareLower out;
  out.costs_w = std::min(std::max(half, ui.px(330)), width);
  const float beside_w = width - out.costs_w - gap;
  out.beside = beside_w >= ui.px(180) && std::max(difference_height(ui, compare, beside_w, ui.px(cell)),
                                                  cost_bars_height(ui, 1)) <= seen;
  if (!out.beside) out.costs_w = width;
  const float diff_w = out.beside ? width - out.costs_w - gap : width;
  out.diff_h = difference_height(ui, compare, diff_w, ui.px(cell));
  // Beside the cells stand as many quantities as have their height; bytes always do.
  if (out.beside)
    while (out.bars < num_cost_bars(compare) && cost_bars_height(ui, out.bars + 1) <= out.diff_h) ++out.bars;
  const float bars_h = cost_bars_height(ui, out.bars);
  out.core_h = out.beside ? std::max(out.diff_h, bars_h) : out.diff_h + gap + bars_h;
  out.all_h = out.core_h + ui.px(kDetailsGap) + cost_details_height(ui, compare, out.bars, width);
  return out;
}

void draw_compare_lower(Ui& ui, const trace::CompareView& compare, const CompareLower& lower,
                        const Rect& rect) {
  const float gap = ui.px(kLowerGap);
  const float diff_w = lower.beside ? rect.w - lower.costs_w - gap : rect.w;
  draw_difference(ui, compare, {rect.x, rect.y, diff_w, lower.diff_h});
  const float bars_y = lower.beside ? rect.y : rect.y + lower.diff_h + gap;
  draw_cost_bars(ui, compare, lower.bars,
                 {rect.right() - lower.costs_w, bars_y, lower.costs_w, cost_bars_height(ui, lower.bars)});
  const float details_y = rect.y + lower.core_h + ui.px(kDetailsGap);
  draw_cost_details(ui, compare, lower.bars, {rect.x, details_y, rect.w, rect.bottom() - details_y});
}

}  // namespace attn::viz
