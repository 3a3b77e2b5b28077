// Decode weights: one bar per key, grouped by the physical block it lies in, tokens below, pads
// cross-hatched; more keys than room as the largest weight of neighbours, with zoom.
#pragma once

#include "viz/attention_views.h"
#include "viz/panels/weights.h"

namespace attn::viz {

/// What strips that are read side by side have in common.
struct StripLook {
  float tokens_h = 0.0F;  // height of the token labels, pixels; 0: none
  float axis_max = 1.0F;  // weight at the top of the linear scale
  int decimals = 3;       // of the numbers above bars
  bool every = true;      // above every bar; else above the highest one only
};
/// As one strip in `rect` would choose it for itself.
StripLook strip_look(const Ui& ui, const WeightsInput& input, DecodeView& view, const Rect& rect);
StripLook shared_look(const StripLook& a, const StripLook& b);

/// The strip of the input's sequence inside `rect`, without the mass bars. Needs about 160 x 80 px at
/// scale 1. Without a `look` it chooses its own.
void draw_decode_strip(Ui& ui, const WeightsInput& input, DecodeView& view, const Rect& rect,
                       const StripLook* look = nullptr);

}  // namespace attn::viz
