#include "viz/layout/timeline_layout.h"

#include <algorithm>
#include <cmath>

namespace attn::viz {
namespace {

float base_unit(const std::vector<int>& starts, float width, float unit_max) {
  const float unit = std::min(unit_max, width / static_cast<float>(std::max(1, starts.back())));
  return unit >= 4.0F ? std::floor(unit) : unit;  // whole pixels keep columns alike
}

constexpr float kHigh = 80.0F;  // at scale 1; from here on large letters have steps that fit them

}  // namespace

float TimelineLayout::left(int step) const {
  return std::clamp(x[static_cast<std::size_t>(step - first)], x0, x1);
}
float TimelineLayout::right(int step) const {
  return std::clamp(x[static_cast<std::size_t>(step - first) + 1], x0, x1);
}

int TimelineLayout::at(float pixel) const {
  if (end <= first) return -1;
  const auto it = std::upper_bound(x.begin(), x.end(), pixel);
  return std::clamp(first + static_cast<int>(it - x.begin()) - 1, first, end - 1);
}

float zoom_for(const std::vector<int>& starts, float width, float unit_max, float unit) {
  if (starts.size() < 2 || width <= 0.0F) return 1.0F;
  return std::max(1.0F, unit / base_unit(starts, width, unit_max));
}

TimelineLayout layout_timeline(const std::vector<int>& starts, const TimelineWindow& window, float x,
                               float width, float unit_max) {
  TimelineLayout out;
  out.x0 = x;
  out.x1 = x + std::max(0.0F, width);
  if (starts.size() < 2 || width <= 0.0F) return out;
  const float base = base_unit(starts, width, unit_max);
  out.unit = std::clamp(base * std::max(1.0F, window.zoom), std::min(base, unit_max), unit_max);
  if (out.unit >= 4.0F) out.unit = std::floor(out.unit);
  const double total = starts.back();
  const double shown = static_cast<double>(width) / out.unit;
  const double from = std::clamp(window.center - shown * 0.5, 0.0, std::max(0.0, total - shown));
  const auto first = std::upper_bound(starts.begin(), starts.end(), from + 1e-6) - 1;
  const auto end = std::lower_bound(starts.begin(), starts.end() - 1, from + shown - 1e-6);
  out.first = static_cast<int>(first - starts.begin());
  out.end = std::max(out.first + 1, static_cast<int>(end - starts.begin()));
  for (int i = out.first; i <= out.end; ++i) {
    const double units = starts[static_cast<std::size_t>(i)] - from;
    out.x.push_back(x + static_cast<float>(units * out.unit));
  }
  if (from == 0.0 || out.unit < 4.0F) return out;
  const float shift = std::round(out.x.front()) - out.x.front();  // edges on whole pixels
  for (float& edge : out.x) edge += shift;
  return out;
}

TimelineStack stack_timeline(float height, bool present, bool block_selected) {
  TimelineStack out;
  if (present && height >= kHigh) out.steps = 22.0F;
  out.steps = std::clamp(height - out.flags, 1.0F, out.steps);
  out.gantt = std::max(0.0F, height - out.flags - out.steps - TimelineStack::kGap);
  /// Of what the sequences leave, who keep `least`.
  const auto take = [&](float& lane, float wanted, float least) {
    if (out.gantt - wanted < least) return;
    lane += wanted;
    out.gantt -= wanted;
  };
  constexpr float kThin = 12.0F, kLanes = 24.0F, kLetters = 48.0F;
  constexpr float kStages = 26.0F, kLegend = 15.0F;
  constexpr float kPool = 12.0F + TimelineStack::kApart, kBlock = 12.0F + TimelineStack::kApart;
  if (present) take(out.legend, kLegend, kThin);
  take(out.stages, kStages, present ? kLetters : kLanes);
  take(out.pool, kPool, present ? kLetters : kThin);
  if (block_selected) take(out.block, kBlock, kThin);
  if (!present) take(out.legend, kLegend, kThin);
  if (!block_selected) take(out.block, kBlock, 1.5F * kLetters);  // it only invites
  if (out.pool > 0.0F) take(out.pool, 10.0F, 2.0F * kLetters);
  return out;
}

}  // namespace attn::viz
