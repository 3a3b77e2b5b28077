// Opening a file: lessons, what was opened lately, and the folders of the disk.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_open_dialog(Ui& ui, const Rect& screen);

}  // namespace attn::viz
