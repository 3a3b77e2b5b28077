// Which view the lower right of the screen shows.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_side_tabs(Ui& ui, const Rect& rect);

}  // namespace attn::viz
