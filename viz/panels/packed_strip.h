// Packed strip: how the batch lies in one row. Keys above, queries right-aligned below them, joined by a
// trapezoid; a flag at every cu_seqlens value. The bottom-right rule is visible here before any mask.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_packed_strip(Ui& ui, const Rect& rect);

}  // namespace attn::viz
