#include "viz/layout/head_layout.h"

#include <algorithm>
#include <cmath>

namespace attn::viz {
namespace {

int ceil_div(int a, int b) { return (a + b - 1) / b; }

struct Arrangement {
  int kv_columns = 1;
  int head_columns = 1;
  float side = -1.0F;  // of a small tile: what is to be large
};

struct Tile {
  float w, h;
};

Tile tile_of(const Rect& box, int columns, int count, float gap) {
  const int rows = ceil_div(count, columns);
  return {(box.w - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns),
          (box.h - gap * static_cast<float>(rows - 1)) / static_cast<float>(rows)};
}

}  // namespace

HeadLayout layout_heads(const std::vector<int>& kv_head, int num_kv, const Rect& box, float header, float pad,
                        float gap) {
  HeadLayout out;
  out.header = header;
  out.head.resize(kv_head.size());
  if (num_kv < 1 || box.w <= 0.0F || box.h <= 0.0F) return out;
  std::vector<int> members(static_cast<std::size_t>(num_kv), 0);
  for (const int kv : kv_head) {
    if (kv >= 0 && kv < num_kv) ++members[static_cast<std::size_t>(kv)];
  }
  const int most = std::max(1, *std::max_element(members.begin(), members.end()));
  Arrangement best;
  for (int kc = 1; kc <= num_kv; ++kc) {
    const Tile kv = tile_of(box, kc, num_kv, gap);
    const Rect inside{0.0F, 0.0F, kv.w - 2.0F * pad, kv.h - header - pad};
    for (int hc = 1; hc <= most; ++hc) {
      const Tile head = tile_of(inside, hc, most, gap);
      const float side = std::min(head.w, head.h * 1.4F);
      if (side > best.side) best = {kc, hc, side};
    }
  }
  const Tile kv = tile_of(box, best.kv_columns, num_kv, gap);
  for (int i = 0; i < num_kv; ++i) {
    out.kv.push_back({std::floor(box.x + static_cast<float>(i % best.kv_columns) * (kv.w + gap)),
                      std::floor(box.y + static_cast<float>(i / best.kv_columns) * (kv.h + gap)),
                      std::floor(kv.w), std::floor(kv.h)});
  }
  std::fill(members.begin(), members.end(), 0);
  for (std::size_t h = 0; h < kv_head.size(); ++h) {
    if (kv_head[h] < 0 || kv_head[h] >= num_kv) continue;
    const auto group = static_cast<std::size_t>(kv_head[h]);
    const Rect& tile = out.kv[group];
    const Rect inside{tile.x + pad, tile.y + header, tile.w - 2.0F * pad, tile.h - header - pad};
    const Tile head = tile_of(inside, best.head_columns, most, gap);
    const int place = members[group]++;
    out.head[h] = {std::floor(inside.x + static_cast<float>(place % best.head_columns) * (head.w + gap)),
                   std::floor(inside.y + static_cast<float>(place / best.head_columns) * (head.h + gap)),
                   std::max(0.0F, std::floor(head.w)), std::max(0.0F, std::floor(head.h))};
  }
  return out;
}

}  // namespace attn::viz
