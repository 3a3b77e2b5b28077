// Softmax weights out of the real kernel, for the selected sequence and head: a matrix in prefill, a strip of
// bars in decode. This file opens the panel and says what is missing; the two views have their own files.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_weights(Ui& ui, const Rect& rect);

}  // namespace attn::viz
