#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/panels/tiles_parts.h"

namespace attn::viz {
namespace {

/// Largest relative difference that merging in float explains.
constexpr double kMergeRounding = 1e-5;

/// Sums of exponentials grow and shrink fast: as many digits as can be compared by eye, wherever the point
/// is.
std::string sum_text(double value) {
  if (value < 1.0) return fmt::format("{:#.5g}", num(value));
  return value >= 1e4 && value < 1e9 ? fmt::format("{:.2f}", value) : tile_number(value);
}

std::string merge_text(const SplitPart& part, int index) {
  if (std::isinf(part.lse)) return fmt::format("split {} has no key: (0, {}), neutral", index, num(part.lse));
  return fmt::format("split {}: exp(LSE_i \xE2\x88\x92 LSE) = {} of the output\nLSE_i {}, |o_i| {}", index,
                     tile_number(part.weight), tile_number(part.lse), tile_number(part.o_norm));
}

/// Its number, weight and LSE_i, or as much of it as there is room for.
std::string segment_label(const Ui& ui, const SplitPart& part, int index, float width) {
  const std::string weight = fmt::format("{}: {}", index, tile_number(part.weight));
  const std::string all = fmt::format("{}  LSE_i {}", weight, tile_number(part.lse));
  const std::string number = std::to_string(index);
  return std::string(first_fitting(ui, FontRole::mono_small, width, {all, weight, number, ""}));
}

/// Returns what no segment was wide enough to say: "split 1 weighs 2.1e-05, LSE_i 3.4000".
std::string draw_segments(Ui& ui, const TileRow& row, const Rect& bar) {
  std::string untold;
  fill(ui, bar, ui[Color::raised]);
  const int here = row.finished ? -1 : row.now().split;
  double before = 0.0;
  const Rgb hue = hue_of(ui, row.rows.seq), tint = tint_of(ui, row.rows.seq);
  for (std::size_t s = 0; s < row.splits.size(); ++s) {
    const SplitPart& part = row.splits[s];
    const int index = static_cast<int>(s);
    const auto x_of = [&](double share) {
      return bar.x + std::round(bar.w * static_cast<float>(std::clamp(share, 0.0, 1.0)));
    };
    const Rect box{x_of(before), bar.y, x_of(before + part.weight) - x_of(before), bar.h};
    before += part.weight;
    const std::string label = segment_label(ui, part, index, box.w - ui.px(4));
    if (label.find("LSE_i") == std::string::npos && part.first_tile < part.end_tile)
      untold += fmt::format("{}split {} weighs {}, LSE_i {}", untold.empty() ? "" : "; ", index,
                            tile_number(part.weight), tile_number(part.lse));
    if (box.w <= 0.0F) continue;
    fill(ui, box, index == here ? hue : mix(tint, hue, 0.35));
    outline(ui, box, ui[Color::panel]);
    if (!label.empty())
      text_in(ui, FontRole::mono_small, box, index == here ? on_hue_of(ui, row.rows.seq) : ui[Color::text],
              label, Align::center);
    const Hit hit = mark(ui, fmt::format("tiles/merge/{}", index), box, merge_text(part, index),
                         fmt::format("partial_lse[{}, {}, {}] F32, lse[{}, {}] F32, {}", index, row.head,
                                     row.rows.batch, row.head, row.row, ui.frame.attention->kernel));
    if (hit.clicked && part.first_tile < part.end_tile) go_to_tile(ui, row, part.first_tile);
  }
  return untold;
}

}  // namespace

namespace {

/// "split 2: no keys", "splits 2 to 7: no keys", "" when all have some: a plan cuts at whole tiles, so that
/// the last splits of a short row are left without any.
std::string empty_splits(const TileRow& row) {
  const int count = static_cast<int>(row.splits.size());
  int first = count;
  while (first > 0 && row.splits[static_cast<std::size_t>(first - 1)].first_tile ==
                          row.splits[static_cast<std::size_t>(first - 1)].end_tile)
    --first;
  if (first == count) return {};
  return first == count - 1 ? fmt::format("split {}: no keys", first)
                            : fmt::format("splits {} to {}: no keys", first, count - 1);
}

/// What the merge is made of, and which splits bring nothing; returns where it ends.
float draw_merge_title(Ui& ui, const TileRow& row, const Rect& rect) {
  const std::string title = fmt::format("Merge of {} splits", row.splits.size());
  const float title_w = text_in(ui, FontRole::strong, rect, ui[Color::text], title, Align::left);
  name_tag(ui, {rect.x, rect.y, title_w, rect.h}, "num_splits");
  float x = rect.x + title_w;
  const std::string empty = empty_splits(row);
  if (empty.empty()) return x;
  x += ui.px(12);
  const Rect note{x, rect.y, std::min(rect.right() - x, text_width(ui, FontRole::small, empty)), rect.h};
  if (note.w <= 0.0F) return x;
  text_in(ui, FontRole::small, note, ui[Color::warning], empty, Align::left);
  mark(ui, "tiles/merge/empty", note, empty + "; their partial is (0, \xE2\x88\x92\xE2\x88\x9E), neutral",
       fmt::format("partial_lse[:, {}, {}] F32, {}", row.head, row.rows.batch, ui.frame.attention->kernel));
  return note.right();
}

/// The merged LSE beside the one that the kernel wrote, right-aligned; returns its width.
float draw_merge_check(Ui& ui, const TileRow& row, const Rect& rect) {
  const double merged = row.merged_lse();
  const bool same = merged == row.lse || std::abs(std::expm1(merged - row.lse)) <= kMergeRounding;
  const std::string result = fmt::format("log \xCE\xA3 exp(LSE_i) = {}   LSE = {} {}", tile_number(merged),
                                         tile_number(row.lse), same ? "\xE2\x9C\x93" : "\xE2\x9C\x97");
  const float w = std::min(rect.w, text_width(ui, FontRole::mono, result) + ui.px(4));
  const Rect box{rect.right() - w, rect.y, w, rect.h};
  text_in(ui, FontRole::mono, box, ui[same ? Color::ok : Color::error], result, Align::right);
  mark(ui, "tiles/merge", box, result,
       fmt::format("partial_lse[:, {}, {}] F32 against lse[{}, {}] F32, merge_states_kernel", row.head,
                   row.rows.batch, row.head, row.row));
  name_tag(ui, box, "lse");
  return w;
}

}  // namespace

void draw_tile_merge(Ui& ui, const TileRow& row, const Rect& rect) {
  const float title_h = ui.px(18);
  const Rect top{rect.x, rect.y, rect.w, std::min(rect.h, title_h)};
  const float check_w = draw_merge_check(ui, row, top);
  const float title_end = draw_merge_title(ui, row, {top.x, top.y, top.w - check_w - ui.px(8), top.h});
  if (rect.h < 2.0F * title_h) {  // one line: the bar goes between title and check
    const float x = title_end + ui.px(12);
    draw_segments(ui, row, {x, top.y, std::max(0.0F, top.right() - check_w - ui.px(12) - x), top.h});
    return;
  }
  const std::string untold = draw_segments(ui, row, {rect.x, top.bottom() + ui.px(3), rect.w, ui.px(20)});
  const int here = row.finished ? -1 : row.now().split;
  const std::string sum =
      "each split's weight is exp(LSE_i \xE2\x88\x92 LSE); the output is their weighted sum";
  const std::string text =
      here < 0 ? std::string(
                     first_fitting(ui, FontRole::small, rect.w,
                                   {untold + (untold.empty() ? "left to right; " : "; ") + sum, untold, sum}))
               : fmt::format("split {}: LSE_i {}, |o_i| {}", here,
                             tile_number(row.splits[static_cast<std::size_t>(here)].lse),
                             tile_number(row.splits[static_cast<std::size_t>(here)].o_norm));
  text_in(ui, FontRole::small, {rect.x, top.bottom() + ui.px(24), rect.w, ui.px(16)}, ui[Color::muted], text,
          Align::left);
}

void draw_tile_invariant(Ui& ui, const TileRow& row, const Rect& rect) {
  const TileState& tile = row.now();
  const bool holds = tile.holds();
  const Rgb ink = ui[holds ? Color::ok : Color::error];
  fill(ui, rect, ui[Color::raised], 1.0F, ui.px(4));
  outline(ui, rect, ink, ui.px(1), ui.px(4));
  const Rect inner{rect.x + ui.px(8), rect.y, rect.w - ui.px(16), rect.h};
  // Past exp's useful range both sides are shown as logarithms.
  const bool logs = std::abs(tile.log_state) > 60.0 || std::abs(tile.log_scores) > 60.0;
  const std::string left = logs ? fmt::format("log l + m = {}", tile_number(tile.log_state))
                                : fmt::format("l \xC2\xB7 exp(m) = {}", sum_text(std::exp(tile.log_state)));
  const std::string right = logs ? fmt::format("log \xCE\xA3 exp(s) = {}", tile_number(tile.log_scores))
                                 : fmt::format("\xCE\xA3 exp(s) = {}", sum_text(std::exp(tile.log_scores)));
  const std::string verdict = fmt::format("{} relative difference {:.1e}",
                                          holds ? "\xE2\x9C\x93" : "\xE2\x9C\x97", num(tile.difference()));
  const std::string shorter =
      fmt::format("{} {:.1e}", holds ? "\xE2\x9C\x93" : "\xE2\x9C\x97", num(tile.difference()));
  const std::string both = left + "    " + right;
  FontRole role = FontRole::mono;
  if (text_width(ui, role, both + shorter) + ui.px(20) > inner.w) role = FontRole::mono_small;
  const float both_w = text_in(ui, role, inner, ui[Color::text], both, Align::left);
  const Rect rest{inner.x + both_w + ui.px(12), inner.y, inner.w - both_w - ui.px(12), inner.h};
  if (rest.w > 0.0F)
    text_in(ui, role, rest, ink,
            first_fitting(ui, role, rest.w, {verdict, shorter, holds ? "\xE2\x9C\x93" : "\xE2\x9C\x97"}),
            Align::right);
  mark(ui, "tiles/invariant", rect,
       fmt::format(
           "after tile {}: {}, {}\nleft from the kernel's m and l, right from the kernel's scores of "
           "keys {} to {}; relative difference {:.2e}, rounding explains up to {:.1e}",
           tile.tile, left, right,
           row.splits.empty() ? 0 : row.splits[static_cast<std::size_t>(tile.split)].first_tile * row.k_tile,
           tile.end - 1, num(tile.difference()), num(tile.allowed)),
       tile_source(ui, row, "tile_m, tile_l", tile.tile));
}

}  // namespace attn::viz
