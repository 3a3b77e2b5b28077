// The weights of one sequence and head, prepared for drawing: as many cells as asked for, more weights than
// that by the largest of each group. A pure function of what the inspector read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/trace/attention_view.h"
#include "kernels/common/mask.h"

namespace attn::viz {

inline constexpr int kMaxHeatCells = 64;  // per side, where a cell is a quad of its own

/// Which weights: query rows [row0, row0 + rows) and keys [col0, col0 + cols) of one sequence.
struct HeatPart {
  int head = 0;
  int q0 = 0;                                        // packed row of the sequence's first query
  int q_len = 0;                                     // queries of the sequence
  int attended = 0;                                  // keys that the kernel went over, pads included
  MaskAlignment mask = MaskAlignment::bottom_right;  // it was launched with
  int row0 = 0;                                      // within the sequence
  int rows = 0;
  int col0 = 0;
  int cols = 0;
  bool operator==(const HeatPart&) const = default;
  /// Keys that query `row` of the sequence looks at: a NaN among them is a NaN of the kernel's.
  int looked(int row) const { return visible_keys(mask, row, q_len, attended); }
};

struct HeatMap {
  std::shared_ptr<const trace::AttentionView> view;  // what it was made from
  HeatPart part;
  int limit_rows = 0, limit_cols = 0;  // asked for
  int row_step = 1;                    // rows per cell
  int col_step = 1;                    // columns per cell
  int cell_rows = 0;
  int cell_cols = 0;
  /// [cell_rows, cell_cols] largest weight; NaN: the kernel looked at none of them; +Inf: one of them is NaN
  /// or infinite.
  std::vector<float> cells;
  std::vector<float> row_sum;  // [cell_rows] over all keys looked at (of a group: the sum farthest from 1)
  float max = 0.0F;            // largest finite weight of the part
  int bad = 0;                 // weights of the part that are NaN or infinite although looked at
  std::uint64_t key = 0;       // a number of its own for every map made, never 0

  bool matches(const std::shared_ptr<const trace::AttentionView>& other, const HeatPart& other_part,
               int rows_limit, int cols_limit) const {
    return view == other && part == other_part && limit_rows == rows_limit && limit_cols == cols_limit;
  }
  float cell(int row, int col) const { return cells[static_cast<std::size_t>(row) * cell_cols + col]; }
};

/// At most `limit_rows` x `limit_cols` cells. What lies outside the view's arrays, or an empty view, gives no
/// cells.
HeatMap make_heat_map(std::shared_ptr<const trace::AttentionView> view, const HeatPart& part,
                      int limit_rows = kMaxHeatCells, int limit_cols = kMaxHeatCells);

/// Rank of a weight among all that one head of a sequence looked at: the share of them that is smaller,
/// 0 .. 1. Weights closer than 0.2 % may share a rank, which keeps millions of them quick.
class WeightRanks {
 public:
  /// Over every row of `part` and all its keys, whatever part of it is shown.
  void build(const std::shared_ptr<const trace::AttentionView>& view, const HeatPart& part);
  bool built_from(const std::shared_ptr<const trace::AttentionView>& view, const HeatPart& part) const;
  float rank(float weight) const;

 private:
  std::shared_ptr<const trace::AttentionView> view_;
  int head_ = 0, q0_ = 0, q_len_ = 0;
  std::vector<float> share_;  // by the upper bits of the float
};

}  // namespace attn::viz
