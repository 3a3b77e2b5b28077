// Mask of the selected sequence: query rows over key columns, the cached band, the staircase and each query's
// own key. In decode one row per sequence, with the pads that the gather variant attends.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_mask(Ui& ui, const Rect& rect);

}  // namespace attn::viz
