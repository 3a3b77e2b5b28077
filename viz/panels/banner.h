// The red bar above the stage while something is broken on purpose.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// What is broken and how far the answer is from the right one, measured on a second run.
void draw_banner(Ui& ui, const Rect& rect);

}  // namespace attn::viz
