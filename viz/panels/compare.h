// Two ways to compute the same attention, side by side: weights of A and B for the selected sequence and
// head, the difference of their outputs for every head and query with the worst place ringed, and what each
// moved and computed. Both sides are real launches on the recorded inputs (core/trace/compare.h).
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_compare(Ui& ui, const Rect& rect);

}  // namespace attn::viz
