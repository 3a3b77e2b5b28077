// Prefill weights: query rows over key columns, row sums at the right, numbers in cells that are large
// enough. Masked cells are hatched because the kernel did not look at them; NaN and infinite weights have the
// error colour. More than 64 x 64 cells go through the HeatPainter, with zoom.
#pragma once

#include "viz/attention_views.h"
#include "viz/panels/weights.h"

namespace attn::viz {

/// Axes, cells, sums and legend, inside `rect`; the legend in a `foot` of its own where one is given. Needs
/// about 220 x 120 px at scale 1; says so when it has less. Selects q_row and k_col of the sequence, and
/// lights what is hovered elsewhere.
void draw_weights_matrix(Ui& ui, const WeightsInput& input, MatrixView& view, const Rect& rect,
                         const Rect* foot = nullptr);
/// The cells when drawn into `rect`, to compare places for it, with the legend below them or elsewhere.
Rect matrix_cells(const Ui& ui, const WeightsInput& input, const MatrixView& view, const Rect& rect,
                  bool foot_below);
/// Pixels right of the cells that the row sums take.
float matrix_sums_width(const Ui& ui);
/// Pixels that the legend needs, with what has to be said below it.
float matrix_foot_height(const Ui& ui, const WeightsInput& input, const MatrixView& view);

}  // namespace attn::viz
