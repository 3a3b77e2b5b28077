// One score taken apart: the query row, the key row, their products, and the sum beside the kernel's own
// score. The rows are read from the record and from the cache as the kernel saw it.
#pragma once

#include "viz/panels/weights.h"

namespace attn::viz {

/// What is shown: the cell hovered, else the selected one, else the largest weight of the last query.
struct ScoreCell {
  int q = -1;  // within the sequence
  int k = -1;
};
ScoreCell score_cell(const Ui& ui, const WeightsInput& input);

/// Needs about 200 x 96 px at scale 1; draws nothing in less.
void draw_dot_product(Ui& ui, const WeightsInput& input, const Rect& area);

}  // namespace attn::viz
