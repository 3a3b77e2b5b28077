// Block tables of more sequences than have rows: every table as a thin line of colours.
#pragma once

#include <vector>

#include "viz/widgets/ui.h"

namespace attn::viz {

/// From top to bottom the tables of `seqs`, each entry in the colour of its place in the pool: what lies
/// together there has one colour, a shared beginning has the same in several lines. A click selects. Marks
/// "tables/map", "tables/line/3".
void draw_tables_map(Ui& ui, const std::vector<const trace::SeqState*>& seqs, const Rect& area, int focus);

}  // namespace attn::viz
