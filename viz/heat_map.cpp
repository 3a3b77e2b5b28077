#include "viz/heat_map.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace attn::viz {
namespace {

constexpr unsigned kRankShift = 14;                                 // of a float's bits: steps of 0.2 %
constexpr std::size_t kRankBins = (0x3F800000U >> kRankShift) + 2;  // up to 1, and all beyond
constexpr float kBad = std::numeric_limits<float>::infinity();

std::size_t bin_of(float weight) {
  if (!(weight > 0.0F)) return 0;
  return std::min<std::size_t>(std::bit_cast<std::uint32_t>(weight) >> kRankShift, kRankBins - 1);
}

/// In four lanes: one would wait for the addition before it.
double sum_of(const float* values, int count) {
  double lanes[4] = {};
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int lane = 0; lane < 4; ++lane) lanes[lane] += static_cast<double>(values[i + lane]);
  }
  for (; i < count; ++i) lanes[0] += static_cast<double>(values[i]);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/// Largest weight of one cell's columns in one row; `suspect`: one of them may be NaN or infinite.
float fold_cell(const float* weights, int count, bool suspect, int& bad) {
  float most = weights[0];
  if (!suspect) {
    for (int i = 1; i < count; ++i) most = std::max(most, weights[i]);
    return most;
  }
  most = 0.0F;
  int found = 0;
  for (int i = 0; i < count; ++i) {
    if (std::isfinite(weights[i]))
      most = std::max(most, weights[i]);
    else
      ++found;
  }
  bad += found;
  return found > 0 ? kBad : most;
}

/// Folds one row of weights into its cells; returns the sum of what the kernel looked at.
float fold_row(HeatMap& map, int row, float* cells) {
  const trace::AttentionView& view = *map.view;
  const HeatPart& part = map.part;
  const int looked = std::min(part.looked(row), view.max_k);
  const float* weights = view.weights.data() + view.at(part.head, part.q0 + row, view.max_k, 0);
  const double sum = sum_of(weights, std::max(0, looked));
  const bool suspect = !std::isfinite(sum);
  const int end = std::min(looked, part.col0 + part.cols);
  for (int cell = 0; part.col0 + cell * map.col_step < end; ++cell) {
    const int from = part.col0 + cell * map.col_step;
    const float most = fold_cell(weights + from, std::min(map.col_step, end - from), suspect, map.bad);
    if (!(cells[cell] >= most)) cells[cell] = most;
    if (std::isfinite(most)) map.max = std::max(map.max, most);
  }
  return static_cast<float>(sum);
}

bool fits(const trace::AttentionView* v, const HeatPart& part) {
  return v != nullptr && part.rows > 0 && part.cols > 0 && part.head >= 0 && part.head < v->num_heads &&
         part.row0 >= 0 && part.col0 >= 0 && v->has_row(part.q0 + part.row0) &&
         v->has_row(part.q0 + part.row0 + part.rows - 1) && part.col0 + part.cols <= v->max_k &&
         v->weights.size() >= static_cast<std::size_t>(v->num_heads) * v->num_q * v->max_k;
}

}  // namespace

HeatMap make_heat_map(std::shared_ptr<const trace::AttentionView> view, const HeatPart& part, int limit_rows,
                      int limit_cols) {
  static std::atomic<std::uint64_t> made{0};
  HeatMap map;
  map.view = std::move(view);
  map.part = part;
  map.limit_rows = limit_rows;
  map.limit_cols = limit_cols;
  map.key = ++made;
  if (!fits(map.view.get(), part) || limit_rows < 1 || limit_cols < 1) return map;
  map.row_step = (part.rows + limit_rows - 1) / limit_rows;
  map.col_step = (part.cols + limit_cols - 1) / limit_cols;
  map.cell_rows = (part.rows + map.row_step - 1) / map.row_step;
  map.cell_cols = (part.cols + map.col_step - 1) / map.col_step;
  map.cells.assign(static_cast<std::size_t>(map.cell_rows) * map.cell_cols,
                   std::numeric_limits<float>::quiet_NaN());
  map.row_sum.assign(static_cast<std::size_t>(map.cell_rows), 1.0F);
  for (int row = 0; row < part.rows; ++row) {
    const auto cell_row = static_cast<std::size_t>(row / map.row_step);
    const float sum = fold_row(map, part.row0 + row, map.cells.data() + cell_row * map.cell_cols);
    float& kept = map.row_sum[cell_row];
    if (row % map.row_step == 0 || !(std::abs(sum - 1.0F) <= std::abs(kept - 1.0F))) kept = sum;
  }
  return map;
}

void WeightRanks::build(const std::shared_ptr<const trace::AttentionView>& view, const HeatPart& part) {
  view_ = view;
  head_ = part.head;
  q0_ = part.q0;
  q_len_ = part.q_len;
  std::vector<std::uint64_t> counts(kRankBins, 0);
  std::uint64_t total = 0;
  for (int row = 0; row < part.q_len; ++row) {
    if (!view->has_row(part.q0 + row)) continue;
    const float* weights = view->weights.data() + view->at(part.head, part.q0 + row, view->max_k, 0);
    const int looked = std::min(part.looked(row), view->max_k);
    for (int col = 0; col < looked; ++col) ++counts[bin_of(weights[col])];
    total += static_cast<std::uint64_t>(std::max(0, looked));
  }
  share_.assign(kRankBins, 0.0F);
  std::uint64_t below = 0;
  const double others = static_cast<double>(std::max<std::uint64_t>(total, 2) - 1);
  for (std::size_t bin = 0; bin < kRankBins; ++bin) {
    share_[bin] = static_cast<float>(static_cast<double>(below) / others);
    below += counts[bin];
  }
}

bool WeightRanks::built_from(const std::shared_ptr<const trace::AttentionView>& view,
                             const HeatPart& part) const {
  return view_ == view && head_ == part.head && q0_ == part.q0 && q_len_ == part.q_len && !share_.empty();
}

float WeightRanks::rank(float weight) const {
  return share_.empty() ? 0.0F : std::min(1.0F, share_[bin_of(weight)]);
}

}  // namespace attn::viz
