#include "viz/layout/timeline_layout.h"

#include <algorithm>
#include <cmath>

namespace attn::viz {
namespace {

constexpr float kPrefillUnits = 3.0F;

float units(const std::vector<bool>& wide, int step) {
  return wide[static_cast<std::size_t>(step)] ? kPrefillUnits : 1.0F;
}

}  // namespace

int TimelineLayout::at(float pixel) const {
  if (end <= first) return -1;
  const auto it = std::upper_bound(x.begin(), x.end(), pixel);
  const int step = first + static_cast<int>(it - x.begin()) - 1;
  return std::clamp(step, first, end - 1);
}

TimelineLayout layout_timeline(const std::vector<bool>& wide, int cursor, float x, float width,
                               float unit_min, float unit_max) {
  TimelineLayout out;
  const int count = static_cast<int>(wide.size());
  if (count == 0 || width <= 0.0F) return out;
  float total = 0.0F;
  for (int i = 0; i < count; ++i) total += units(wide, i);
  const float unit = std::clamp(std::floor(width / total), unit_min, unit_max);
  out.first = 0;
  out.end = count;
  if (total * unit > width) {
    // Grow a window around the cursor, to the left first: the past is what led here.
    cursor = std::clamp(cursor, 0, count - 1);
    out.first = cursor;
    out.end = cursor + 1;
    float used = units(wide, cursor) * unit;
    for (bool grew = true; grew;) {
      grew = false;
      if (out.first > 0 && used + units(wide, out.first - 1) * unit <= width) {
        used += units(wide, --out.first) * unit;
        grew = true;
      }
      if (out.end < count && used + units(wide, out.end) * unit <= width) {
        used += units(wide, out.end++) * unit;
        grew = true;
      }
    }
  }
  out.x.push_back(x);
  for (int i = out.first; i < out.end; ++i) out.x.push_back(out.x.back() + units(wide, i) * unit);
  return out;
}

}  // namespace attn::viz
