// What the inspector read out of the real attention kernel for one (step, layer).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/pool_history.h"
#include "core/trace/step_record.h"

namespace attn::trace {

/// What the attention of a layer takes at one level of the kernels: sums over the launches it would make.
struct LevelCost {
  int level = 0;
  std::string kernel;  // of the attention itself, not of gather or merge
  std::uint64_t bytes = 0;
  std::uint64_t flop = 0;
  std::uint64_t exps = 0;  // one per visible pair and query head
  int launches = 0;
};

/// Index helpers follow the kernels' probe: [H, Nq, columns].
struct AttentionView {
  int step = 0;
  int layer = 0;
  AttentionPath path = AttentionPath::prefill_packed;
  std::string kernel;  // "decode_l2_tiled_kernel<float, StateProbe>"
  std::string device;
  int num_heads = 0;
  int num_q = 0;      // rows in the arrays: all of the batch, packed, or a window of a large prefill
  int first_row = 0;  // packed row of the first of them
  int max_k = 0;      // columns of scores and weights: at least those of every sequence that has rows here
  int num_tiles = 0;
  int k_tile = 0;
  std::vector<std::int32_t> k_lens;    // [B] real keys per sequence
  std::vector<std::int32_t> attended;  // [B] columns attended (max_len when pads are attended)
  std::vector<float> scores;           // [H, Nq, max_k]; NaN where the kernel did not look
  std::vector<float> weights;          // [H, Nq, max_k]; NaN where the kernel did not look
  std::vector<float> tile_m, tile_l, tile_alpha, tile_o_norm;  // [H, Nq, num_tiles]; NaN = not visited
  std::vector<float> lse;                                      // [H, Nq]
  int num_splits = 1;                                          // split-KV (decode); 1: not split
  int keys_per_split = 0;             // of level 2 (the probe's): a multiple of k_tile
  std::vector<float> partial_lse;     // [S, H, num_q], -inf for an empty split
  std::vector<float> partial_o_norm;  // [S, H, num_q] |o| of each normalised partial
  std::vector<int> kv_head;           // [H] KV head that each query head read
  std::shared_ptr<const Pool> pool;   // the cache it read; null: K/V were packed
  double max_abs_diff_o = std::numeric_limits<double>::quiet_NaN();  // this launch vs the recorded o
  double max_abs_o = 0.0;
  // Whose o that was: `kernel`, or the level's own kernel where that has no probe.
  std::string o_kernel = {};
  std::vector<LevelCost> levels;  // of the whole batch; those that this shape and this device have, ascending

  const std::string& checked_kernel() const { return o_kernel.empty() ? kernel : o_kernel; }
  /// `row` is packed over the whole batch.
  bool has_row(int row) const { return row >= first_row && row < first_row + num_q; }
  float weight(int head, int row, int col) const { return weights[at(head, row, max_k, col)]; }
  float score(int head, int row, int col) const { return scores[at(head, row, max_k, col)]; }
  std::size_t tile_at(int head, int row, int tile) const { return at(head, row, num_tiles, tile); }
  std::size_t at(int head, int row, int columns, int col) const {
    return (static_cast<std::size_t>(head) * num_q + (row - first_row)) * columns + col;
  }
};

/// One row of the cache as floats, [head_dim]: key (or value) `pos` of the sequence with that block table.
/// Empty when the table does not reach it.
std::vector<float> cache_row(const Pool& pool, bool value, const std::vector<std::int32_t>& block_table,
                             int pos, int kv_head);
/// One row of a recorded tensor [N, heads, head_dim] as floats; empty when it has no such row or head.
std::vector<float> tensor_row(const TensorRecord& tensor, int row, int head);

}  // namespace attn::trace
