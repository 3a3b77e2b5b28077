// A matrix of rows x cols drawn in a box with square-ish cells of whole pixels; at most `limit` cells per
// side, larger matrices in groups. `free_rows`: rows of different sequences, whose height means nothing.
// Pure.
#pragma once

#include <algorithm>
#include <cmath>

#include "viz/marks.h"

namespace attn::viz {

struct GridLayout {
  float x = 0, y = 0;
  float cell_w = 0, cell_h = 0;
  int row_step = 1, col_step = 1;  // matrix rows and columns per cell
  int cells_y = 0, cells_x = 0;

  Rect cell(int row, int col) const {
    return {x + cell_w * static_cast<float>(col), y + cell_h * static_cast<float>(row), cell_w, cell_h};
  }
  Rect area() const {
    return {x, y, cell_w * static_cast<float>(cells_x), cell_h * static_cast<float>(cells_y)};
  }
  bool grouped() const { return row_step > 1 || col_step > 1; }
};

inline GridLayout layout_grid(const Rect& box, int rows, int cols, float max_cell, int limit = 64,
                              bool free_rows = false) {
  GridLayout out;
  out.x = box.x;
  out.y = box.y;
  if (rows <= 0 || cols <= 0 || box.w <= 0.0F || box.h <= 0.0F) return out;
  out.row_step = (rows + limit - 1) / limit;
  out.col_step = (cols + limit - 1) / limit;
  out.cells_y = (rows + out.row_step - 1) / out.row_step;
  out.cells_x = (cols + out.col_step - 1) / out.col_step;
  const auto whole = [](float length) { return length >= 1.0F ? std::floor(length) : length; };
  out.cell_w = whole(std::min(max_cell, box.w / static_cast<float>(out.cells_x)));
  out.cell_h = whole(std::min(max_cell, box.h / static_cast<float>(out.cells_y)));
  if (free_rows) return out;
  // Square, so that a staircase has its true slope; a long thin matrix may use the room it has.
  const float side = std::min(out.cell_w, out.cell_h);
  const bool thin = out.cells_x >= 2 * out.cells_y || out.cells_y >= 2 * out.cells_x;
  const float stretch = thin && !out.grouped() ? 1.6F : 1.0F;
  out.cell_w = whole(std::min(out.cell_w, side * stretch));
  out.cell_h = whole(std::min(out.cell_h, side * stretch));
  return out;
}

}  // namespace attn::viz
