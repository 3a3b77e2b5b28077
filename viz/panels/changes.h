// What changed since the last step, the difference of two steps, bookmarks and break points.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_changes(Ui& ui, const Rect& rect);

}  // namespace attn::viz
