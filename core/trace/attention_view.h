// What the inspector read out of the real attention kernel for one (step, layer).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/trace/step_record.h"

namespace attn::trace {

/// Index helpers follow the kernels' probe: [H, Nq, columns].
struct AttentionView {
  int step = 0;
  int layer = 0;
  AttentionPath path = AttentionPath::prefill_packed;
  std::string kernel;  // "decode_l2_tiled_kernel<float, StateProbe>"
  std::string device;
  int num_heads = 0;
  int num_q = 0;  // rows of all sequences, packed
  int max_k = 0;  // columns of scores and weights
  int num_tiles = 0;
  int k_tile = 0;
  std::vector<std::int32_t> k_lens;    // [B] real keys per sequence
  std::vector<std::int32_t> attended;  // [B] columns attended (max_len when pads are attended)
  std::vector<float> scores;           // [H, Nq, max_k]; NaN where the kernel did not look
  std::vector<float> weights;          // [H, Nq, max_k]; NaN where the kernel did not look
  std::vector<float> tile_m, tile_l, tile_alpha, tile_o_norm;        // [H, Nq, num_tiles]; NaN = not visited
  std::vector<float> lse;                                            // [H, Nq]
  double max_abs_diff_o = std::numeric_limits<double>::quiet_NaN();  // this launch vs the recorded o
  double max_abs_o = 0.0;

  float weight(int head, int row, int col) const {
    return weights[(static_cast<std::size_t>(head) * num_q + row) * max_k + col];
  }
  float score(int head, int row, int col) const {
    return scores[(static_cast<std::size_t>(head) * num_q + row) * max_k + col];
  }
};

}  // namespace attn::trace
