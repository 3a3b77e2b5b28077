// Status bar: what the program is doing, on which device, and the last check of a relaunch against the
// record.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_status(Ui& ui, const Rect& rect);

}  // namespace attn::viz
