// A miniature of every head's weights for one sequence, so that kinds of heads can be told at a glance.
#pragma once

#include "viz/lookup.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// As many heads as fit, the selected one ringed; clicking one selects it. Nothing when there is no room.
void draw_head_thumbs(Ui& ui, const Rect& area, const BatchRows& rows);

}  // namespace attn::viz
