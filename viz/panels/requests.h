// Requests and text: every request with its letter, status and tokens (cached, computed, generated), and the
// box that adds a prompt to a live engine.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_requests(Ui& ui, const Rect& rect);

}  // namespace attn::viz
