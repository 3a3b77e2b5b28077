// Decode level 2, tiled: online softmax over tiles of keys, one block per KV head, optionally split over
// keys.
//
// One query per sequence leaves no rows to share K and V; what shares them is GQA. A block owns one sequence,
// one KV head and the (up to 8) query heads of its group, so each K and V row is read once for all of them:
//     1. K tile -> shared memory
//     2. scores of the group's heads x k_tile keys, one (head, key) per thread
//     3. V tile -> the same shared memory; per head: new maximum, alpha, weights exp(s - m)
//     4. o = alpha * o + weights * V
// In steps 3 and 4 the block's threads are dealt out to its heads; all threads of a head carry the same (m,
// l) in registers, computed redundantly from shared memory. Four barriers a tile.
//
// Split-KV (grid.y > 1): with few sequences most of a GPU would idle, so each block takes one range of keys
// and leaves a finished partial (o, lse); merge_states joins them. A range without keys leaves (0, -inf).
//
// Bytes: K and V of every real key once, q and o once: 2 * Hkv * sum(len) * D * sizeof(T) decides the time.
// FLOP: 4 * D * H * sum(len), so H / Hkv FLOP a byte in 16 bit: always memory-bound. With S splits the
// partials add 2 * S * B * H * (D + 1) * 4 bytes.
// Measured on an H200 against level 1, which reads each K and V row once per query head and moves every score
// five times: 864 GB/s of 129 (64 sequences of 8,192, D 128, blocks of 16), 244 of 7 (one of 32,768). On the
// emulator bytes are free and barriers are not: there level 1 is the quicker one (4 sequences at context 256,
// 8 heads on 2, D 16: 0.6 ms a layer against 1.5 ms).
#pragma once

#include "kernels/attention/tile.cuh"
#include "kernels/common/plan.h"
#include "kernels/common/probe.h"

namespace attn::ATTN_BACKEND {

/// Shared memory of one block, in floats; D = head_dim, W = max_k_tile(D).
struct DecodeShared {
  float* q;        // [8, D + 4]
  float* kv;       // [W, D + 4]   the K tile, then the V tile
  float* scores;   // [8, W]
  float* weights;  // [8, W]
  float* squares;  // [128]        a probe's partial sums of o * o

  __device__ DecodeShared(float* base, int head_dim) {
    const int stride = tile_stride(head_dim), width = max_k_tile(head_dim);
    q = base;
    kv = q + kDecodeHeads * stride;
    scores = kv + width * stride;
    weights = scores + kDecodeHeads * width;
    squares = weights + kDecodeHeads * width;
  }
  static std::size_t bytes(int head_dim) {
    const int stride = tile_stride(head_dim), width = max_k_tile(head_dim);
    return sizeof(float) * static_cast<std::size_t>((kDecodeHeads + width) * stride +
                                                    2 * kDecodeHeads * width + kAttentionThreads);
  }
};

/// Threads that serve one head: 128 divided by the heads of a block, rounded up to a power of two.
ATTN_HD inline int decode_lanes(int heads) {
  int lanes = kAttentionThreads;
  while (kAttentionThreads / lanes < heads) lanes /= 2;
  return lanes;
}

/// grid (Hkv * ceil(group / 8), splits, B), block 128.
/// PRECOND: head_dim % 8 == 0, head_dim <= kDim, k_tile <= max_k_tile(head_dim); q, k, v, o 16-byte aligned;
/// with more than one split the workspace holds partial_o float [S, B, H, D], then partial_lse float [S, H,
/// B].
template <class T, int kDim, class Probe>
__global__ void __launch_bounds__(kAttentionThreads) decode_l2_tiled_kernel(DecodeParams p, DecodePlan plan) {
  ATTN_DYNAMIC_SHARED(float, shared_base);
  const int b = blockIdx.z, split = blockIdx.y;
  const int group = p.num_heads / p.num_kv_heads, group_tiles = ceil_div(group, kDecodeHeads);
  const int kv_head = blockIdx.x / group_tiles, first_g = blockIdx.x % group_tiles * kDecodeHeads;
  const int heads = min_of(kDecodeHeads, group - first_g);
  const int D = p.head_dim, stride = tile_stride(D), width = max_k_tile(D);
  const AttentionSeq seq = attention_seq(p, b);
  const int split_begin = split * plan.keys_per_split;
  const int split_end = min_of(visible_to(p, seq, 0), split_begin + plan.keys_per_split);
  const auto head_of = [&](int g) {
    return q_head_of(p.head_map, kv_head, first_g + g, p.num_heads, p.num_kv_heads);
  };

  const int lanes = decode_lanes(heads);
  const int g = threadIdx.x / lanes, lane = threadIdx.x % lanes;  // g >= heads: a spare thread in steps 3, 4
  const int h = head_of(g);
  const DecodeShared shared(shared_base, D);
  float* weights = shared.weights + g * width;  // [k_tile] of this thread's head

  const auto q_offset = [&](int i) { return (static_cast<std::int64_t>(b) * p.num_heads + head_of(i)) * D; };
  load_rows(static_cast<const T*>(p.q), q_offset, heads, D, stride, shared.q);

  const Probe probe(p.probe, p.batch);
  OnlineSoftmax state;
  OutputSlice<kDim / (4 * kAttentionThreads / kDecodeHeads)> o;
  o.clear();
  for (int begin = split_begin; begin < split_end; begin += plan.k_tile) {
    const int n = min_of(plan.k_tile, split_end - begin);  // keys of this tile
    const auto kv_offset = [&](int j) { return seq.kv.offset(begin + j, kv_head); };

    load_rows(static_cast<const T*>(p.k), kv_offset, n, D, stride, shared.kv);  // @load_k
    __syncthreads();

    for (int item = threadIdx.x; item < heads * n; item += kAttentionThreads) {  // @scores
      const int i = item / n, j = item % n;  // head of the group, key of the tile
      const float score = p.scale * dot_rows(shared.q + i * stride, shared.kv + j * stride, D);
      shared.scores[i * width + j] = score;
      probe.score(head_of(i), b, begin + j, score);
    }
    __syncthreads();

    load_rows(static_cast<const T*>(p.v), kv_offset, n, D, stride, shared.kv);  // @load_v
    const int mine = g < heads ? n : 0;
    const float* scores = shared.scores + g * width;            // [n]
    const float alpha = state.raise(max_of_row(scores, mine));  // @rescale
    for (int j = lane; j < mine; j += lanes) weights[j] = state.weight(scores[j]);
    __syncthreads();

    float sum = 0.0F;  // @accumulate
    o.scale(alpha);
    for (int j = 0; j < mine; ++j) {
      sum += weights[j];
      o.add(weights[j], shared.kv + j * stride, lane, lanes, D);
    }
    state.add(alpha, sum);
    if constexpr (Probe::kOn) {
      shared.squares[threadIdx.x] = o.squares();
      __syncthreads();
      float squares = 0.0F;
      for (int i = 0; i < lanes; ++i) squares += shared.squares[g * lanes + i];
      if (lane == 0 && mine > 0) probe.tile(h, b, begin / plan.k_tile, state, alpha, sqrtf(squares));
    }
    __syncthreads();  // before the next tile overwrites V and the weights
  }

  if (g >= heads) return;  // @write_o
  const std::int64_t B = p.batch, H = p.num_heads, S = gridDim.y;
  if (S == 1) {
    o.write(state.normalizer(), static_cast<T*>(p.o) + (b * H + h) * D, lane, lanes, D);
    if (lane == 0) p.lse[h * B + b] = state.lse();
  } else {
    float* partial_o = static_cast<float*>(p.workspace);  // [S, B, H, D]
    float* partial_lse = partial_o + S * B * H * D;       // [S, H, B]
    o.write(state.normalizer(), partial_o + ((split * B + b) * H + h) * D, lane, lanes, D);
    if (lane == 0) partial_lse[(split * H + h) * B + b] = state.lse();
  }
}

}  // namespace attn::ATTN_BACKEND
