// A matrix of rows x cols drawn in a box with square-ish cells of whole pixels; at most `limit` cells per
// side, larger matrices in groups; limit 0: as many cells as there are pixels. `free_rows`: rows of different
// sequences, whose height means nothing. Pure.
#pragma once

#include <algorithm>
#include <cmath>

#include "viz/marks.h"

namespace attn::viz {

struct GridLayout {
  float x = 0, y = 0;
  float cell_w = 0, cell_h = 0;
  int row_step = 1, col_step = 1;  // matrix rows and columns per cell
  int row0 = 0, col0 = 0;          // matrix row and column of the first cell, when a part is shown
  int cells_y = 0, cells_x = 0;

  Rect cell(int row, int col) const {
    return {x + cell_w * static_cast<float>(col), y + cell_h * static_cast<float>(row), cell_w, cell_h};
  }
  Rect area() const {
    return {x, y, cell_w * static_cast<float>(cells_x), cell_h * static_cast<float>(cells_y)};
  }
  bool grouped() const { return row_step > 1 || col_step > 1; }
  /// Cell that holds a matrix row or column; outside 0 .. cells - 1 when it is not shown.
  int cell_row(int row) const { return row < row0 ? -1 : (row - row0) / row_step; }
  int cell_col(int col) const { return col < col0 ? -1 : (col - col0) / col_step; }
  /// First matrix row and column of the cell under a point of the area.
  int row_at(float py) const {
    return row0 + row_step * std::clamp(static_cast<int>((py - y) / cell_h), 0, std::max(0, cells_y - 1));
  }
  int col_at(float px) const {
    return col0 + col_step * std::clamp(static_cast<int>((px - x) / cell_w), 0, std::max(0, cells_x - 1));
  }
};

inline GridLayout layout_grid(const Rect& box, int rows, int cols, float max_cell, int limit = 64,
                              bool free_rows = false) {
  GridLayout out;
  out.x = box.x;
  out.y = box.y;
  if (rows <= 0 || cols <= 0 || box.w <= 0.0F || box.h <= 0.0F) return out;
  const bool thin = cols >= 2 * rows || rows >= 2 * cols;
  const int limit_y = limit > 0 ? limit : std::max(1, static_cast<int>(box.h));
  const int limit_x = limit > 0 ? limit : std::max(1, static_cast<int>(box.w));
  out.row_step = (rows + limit_y - 1) / limit_y;
  out.col_step = (cols + limit_x - 1) / limit_x;
  if (limit == 0 && !thin) out.row_step = out.col_step = std::max(out.row_step, out.col_step);
  out.cells_y = (rows + out.row_step - 1) / out.row_step;
  out.cells_x = (cols + out.col_step - 1) / out.col_step;
  const float floor_from = limit == 0 ? 4.0F : 1.0F;  // texels may be of any size
  const auto whole = [&](float length) { return length >= floor_from ? std::floor(length) : length; };
  out.cell_w = whole(std::min(max_cell, box.w / static_cast<float>(out.cells_x)));
  out.cell_h = whole(std::min(max_cell, box.h / static_cast<float>(out.cells_y)));
  if (free_rows) return out;
  // Square, so that a staircase has its true slope; a long thin matrix may use the room it has.
  const float side = std::min(out.cell_w, out.cell_h);
  const float stretch = !thin ? 1.0F : out.grouped() ? 4.0F : 1.6F;
  out.cell_w = whole(std::min(out.cell_w, side * stretch));
  out.cell_h = whole(std::min(out.cell_h, side * stretch));
  return out;
}

}  // namespace attn::viz
