#include "viz/layout/bar_layout.h"

#include <algorithm>
#include <cmath>

namespace attn::viz {
namespace {

void cut_bars(BarLayout& out, const std::vector<int>& blocks) {
  out.bars.clear();
  out.groups.clear();
  const int count = static_cast<int>(blocks.size());
  int k = 0;
  while (k < count) {
    const int block = blocks[static_cast<std::size_t>(k)];
    int end = k;
    while (end < count && blocks[static_cast<std::size_t>(end)] == block) ++end;
    const int first_bar = out.num_bars();
    for (int from = k; from < end; from += out.keys_per_bar)
      out.bars.push_back({from, std::min(end, from + out.keys_per_bar), 0.0F});
    out.groups.push_back({block, first_bar, out.num_bars()});
    k = end;
  }
}

}  // namespace

BarLayout layout_bars(const std::vector<int>& blocks, float x, float width, float min_w, float max_w,
                      float gap) {
  BarLayout out;
  if (blocks.empty() || width <= 0.0F) return out;
  const auto pitch = [&] {
    const float gaps = std::min(gap * static_cast<float>(out.groups.size() - 1), width * 0.3F);
    return (width - gaps) / static_cast<float>(out.num_bars());
  };
  cut_bars(out, blocks);
  // Twice as many keys per bar until bars are wide enough, or until every block is a single bar.
  while (pitch() < min_w && out.num_bars() > static_cast<int>(out.groups.size())) {
    out.keys_per_bar *= 2;
    cut_bars(out, blocks);
  }
  const float step = std::min(pitch(), max_w + 2.0F);
  const float between = step >= 6.0F ? 2.0F : step >= 3.0F ? 1.0F : 0.0F;
  const float group_gap =
      out.groups.size() > 1 ? std::min(gap, width * 0.3F / static_cast<float>(out.groups.size() - 1)) : 0.0F;
  const float whole = step >= 4.0F ? std::floor(step) : step;
  out.bar_w = std::max(0.5F, whole - between);
  float at = x;
  for (const BarGroup& group : out.groups) {
    for (int i = group.first_bar; i < group.end_bar; ++i) {
      out.bars[static_cast<std::size_t>(i)].x = at;
      at += whole;
    }
    at += group_gap;
  }
  return out;
}

}  // namespace attn::viz
