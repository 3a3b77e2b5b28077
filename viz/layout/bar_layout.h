// Geometry of the decode strip: bars in key order with a gap between physical blocks; when there are more
// keys than room, a bar stands for several keys of the same block. Pure, in pixels.
#pragma once

#include <vector>

#include "viz/marks.h"

namespace attn::viz {

struct BarGroup {
  int block = -1;  // physical id, -1: pads
  int first_bar = 0;
  int end_bar = 0;
};

struct BarLayout {
  struct Bar {
    int first_key = 0;
    int end_key = 0;
    float x = 0;
  };
  int keys_per_bar = 1;
  float bar_w = 0;
  std::vector<Bar> bars;
  std::vector<BarGroup> groups;

  int num_bars() const { return static_cast<int>(bars.size()); }
  int first_key(int bar) const { return bars[static_cast<std::size_t>(bar)].first_key; }
  int end_key(int bar) const { return bars[static_cast<std::size_t>(bar)].end_key; }
  Rect column(int bar, const Rect& plot) const {
    return {bars[static_cast<std::size_t>(bar)].x, plot.y, bar_w, plot.h};
  }
};

/// `blocks[k]` is the physical block of key k, -1 for a pad. A bar is `min_w` to `max_w` wide and followed by
/// a pixel or two; groups by `gap`.
BarLayout layout_bars(const std::vector<int>& blocks, float x, float width, float min_w, float max_w,
                      float gap);

}  // namespace attn::viz
