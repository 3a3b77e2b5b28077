// The box that asks for one line: the number of a step, a note, a path, the number of a condition.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_entry_box(Ui& ui, const Rect& screen);

}  // namespace attn::viz
