// Where each engine step lies on the timeline: prefill wide, decode narrow. When the recording is longer than
// the window allows, the part around the cursor is laid out. Pure, in pixels.
#pragma once

#include <vector>

namespace attn::viz {

struct TimelineLayout {
  int first = 0;  // steps [first, end) are laid out
  int end = 0;
  std::vector<float> x;  // [end - first + 1] left edges, then the right end
  float left(int step) const { return x[static_cast<std::size_t>(step - first)]; }
  float right(int step) const { return x[static_cast<std::size_t>(step - first) + 1]; }
  /// Step at a pixel, clamped to what is laid out; -1 when nothing is.
  int at(float pixel) const;
};

/// `wide[i]`: step i is a prefill. `unit_min` and `unit_max` bound the width of a decode step; a prefill is
/// three times as wide.
TimelineLayout layout_timeline(const std::vector<bool>& wide, int cursor, float x, float width,
                               float unit_min, float unit_max);

}  // namespace attn::viz
