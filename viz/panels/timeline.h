// Timeline: transport, one column per engine step (prefill wide, decode narrow), a lane per sequence, the
// pool's occupancy, flags for events, and a rail over the whole recording to scrub on.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_timeline(Ui& ui, const Rect& rect);

}  // namespace attn::viz
