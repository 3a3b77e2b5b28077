// Cuts pieces off a rectangle, leaving a gap behind each. Pure.
#pragma once

#include <algorithm>
#include <cmath>

#include "viz/marks.h"

namespace attn::viz {

struct Cutter {
  Rect rest;
  float gap = 0.0F;

  Rect top(float h) {
    h = std::clamp(std::floor(h), 0.0F, rest.h);
    const Rect piece{rest.x, rest.y, rest.w, h};
    const float used = std::min(rest.h, h + gap);
    rest.y += used;
    rest.h -= used;
    return piece;
  }
  Rect bottom(float h) {
    h = std::clamp(std::floor(h), 0.0F, rest.h);
    const Rect piece{rest.x, rest.bottom() - h, rest.w, h};
    rest.h = std::max(0.0F, rest.h - h - gap);
    return piece;
  }
  Rect left(float w) {
    w = std::clamp(std::floor(w), 0.0F, rest.w);
    const Rect piece{rest.x, rest.y, w, rest.h};
    const float used = std::min(rest.w, w + gap);
    rest.x += used;
    rest.w -= used;
    return piece;
  }
  Rect right(float w) {
    w = std::clamp(std::floor(w), 0.0F, rest.w);
    const Rect piece{rest.right() - w, rest.y, w, rest.h};
    rest.w = std::max(0.0F, rest.w - w - gap);
    return piece;
  }
};

}  // namespace attn::viz
