// Free queue: block ids in the order they will be taken, head at the left. A dot marks blocks whose contents
// can still be hit; taking one from the head is what evicts it.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_free_queue(Ui& ui, const Rect& rect);

}  // namespace attn::viz
