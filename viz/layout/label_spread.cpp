#include "viz/layout/label_spread.h"

#include <algorithm>
#include <cstdlib>

namespace attn::viz {

int label_step(float pitch, float needed) {
  int step = 1;
  for (int power = 1; power <= 100'000; power *= 10) {
    for (const int factor : {1, 2, 5}) {
      step = power * factor;
      if (pitch * static_cast<float>(step) >= needed) return step;
    }
  }
  return step;
}

std::vector<int> spread_labels(int count, float pitch, float needed, int chosen) {
  std::vector<int> out;
  const auto offer = [&](int place) {
    if (place < 0 || place >= count) return;
    const bool apart = std::all_of(out.begin(), out.end(), [&](int taken) {
      return pitch * static_cast<float>(std::abs(taken - place)) >= needed;
    });
    if (apart) out.push_back(place);
  };
  for (const int place : {chosen, 0, count - 1}) offer(place);
  const int step = label_step(pitch, needed);
  const std::size_t must = out.size();
  for (int place = 0; place < count; place += step) {
    const bool apart =
        std::all_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(must),
                    [&](int taken) { return pitch * static_cast<float>(std::abs(taken - place)) >= needed; });
    if (apart) out.push_back(place);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace attn::viz
