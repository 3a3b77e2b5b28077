// Row and column labels, rings and the colour bar that the mask and the weights share.
#pragma once

#include <span>

#include "viz/attention_views.h"
#include "viz/layout/grid_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Query numbers at the left, key numbers above, and a line behind the cached columns.
void draw_axes(Ui& ui, const GridLayout& grid, int cached);
void draw_column_numbers(Ui& ui, const GridLayout& grid);
/// The sequences' letters at the left of the rows; every n-th of low rows, the first, the last and the
/// `chosen` one among them.
void draw_row_letters(Ui& ui, const GridLayout& grid, std::span<const int> seqs, int chosen);
/// Ring around the cell that holds matrix row and column, around the whole row when it is selected without a
/// column; nothing when either is not shown.
void highlight_cell(Ui& ui, const GridLayout& grid, int row, int col, bool selected);

/// Horizontal bar of a palette with ticks below, 30 px high at scale 1; powers of ten on the log scale,
/// percentiles on the rank scale.
void draw_color_bar(Ui& ui, const Rect& rect, Palette palette, WeightScale scale);

}  // namespace attn::viz
