// Stage view "Tile by tile": the online softmax of one query row, from the kernel's own probe.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_tiles(Ui& ui, const Rect& rect);

}  // namespace attn::viz
