// What borders, slots and glyphs of the block pool mean.
#pragma once

#include "viz/layout/pool_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Of as many lines as all entries need: it is the same for every step.
float pool_legend_height(const Ui& ui, float width);
/// As the cards at hand are drawn. Marks "pool/legend/shared".
void draw_pool_legend(Ui& ui, const Rect& box, CardDetail detail);

}  // namespace attn::viz
