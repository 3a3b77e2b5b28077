// merge_states: joins the partial results of a split-KV decode into the output over all keys.
//
// A partial (o_s, lse_s) over some of the keys weighs as much as one key with score lse_s and value o_s, so
// the merge is the online softmax once more, run over the splits:
//     o = sum_s exp(lse_s) o_s / sum_s exp(lse_s)        lse = log sum_s exp(lse_s)
// (0, -inf), the partial of a split without keys, is neutral; if all are, the result is (0, -inf) again. It
// is skipped rather than multiplied by 0. A +inf for "empty", as flash-attention writes it, must have been
// turned into -inf by whoever made the partials.
//
// Bytes: S * B * H * (D + 1) * 4 read, o and lse written. FLOP: 3 * S * B * H * D. No barrier.
#pragma once

#include "kernels/common/chunk.cuh"
#include "kernels/common/online_softmax.h"
#include "kernels/common/params.h"
#include "kernels/common/tiles.h"

namespace attn::ATTN_BACKEND {

/// grid (H, B), one thread per output column; every thread goes through the S states by itself.
template <class T>
__global__ void merge_states_kernel(MergeStatesParams p) {
  const int d = threadIdx.x;
  const std::int64_t h = blockIdx.x, b = blockIdx.y, H = p.num_heads, B = p.batch, D = p.head_dim;
  OnlineSoftmax state;
  float o = 0.0F;
  for (std::int64_t s = 0; s < p.num_splits; ++s) {        // @merge
    const float lse = p.partial_lse[(s * H + h) * B + b];  // [S, H, B]
    if (lse == -INFINITY) continue;
    const float alpha = state.raise(lse);
    const float weight = state.weight(lse);
    o = o * alpha + weight * p.partial_o[((s * B + b) * H + h) * D + d];  // [S, B, H, D]
    state.add(alpha, weight);
  }
  static_cast<T*>(p.o)[(b * H + h) * D + d] = from_float<T>(o * state.normalizer());  // [B, H, D]
  if (d == 0) p.lse[h * B + b] = state.lse();                                         // [H, B]
}

inline void launch_merge_states(const MergeStatesParams& p, LaunchContext& context) {
  ATTN_CHECK(p.num_splits >= 0 && p.batch >= 0 && p.num_heads > 0,
             "merge_states: {} splits, batch {}, {} heads", p.num_splits, p.batch, p.num_heads);
  ATTN_CHECK(p.head_dim > 0 && p.head_dim <= kMaxHeadDim, "merge_states: head_dim {} is not in 1 .. {}",
             p.head_dim, kMaxHeadDim);
  if (p.batch == 0) return;
  ATTN_CHECK(p.o && p.lse && (p.num_splits == 0 || (p.partial_o && p.partial_lse)),
             "merge_states: a tensor is null");
  ATTN_CHECK(p.batch <= 65535, "merge_states: batch {} is beyond the grid's 65535", p.batch);
  const std::uint64_t rows = static_cast<std::uint64_t>(p.batch) * p.num_heads;
  LaunchRecord record;
  record.kernel = std::string("merge_states_kernel<") + element_name(p.dtype) + ">";
  record.grid = {static_cast<unsigned>(p.num_heads), static_cast<unsigned>(p.batch), 1};
  record.block = {static_cast<unsigned>(p.head_dim), 1, 1};
  record.bytes = rows * (p.num_splits * 4ULL * (p.head_dim + 1) + p.head_dim * dtype_size(p.dtype) + 4);
  record.flop = rows * 3ULL * p.num_splits * p.head_dim;
  dispatch_dtype(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_kernel(context, record, merge_states_kernel<T>, p);
  });
}

}  // namespace attn::ATTN_BACKEND
