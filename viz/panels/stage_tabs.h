// Which view the middle of the screen shows.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_stage_tabs(Ui& ui, const Rect& rect);

}  // namespace attn::viz
