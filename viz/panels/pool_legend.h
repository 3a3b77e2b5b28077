// What borders, slots and glyphs of the block pool mean.
#pragma once

#include "viz/layout/pool_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Of as many lines as the entries of cards or squares need: it is the same for every step. `brief`: with the
/// shortest words.
float pool_legend_height(const Ui& ui, float width, bool card, bool brief = false);
/// One line: what squares have room for in any panel.
float pool_legend_line(const Ui& ui);
/// As the cards at hand are drawn; where the box is lower than all words need, with fewer of them. Marks
/// "pool/legend/shared".
void draw_pool_legend(Ui& ui, const Rect& box, const PoolLayout& layout);

}  // namespace attn::viz
