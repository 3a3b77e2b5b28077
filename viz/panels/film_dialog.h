// The film of what is open: format, size and path before it is made, progress while it is, and what became of
// it.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_film_dialog(Ui& ui, const Rect& screen);

}  // namespace attn::viz
