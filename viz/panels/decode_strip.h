// Decode weights: one bar per key, grouped by the physical block it lies in, pads cross-hatched; under it,
// for every sequence of the batch, one bar of 100 % split into real and stolen mass.
#pragma once

#include "viz/lookup.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_decode_strip(Ui& ui, const BatchRows& rows);

}  // namespace attn::viz
