// Decode weights: one bar per key, grouped by the physical block it lies in, tokens below, pads
// cross-hatched; more keys than room as the largest weight of neighbours, with zoom.
#pragma once

#include "viz/attention_views.h"
#include "viz/panels/weights.h"

namespace attn::viz {

/// The strip of the input's sequence inside `rect`, without the mass bars. Needs about 160 x 80 px at
/// scale 1.
void draw_decode_strip(Ui& ui, const WeightsInput& input, DecodeView& view, const Rect& rect);

}  // namespace attn::viz
