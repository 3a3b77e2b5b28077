#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/lookup.h"
#include "viz/panels/compare_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kCostRows = 24.0F;  // px at scale 1: the heading and its gap
constexpr float kCostBars = 34.0F;  // one quantity
constexpr float kCostGap = 4.0F;    // below it
constexpr float kLaunchRow = 17.0F;

std::string short_count(double value) {
  if (value >= 1e9) return fmt::format("{:.2f} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.2f} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.1f} k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

/// One quantity of both sides; NaN where it was not measured.
struct Quantity {
  std::string name;  // "bytes"
  std::string label;
  double value[2];
  std::string text[2];
  std::string verb;  // "B moves 3.4x the bytes"
  std::string source;
};

std::string ratio_text(const Quantity& quantity) {
  const double a = quantity.value[0], b = quantity.value[1];
  if (!(a > 0.0) || !(b > 0.0)) return "";
  if (a == b) return "the same";
  const bool more = b > a;
  return fmt::format("{} {} {:.{}f}\xC3\x97", more ? "B" : "A", quantity.verb, more ? b / a : a / b,
                     std::max(a, b) / std::min(a, b) < 10.0 ? 2 : 1);
}

bool timed(const trace::CompareView& compare) {
  return !std::isnan(compare.a.ms) || !std::isnan(compare.b.ms);
}

/// Time is one of them where it was measured on a side.
std::vector<Quantity> quantities_of(const trace::CompareView& compare) {
  const auto a_bytes = static_cast<double>(compare.a.bytes), b_bytes = static_cast<double>(compare.b.bytes);
  const auto a_flop = static_cast<double>(compare.a.flop), b_flop = static_cast<double>(compare.b.flop);
  const auto a_dots = static_cast<double>(compare.a.score_dots),
             b_dots = static_cast<double>(compare.b.score_dots);
  const auto time = [](float ms) { return std::isnan(ms) ? "not measured" : fmt::format("{:.3f} ms", ms); };
  const std::string all =
      fmt::format("sum over this side's launch records of all {} query rows", compare.rows);
  const std::string events =
      fmt::format("device events around this side's launches on {} query rows", compare.a.view->num_q);
  std::vector<Quantity> out = {
      {"bytes",
       "Bytes",
       {a_bytes, b_bytes},
       {bytes_text(compare.a.bytes), bytes_text(compare.b.bytes)},
       "moves",
       all},
      {"flop", "FLOP", {a_flop, b_flop}, {short_count(a_flop), short_count(b_flop)}, "computes", all},
      {"dots",
       "Dots",
       {a_dots, b_dots},
       {short_count(a_dots), short_count(b_dots)},
       "scores",
       "q\xC2\xB7k products per head: the (query, key) pairs that this side's mask lets through, zero pads "
       "too"}};
  if (timed(compare))
    out.push_back({"time",
                   "Time",
                   {compare.a.ms, compare.b.ms},
                   {time(compare.a.ms), time(compare.b.ms)},
                   "takes",
                   events});
  return out;
}

/// Two bars, A above B, with the ratio at the right.
void draw_quantity(Ui& ui, const Quantity& quantity, const Rect& rect) {
  const float label_w = ui.px(44), value_w = ui.px(92);
  const std::string ratio = ratio_text(quantity);
  const float ratio_w = ui.px(112);
  const float bar_x = rect.x + label_w + ui.px(16);
  const float bar_w = rect.right() - ratio_w - value_w - bar_x - ui.px(6);
  text_in(ui, FontRole::text, {rect.x, rect.y, label_w, rect.h}, ui[Color::text], quantity.label,
          Align::left);
  const double most = std::max(std::isnan(quantity.value[0]) ? 0.0 : quantity.value[0],
                               std::isnan(quantity.value[1]) ? 0.0 : quantity.value[1]);
  const float row_h = rect.h / 2.0F;
  for (int side = 0; side < 2; ++side) {
    const Rect row{bar_x, rect.y + row_h * static_cast<float>(side), bar_w, row_h};
    text_in(ui, FontRole::small, {row.x - ui.px(16), row.y, ui.px(14), row.h}, ui[Color::muted],
            kSideNames[side], Align::left);
    if (bar_w > ui.px(12) && most > 0.0 && quantity.value[side] > 0.0) {
      const float share = static_cast<float>(quantity.value[side] / most);
      const Rect bar{row.x, row.y + ui.px(2), std::max(1.0F, std::round(row.w * share)), row.h - ui.px(4)};
      // A is filled and B only outlined: told apart without colour.
      if (side == 0)
        fill(ui, bar, ui[Color::accent], 1.0F, ui.px(2));
      else
        fill(ui, bar, ui[Color::accent], 0.35F, ui.px(2));
      outline(ui, bar, ui[Color::accent], 1.0F, ui.px(2));
    }
    text_in(ui, FontRole::mono_small, {rect.right() - ratio_w - value_w, row.y, value_w - ui.px(6), row.h},
            ui[Color::text], quantity.text[side], Align::right);
    mark(ui, fmt::format("compare/cost/{}/{}", quantity.name, side == 0 ? "a" : "b"), row,
         fmt::format("{} {}: {}", kSideNames[side], quantity.label, quantity.text[side]), quantity.source);
  }
  const Rect box{rect.right() - ratio_w, rect.y, ratio_w, rect.h};
  if (ratio.empty()) return;
  text_in(ui, FontRole::strong, box, ui[Color::text], ratio, Align::right);
  mark(ui, fmt::format("compare/cost/{}/ratio", quantity.name), box, ratio,
       fmt::format("{} / {}", quantity.text[0], quantity.text[1]));
}

void draw_side_launch(Ui& ui, const LaunchRecord& launch, int side, std::size_t index, const Rect& box) {
  const std::string bytes = bytes_text(launch.bytes);
  const float bytes_w = ui.px(80);
  text_in(ui, FontRole::small, {box.x, box.y, ui.px(14), box.h}, ui[Color::muted], kSideNames[side],
          Align::left);
  text_in(ui, FontRole::mono_small, {box.x + ui.px(16), box.y, box.w - bytes_w - ui.px(20), box.h},
          ui[Color::text], launch.kernel, Align::left);
  text_in(ui, FontRole::mono_small, {box.right() - bytes_w, box.y, bytes_w, box.h}, ui[Color::muted], bytes,
          Align::right);
  mark(ui, fmt::format("compare/{}/launch/{}", side == 0 ? "a" : "b", index), box,
       fmt::format("{}\ngrid {} {} {}, block {} {} {}\nmoves {}, {} FLOP, time {}", launch.kernel,
                   launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                   launch.block.z, bytes, launch.flop,
                   std::isnan(launch.ms) ? "not measured" : fmt::format("{:.3f} ms", launch.ms)),
       "launch record of this comparison");
}

constexpr float kLaunchColumn = 250.0F;  // px at scale 1, from which two stand beside each other
constexpr float kColumnGap = 24.0F;

bool two_columns(const Ui& ui, float width) {
  return width >= 2.0F * ui.px(kLaunchColumn) + ui.px(kColumnGap);
}

/// Half of a width that has two columns.
float column_width(const Ui& ui, float width) {
  return two_columns(ui, width) ? std::floor((width - ui.px(kColumnGap)) / 2.0F) : width;
}

}  // namespace

std::string cost_rows_text(const trace::CompareView& compare) {
  const std::string rows = fmt::format("{} quer{}", compare.rows, compare.rows == 1 ? "y" : "ies");
  if (compare.whole()) return fmt::format("Costs of {}", rows);
  return fmt::format("Costs of all {}{}", rows,
                     timed(compare) ? fmt::format("; time of the {} compared", compare.a.view->num_q) : "");
}

std::string bytes_ratio_text(const trace::CompareView& compare) {
  const std::string ratio = ratio_text(quantities_of(compare).front());
  return ratio == "the same" ? "the same bytes" : ratio.empty() ? ratio : ratio + " the bytes";
}

int num_cost_bars(const trace::CompareView& compare) { return timed(compare) ? 4 : 3; }

float cost_bars_height(const Ui& ui, int count) {
  return ui.px(kCostRows) + static_cast<float>(count) * ui.px(kCostBars + kCostGap);
}

void draw_cost_bars(Ui& ui, const trace::CompareView& compare, int count, const Rect& rect) {
  const float row = ui.px(kCostBars), gap = ui.px(kCostGap);
  const Rect heading{rect.x, rect.y, rect.w, ui.px(kCostRows) - gap};
  const std::string text = cost_rows_text(compare);
  const float used = text_in(ui, FontRole::strong, heading, ui[Color::text], text, Align::left) + ui.px(12);
  mark(ui, "compare/cost/rows", {heading.x, heading.y, std::min(used, heading.w), heading.h}, text,
       "launch records of one layer");
  if (const Rect rest{heading.x + used, heading.y, heading.w - used, heading.h};
      !timed(compare) && rest.w > 0.0F) {
    const std::string_view note =
        first_fitting(ui, FontRole::small, rest.w, {"time: not measured", "no time"});
    text_in(ui, FontRole::small, rest, ui[Color::muted], note, Align::right);
    mark(ui, "compare/cost/time", rest, "time: not measured", "the emulator's times mean nothing");
  }
  const std::vector<Quantity> all = quantities_of(compare);
  float y = rect.y + ui.px(kCostRows);
  for (int i = 0; i < count; ++i, y += row + gap)
    draw_quantity(ui, all[static_cast<std::size_t>(i)], {rect.x, y, rect.w, row});
}

float cost_details_height(const Ui& ui, const trace::CompareView& compare, int first, float width) {
  const bool two = two_columns(ui, width);
  const auto in_columns = [two](std::size_t a, std::size_t b) {
    return static_cast<float>(two ? std::max(a, b) : a + b);
  };
  const auto bars = static_cast<std::size_t>(num_cost_bars(compare) - first);
  return ui.px(kCostBars + kCostGap) * in_columns((bars + 1) / 2, bars / 2) +
         ui.px(kLaunchRow) * in_columns(compare.a.launches.size(), compare.b.launches.size());
}

void draw_cost_details(Ui& ui, const trace::CompareView& compare, int first, const Rect& rect) {
  const bool two = two_columns(ui, rect.w);
  const float w = column_width(ui, rect.w), row = ui.px(kLaunchRow);
  const std::vector<Quantity> all = quantities_of(compare);
  float y = rect.y;
  for (auto i = static_cast<std::size_t>(first); i < all.size(); ++i) {
    const bool right = two && (i - static_cast<std::size_t>(first)) % 2 == 1;
    draw_quantity(ui, all[i], {right ? rect.right() - w : rect.x, y, w, ui.px(kCostBars)});
    if (!two || right || i + 1 == all.size()) y += ui.px(kCostBars + kCostGap);
  }
  for (int side = 0; side < 2; ++side) {
    const auto& launches = (side == 0 ? compare.a : compare.b).launches;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Rect box{two && side == 1 ? rect.right() - w : rect.x, y + row * static_cast<float>(i), w, row};
      draw_side_launch(ui, launches[i].launch, side, i, box);
    }
    if (!two) y += row * static_cast<float>(launches.size());
  }
}

}  // namespace attn::viz
