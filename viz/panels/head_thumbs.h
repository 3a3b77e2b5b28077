// A miniature of every head's weights for one sequence, so that kinds of heads can be told at a glance.
#pragma once

#include "viz/layout/grid_layout.h"
#include "viz/panels/weights.h"

namespace attn::viz {

/// One line of them above the matrix; 0 when the panel has no room for it or there is nothing to compare.
float head_thumbs_height(const Ui& ui, const WeightsInput& input, const Rect& body);
/// All heads in one line, the selected one ringed; clicking one selects it.
void draw_head_thumbs(Ui& ui, const WeightsInput& input, const Rect& area);

/// Coarse map of one head of the input's sequence, kept in ViewState while nothing changes; null when all
/// heads together are too many weights to be read at once.
const HeatMap* head_map(Ui& ui, const WeightsInput& input, int head);
/// Its cells, without outline, as large as fits the box, or bars for a single query; returns the area used.
Rect draw_head_map(const Ui& ui, const HeatMap& map, const WeightsInput& input, const Rect& box);
/// Its largest weight, at the right of the box as far as it has room.
void draw_head_max(const Ui& ui, const HeatMap& map, const Rect& box);

}  // namespace attn::viz
