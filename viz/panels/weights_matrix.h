// Prefill weights: query rows over key columns, row sums at the right, numbers in cells that are large
// enough. Masked cells are hatched because the kernel did not look at them; NaN and infinite weights have the
// error colour. More than 64 x 64 cells go through the HeatPainter, with zoom.
#pragma once

#include "viz/attention_views.h"
#include "viz/panels/weights.h"

namespace attn::viz {

/// Axes, cells, sums and legend, inside `rect`. Needs about 220 x 120 px at scale 1; says so when it has
/// less. Selects q_row and k_col of the sequence, and lights what is hovered elsewhere.
void draw_weights_matrix(Ui& ui, const WeightsInput& input, MatrixView& view, const Rect& rect);
/// Pixels of the drawing's cells together when drawn into `rect`, to compare places for it.
float matrix_area(const Ui& ui, const WeightsInput& input, const MatrixView& view, const Rect& rect);

}  // namespace attn::viz
