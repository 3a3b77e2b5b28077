// Attention level 1, naive: the textbook formula as three kernels, for prefill and decode alike.
//
//     S = scale * Q K^T      one thread per score           attention_l1_scores_kernel
//     P = softmax(S)         one thread per row, in place   attention_l1_softmax_kernel
//     O = P V                one thread per output element  attention_l1_values_kernel
//
// The idea: none, and that is its use. Every score exists in memory, so each step can be looked at, and no
// two threads share anything: there is not one barrier.
// The price: S and P travel. With R = Nq rows and L keys a row, beside q, k, v and o
//     bytes += H * R * L * 4 * (1 written + 2 read + 1 written + 1 read)
// and the workspace grows with L per row: 32 heads, 16,384 x 16,384 scores are 34 GB. Level 2 never
// writes a score to memory.
// FLOP: 4 * D * H per visible (query, key) pair.
// Measured on an H200, the floor that the other levels stand on: 0.7 TFLOP/s (causal, 8 x 2,048, D 64) and
// 129 GB/s (decode of 64 sequences of 8,192, D 128): 1% and 3% of its nearest ceiling.
//
// Only visible keys are touched: a masked score is not computed and a masked V row is not read, so no
// 0 * NaN can arise from rows that nobody wrote.
#pragma once

#include "kernels/attention/attention_rows.cuh"
#include "kernels/common/probe.h"

namespace attn::ATTN_BACKEND {

/// Place of (head, row)'s scores in the workspace [H, Nq, max_keys].
template <class Params>
__device__ inline float* score_row(const Params& p, int h, std::int64_t row) {
  return static_cast<float*>(p.workspace) + (h * num_q_rows(p) + row) * max_keys(p);
}

/// grid (queries of a sequence, key tiles of blockDim.x, B * H); one thread per (query, key, head).
template <class T, class Probe, class Params>
__global__ void attention_l1_scores_kernel(Params p) {
  const int i = blockIdx.x;
  const int b = blockIdx.z / p.num_heads, h = blockIdx.z % p.num_heads;
  const int j = blockIdx.y * blockDim.x + threadIdx.x;
  const AttentionSeq seq = attention_seq(p, b);
  if (i >= seq.q_len || j >= visible_to(p, seq, i)) return;
  const std::int64_t row = seq.first_q + i;
  const int kv_head = kv_head_of(p.head_map, h, p.num_heads, p.num_kv_heads);
  const T* q = static_cast<const T*>(p.q) + (row * p.num_heads + h) * p.head_dim;  // [D]
  const T* k = static_cast<const T*>(p.k) + seq.kv.offset(j, kv_head);             // [D]
  float dot = 0.0F;                                                                // @scores
  for (int d = 0; d < p.head_dim; ++d) dot += to_float(q[d]) * to_float(k[d]);
  const float score = p.scale * dot;
  score_row(p, h, row)[j] = score;
  const Probe probe(p.probe, num_q_rows(p));
  probe.score(h, row, j, score);
}

/// sum over keys of weights[j] * v[j][d]: one element of a row's output.
template <class T, class Params>
__device__ inline float weighted_value(const Params& p, const KvRows& kv, const float* weights, int visible,
                                       int kv_head, int d) {
  const T* v = static_cast<const T*>(p.v);
  float o = 0.0F;
  for (int j = 0; j < visible; ++j) o += weights[j] * to_float(v[kv.offset(j, kv_head) + d]);
  return o;
}

/// grid (ceil(queries / blockDim.x), 1, B * H); one thread per (query, head). Subtracting the maximum keeps
/// exp in range and changes nothing: both sides of the fraction shrink by exp(m).
template <class T, class Probe, class Params>
__global__ void attention_l1_softmax_kernel(Params p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int b = blockIdx.z / p.num_heads, h = blockIdx.z % p.num_heads;
  const AttentionSeq seq = attention_seq(p, b);
  if (i >= seq.q_len) return;
  const int visible = visible_to(p, seq, i);
  const std::int64_t row = seq.first_q + i;
  float* s = score_row(p, h, row);  // [visible]
  float max_score = -INFINITY;      // @softmax
  for (int j = 0; j < visible; ++j) max_score = fmaxf(max_score, s[j]);
  OnlineSoftmax state;
  const float alpha = state.raise(max_score);
  float sum = 0.0F;
  for (int j = 0; j < visible; ++j) {
    s[j] = state.weight(s[j]);
    sum += s[j];
  }
  state.add(alpha, sum);
  p.lse[h * num_q_rows(p) + row] = state.lse();  // -inf for a row without a key
  if constexpr (Probe::kOn) {  // the whole row is one tile, and here its o is not yet divided by l
    const int kv_head = kv_head_of(p.head_map, h, p.num_heads, p.num_kv_heads);
    float squares = 0.0F;
    for (int d = 0; d < p.head_dim; ++d) {
      const float o = weighted_value<T>(p, seq.kv, s, visible, kv_head, d);
      squares += o * o;
    }
    const Probe probe(p.probe, num_q_rows(p));
    if (visible > 0) probe.tile(h, row, 0, state, alpha, sqrtf(squares));
  }
  const float normalizer = state.normalizer();
  for (int j = 0; j < visible; ++j) s[j] *= normalizer;
}

/// grid (queries of a sequence, 1, B * H), block D; one thread per output element. Rows without a key: 0.
template <class T, class Params>
__global__ void attention_l1_values_kernel(Params p) {
  const int i = blockIdx.x;
  const int b = blockIdx.z / p.num_heads, h = blockIdx.z % p.num_heads;
  const int d = threadIdx.x;
  const AttentionSeq seq = attention_seq(p, b);
  if (i >= seq.q_len) return;
  const int visible = visible_to(p, seq, i);
  const std::int64_t row = seq.first_q + i;
  const int kv_head = kv_head_of(p.head_map, h, p.num_heads, p.num_kv_heads);
  const float* weights = score_row(p, h, row);                         // [visible], sum 1
  T* o = static_cast<T*>(p.o) + (row * p.num_heads + h) * p.head_dim;  // [D]
  o[d] = from_float<T>(weighted_value<T>(p, seq.kv, weights, visible, kv_head, d));
}

}  // namespace attn::ATTN_BACKEND
