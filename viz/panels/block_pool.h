// Block pool: one card per physical block in id order, with slots, tokens, reference count, hash and what
// this step wrote and read. Four states differ by shape: in use, shared, free but still cached, free.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_block_pool(Ui& ui, const Rect& rect);

}  // namespace attn::viz
