// Row and column labels, rings and the colour bar that the mask and the weights share.
#pragma once

#include "viz/layout/grid_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Query numbers at the left, key numbers above, and the cached columns as a labelled bracket.
void draw_axes(Ui& ui, const GridLayout& grid, int cached);
void draw_column_numbers(Ui& ui, const GridLayout& grid);
/// The sequence's letter at the left of a row.
void draw_row_letter(Ui& ui, const GridLayout& grid, int row, int seq);
/// Ring around the cell that holds column `col` of cell row `row`; nothing when either is outside.
void highlight_cell(Ui& ui, const GridLayout& grid, int row, int col, bool selected);

/// Vertical cividis bar with ticks; `log_scale` labels powers of ten.
void draw_color_bar(Ui& ui, const Rect& rect, bool log_scale);

}  // namespace attn::viz
