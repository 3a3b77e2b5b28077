// What the step cost per kernel, and prefill against decode over the run so far.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_costs(Ui& ui, const Rect& rect);

}  // namespace attn::viz
