// Which places of an even row get a label when not all have room. Pure.
#pragma once

#include <vector>

namespace attn::viz {

/// Places between two labels: 1, 2, 5, 10, 20, 50 .. of `pitch` pixels, so that labels of `needed` do not
/// touch.
int label_step(float pitch, float needed);

/// Of `count` places: `chosen` (-1: none), the first and the last, as far as they do not touch in that order,
/// and between them every n-th. Ascending.
std::vector<int> spread_labels(int count, float pitch, float needed, int chosen);

}  // namespace attn::viz
