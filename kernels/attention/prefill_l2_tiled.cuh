// Prefill level 2, tiled: online softmax over tiles of keys, so that no score goes to memory.
//
// One block owns 16 query rows of one head and walks over that head's keys, k_tile at a time:
//     1. K tile -> shared memory
//     2. scores of 16 rows x k_tile keys
//     3. V tile -> the same shared memory; per row: new maximum, alpha, weights exp(s - m)
//     4. o = alpha * o + weights * V
// 8 neighbouring threads share a row: they split its keys in steps 2 and 3 and its columns in step 4. All 8
// carry the same (m, l) in registers, computed redundantly from shared memory: no shuffle, no atomics.
// Four barriers a tile, one after each step.
//
// Bytes: q and o once, and each K/V tile once per 16 query rows (from L2 mostly): no workspace. FLOP: 4 * D
// per visible pair, like level 1, plus one exp. A tile beyond the last row's last visible key is never
// loaded, which halves the work of a causal prompt.
// Measured on an H200 against level 1: 9.1 TFLOP/s of 0.7 (causal, 8 x 2,048, 16 heads on 8, D 64); 9.7 at D
// 128, 15% of what CUDA cores can do. On the emulator with 2 cores (4 prompts of 64 tokens, 8 heads on 2, D
// 16): 5.9 ms a layer against 9.3 ms.
//
// Varlen: block (h, tile, b) exits when the sequence has fewer rows. Masked keys are skipped by loop bounds,
// per row, not multiplied by zero: 0 * NaN is NaN, and rows past a length may hold anything.
#pragma once

#include "kernels/attention/tile.cuh"
#include "kernels/common/plan.h"
#include "kernels/common/probe.h"

namespace attn::ATTN_BACKEND {

/// Shared memory of one block, in floats; D = head_dim, W = max_k_tile(D).
struct PrefillShared {
  float* q;        // [16, D + 4]
  float* kv;       // [W, D + 4]   the K tile, then the V tile
  float* scores;   // [16, W]
  float* weights;  // [16, W]

  __device__ PrefillShared(float* base, int head_dim) {
    const int stride = tile_stride(head_dim), width = max_k_tile(head_dim);
    q = base;
    kv = q + kPrefillQTile * stride;
    scores = kv + width * stride;
    weights = scores + kPrefillQTile * width;
  }
  static std::size_t bytes(int head_dim) {
    const int stride = tile_stride(head_dim), width = max_k_tile(head_dim);
    return sizeof(float) *
           static_cast<std::size_t>((kPrefillQTile + width) * stride + 2 * kPrefillQTile * width);
  }
};

/// grid (H, q tiles of the longest sequence, B), block 128.
/// PRECOND: head_dim % 8 == 0, head_dim <= kDim, k_tile <= max_k_tile(head_dim); q, k, v, o 16-byte aligned.
template <class T, int kDim, class Probe>
__global__ void __launch_bounds__(kAttentionThreads)
    prefill_l2_tiled_kernel(PrefillParams p, PrefillPlan plan) {
  ATTN_DYNAMIC_SHARED(float, shared_base);
  const int h = blockIdx.x, first = blockIdx.y * kPrefillQTile;
  const AttentionSeq seq = attention_seq(p, blockIdx.z);
  if (first >= seq.q_len) return;  // the whole block
  const int D = p.head_dim, stride = tile_stride(D), width = max_k_tile(D);
  const int kv_head = kv_head_of(p.head_map, h, p.num_heads, p.num_kv_heads);
  const int rows = min_of(kPrefillQTile, seq.q_len - first);
  const int keys = visible_to(p, seq, first + rows - 1);  // of the block: the last row sees the most

  const int r = threadIdx.x / kPrefillLanes, lane = threadIdx.x % kPrefillLanes;
  const std::int64_t row = seq.first_q + first + r;  // of q, o and lse
  const int visible = r < rows ? visible_to(p, seq, first + r) : 0;
  const PrefillShared shared(shared_base, D);
  const float* q_row = shared.q + r * stride;   // [D]
  float* scores = shared.scores + r * width;    // [k_tile]
  float* weights = shared.weights + r * width;  // [k_tile]

  const auto q_offset = [&](int i) { return ((seq.first_q + first + i) * p.num_heads + h) * D; };
  load_rows(static_cast<const T*>(p.q), q_offset, rows, D, stride, shared.q);

  const Probe probe(p.probe, p.total_q);
  OnlineSoftmax state;
  OutputSlice<kDim / (4 * kPrefillLanes)> o;
  o.clear();
  for (int begin = 0; begin < keys; begin += plan.k_tile) {
    const int n = min_of(plan.k_tile, keys - begin);  // keys of this tile
    const int mine = min_of(n, visible - begin);      // of which this row sees the first `mine` (maybe <= 0)
    const auto kv_offset = [&](int j) { return seq.kv.offset(begin + j, kv_head); };

    load_rows(static_cast<const T*>(p.k), kv_offset, n, D, stride, shared.kv);  // @load_k
    __syncthreads();

    for (int j = lane; j < mine; j += kPrefillLanes) {  // @scores
      scores[j] = p.scale * dot_rows(q_row, shared.kv + j * stride, D);
      probe.score(h, row, begin + j, scores[j]);
    }
    __syncthreads();

    load_rows(static_cast<const T*>(p.v), kv_offset, n, D, stride, shared.kv);  // @load_v
    const float alpha = state.raise(max_of_row(scores, mine));                  // @rescale
    for (int j = lane; j < mine; j += kPrefillLanes) weights[j] = state.weight(scores[j]);
    __syncthreads();

    float sum = 0.0F;  // @accumulate
    o.scale(alpha);
    for (int j = 0; j < mine; ++j) {
      sum += weights[j];
      o.add(weights[j], shared.kv + j * stride, lane, kPrefillLanes, D);
    }
    state.add(alpha, sum);
    if constexpr (Probe::kOn) {
      float squares = o.squares();
      for (int m = kPrefillLanes / 2; m > 0; m /= 2) squares += __shfl_xor_sync(0xFFFFFFFFU, squares, m);
      if (lane == 0 && mine > 0) probe.tile(h, row, begin / plan.k_tile, state, alpha, sqrtf(squares));
    }
    __syncthreads();  // before the next tile overwrites V and the weights
  }

  if (r >= rows) return;  // @write_o
  o.write(state.normalizer(), static_cast<T*>(p.o) + (row * p.num_heads + h) * D, lane, kPrefillLanes, D);
  if (lane == 0) p.lse[h * static_cast<std::int64_t>(p.total_q) + row] = state.lse();
}

}  // namespace attn::ATTN_BACKEND
