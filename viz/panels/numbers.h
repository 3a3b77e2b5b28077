// The row of numbers below the stage: what the real kernel found for one query row of the selected head, how
// far this launch is from the record, and the bytes that the attention launch moved.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_numbers(Ui& ui, const Rect& rect);

}  // namespace attn::viz
