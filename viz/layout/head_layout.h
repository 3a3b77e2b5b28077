// Geometry of the head groups: wide tiles for K/V heads in a grid, and in each of them small tiles for the
// query heads that read it. Pure, in pixels.
#pragma once

#include <vector>

#include "viz/marks.h"

namespace attn::viz {

struct HeadLayout {
  std::vector<Rect> kv;    // [Hkv] wide tiles
  std::vector<Rect> head;  // [H] small tiles, inside kv[kv_head[h]]
  float header = 0.0F;     // height of a wide tile's heading
};

/// `kv_head[h]` in 0 .. num_kv - 1; heads with another value get an empty rectangle. `header`, `pad` and
/// `gap` in pixels. The arrangement that gives the largest small tiles is taken.
HeadLayout layout_heads(const std::vector<int>& kv_head, int num_kv, const Rect& box, float header, float pad,
                        float gap);

}  // namespace attn::viz
