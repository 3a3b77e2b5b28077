// Side view "Code": the source of the stage at the cursor, with the lines that just ran and the next ones.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_code(Ui& ui, const Rect& rect);

}  // namespace attn::viz
