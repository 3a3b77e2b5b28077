#include "viz/layout/roofline_layout.h"

#include <algorithm>
#include <cmath>

#include "viz/layout/cutter.h"
#include "viz/layout/label_spread.h"

namespace attn::viz {
namespace {

// In pixels at scale 1.
constexpr float kLeastChartW = 280.0F;
constexpr float kLeastChartH = 200.0F;
constexpr float kLowChartH = 110.0F;  // in a part that shows no more at once
constexpr float kChartGap = 14.0F;
constexpr float kListRows = 6.0F;  // that a list below the chart shows at least

bool list_beside(float width, float scale, const RooflineText& text) {
  return width >= text.list + (kChartGap + kLeastChartW) * scale;
}

}  // namespace

float least_roofline_height(float width, float scale, const RooflineText& text, float note_h, float seen) {
  const float gap = std::round(kChartGap * scale);
  const float note = note_h > 0.0F ? note_h + gap : 0.0F;
  const float list = list_beside(width, scale, text) ? 0.0F : gap + kListRows * text.line;
  return std::ceil(note + std::clamp(seen - note, kLowChartH * scale, kLeastChartH * scale) + list);
}

RooflineLayout layout_roofline(const Rect& body, float scale, const RooflineText& text, float note_h) {
  RooflineLayout out;
  Cutter area{body, std::round(kChartGap * scale)};
  if (note_h > 0.0F) out.note = area.top(note_h);
  out.list = list_beside(body.w, scale, text)
                 ? area.right(text.list)
                 : area.bottom(std::max(kListRows * text.line, area.rest.h * 0.36F));
  const float left = text.y_label + std::round(6.0F * scale);
  const float foot = 2.0F * text.line + std::round(4.0F * scale);  // tick labels and the axis's name
  const Rect chart = area.rest;
  out.chart = chart;
  out.plot = {chart.x + left, chart.y + text.line, chart.w - left - std::round(8.0F * scale),
              chart.h - foot - text.line};
  return out;
}

float LogAxis::at(double value) const {
  const double share = (std::log10(value) - low) / std::max(1, high - low);
  return std::round(from + (to - from) * static_cast<float>(std::clamp(share, 0.0, 1.0)));
}

bool LogAxis::holds(double value) const {
  return value > 0.0 && std::log10(value) >= low && std::log10(value) <= high;
}

std::vector<int> LogAxis::ticks(float needed) const {
  const float pitch = std::abs(to - from) / static_cast<float>(std::max(1, high - low));
  const int step = label_step(pitch, needed);
  std::vector<int> out;
  for (int exponent = low; exponent <= high; exponent += step) out.push_back(exponent);
  return out;
}

LogAxis log_axis(double smallest, double largest, float from, float to) {
  LogAxis axis{static_cast<int>(std::floor(std::log10(smallest))),
               static_cast<int>(std::ceil(std::log10(largest))), from, to};
  axis.high = std::max(axis.high, axis.low + 1);
  return axis;
}

bool LabelRoom::place(Rect& box, std::initializer_list<Corner> places) {
  for (const Corner& corner : places) {
    const Rect there{std::round(corner.x), std::round(corner.y), box.w, box.h};
    const bool inside = there.x >= area_.x && there.y >= area_.y && there.right() <= area_.right() &&
                        there.bottom() <= area_.bottom();
    const bool free = std::ranges::none_of(taken_, [&](const Rect& other) {
      return there.x < other.right() && other.x < there.right() && there.y < other.bottom() &&
             other.y < there.bottom();
    });
    if (!inside || !free) continue;
    box = there;
    take(box);
    return true;
  }
  return false;
}

}  // namespace attn::viz
