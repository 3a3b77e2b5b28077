// The box at the foot of the requests: a prompt, its limits, and the button that sends it to the engine.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

float prompt_box_height(const Ui& ui);
void draw_prompt_box(Ui& ui, const Rect& rect);

}  // namespace attn::viz
