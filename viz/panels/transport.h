// First, back, play, forward, last, and the rail that scrubs over the whole recording.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_transport(Ui& ui, const Rect& rect);

}  // namespace attn::viz
