#include "viz/heat_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace attn::viz {
namespace {

/// Folds one row of weights into its cells; returns the sum of what the kernel looked at.
float fold_row(const HeatMap& map, int row, float* cells, float& max) {
  const trace::AttentionView& view = *map.view;
  float sum = 0.0F;
  for (int col = 0; col < map.num_cols; ++col) {
    const float weight = view.weight(map.head, map.row0 + row, col);
    if (std::isnan(weight)) continue;
    float& cell = cells[col / map.col_step];
    if (!(cell >= weight)) cell = weight;
    sum += weight;
    max = std::max(max, weight);
  }
  return sum;
}

}  // namespace

HeatMap make_heat_map(std::shared_ptr<const trace::AttentionView> view, int head, int row0, int rows,
                      int cols, int limit) {
  HeatMap map;
  map.view = std::move(view);
  map.head = head;
  map.row0 = row0;
  map.num_rows = rows;
  map.num_cols = cols;
  const trace::AttentionView* v = map.view.get();
  const bool fits = v != nullptr && rows > 0 && cols > 0 && head >= 0 && head < v->num_heads && row0 >= 0 &&
                    row0 + rows <= v->num_q && cols <= v->max_k &&
                    v->weights.size() >= static_cast<std::size_t>(v->num_heads) * v->num_q * v->max_k;
  if (!fits) return map;
  map.row_step = (rows + limit - 1) / limit;
  map.col_step = (cols + limit - 1) / limit;
  map.cell_rows = (rows + map.row_step - 1) / map.row_step;
  map.cell_cols = (cols + map.col_step - 1) / map.col_step;
  map.cells.assign(static_cast<std::size_t>(map.cell_rows) * map.cell_cols,
                   std::numeric_limits<float>::quiet_NaN());
  map.row_sum.assign(static_cast<std::size_t>(map.cell_rows), 1.0F);
  for (int row = 0; row < rows; ++row) {
    const int cell_row = row / map.row_step;
    const float sum =
        fold_row(map, row, map.cells.data() + static_cast<std::size_t>(cell_row) * map.cell_cols, map.max);
    float& kept = map.row_sum[static_cast<std::size_t>(cell_row)];
    if (row % map.row_step == 0 || std::abs(sum - 1.0F) > std::abs(kept - 1.0F)) kept = sum;
  }
  return map;
}

}  // namespace attn::viz
