// The weights of one sequence and head, prepared for drawing: at most 64 x 64 cells, larger matrices by the
// largest weight of each group. A pure function of what the inspector read.
#pragma once

#include <memory>
#include <vector>

#include "core/trace/attention_view.h"

namespace attn::viz {

inline constexpr int kMaxHeatCells = 64;  // per side

struct HeatMap {
  std::shared_ptr<const trace::AttentionView> view;  // what it was made from
  int head = 0;
  int row0 = 0;      // packed row of the first query
  int num_rows = 0;  // query rows of the sequence
  int num_cols = 0;  // columns attended
  int row_step = 1;  // rows per cell
  int col_step = 1;  // columns per cell
  int cell_rows = 0;
  int cell_cols = 0;
  std::vector<float> cells;  // [cell_rows, cell_cols] largest weight; NaN: the kernel looked at none of them
  std::vector<float>
      row_sum;       // [cell_rows] sum over the columns looked at (the sum farthest from 1 of a group)
  float max = 0.0F;  // largest weight of all

  bool matches(const std::shared_ptr<const trace::AttentionView>& other, int head_, int row0_, int rows,
               int cols) const {
    return view == other && head == head_ && row0 == row0_ && num_rows == rows && num_cols == cols;
  }
  float cell(int row, int col) const { return cells[static_cast<std::size_t>(row) * cell_cols + col]; }
};

/// At most `limit` cells per side. What lies outside the view's arrays, or an empty view, gives no cells.
HeatMap make_heat_map(std::shared_ptr<const trace::AttentionView> view, int head, int row0, int rows,
                      int cols, int limit = kMaxHeatCells);

}  // namespace attn::viz
