// The overlay that lists every key, from the table that also handles them.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// Centred over the screen; a click on it or on its button closes it.
void draw_help(Ui& ui, const Rect& screen);

}  // namespace attn::viz
