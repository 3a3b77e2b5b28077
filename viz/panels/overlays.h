// What lies over the panels: menus, dialogs, help. One at a time.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_overlays(Ui& ui, const Rect& screen);

}  // namespace attn::viz
