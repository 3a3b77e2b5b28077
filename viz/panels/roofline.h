// The levels of the current attention under this machine's measured ceilings: how fast each can be at best,
// what bounds it, and beside them the same levels as the bench measured them.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_roofline(Ui& ui, const Rect& rect);

}  // namespace attn::viz
