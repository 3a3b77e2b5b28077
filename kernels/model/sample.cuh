// sample: from a row of logits to a token id.
//
// Greedy (temperature <= 0): the largest logit, the lowest id among equals.
// Temperature T: a draw from softmax(logits / T) without computing a softmax. Add to every logits[i] / T
// its own noise -log(-log(u_i)), u_i uniform in (0, 1), and take the largest (Gumbel-max trick):
// P(i wins) = exp(l_i / T) / sum_j exp(l_j / T). u_i is a pure function of (seed, counter, i), see philox.h.
//
// top_k, top_p (both optional, T > 0 only; top_k first, top_p on what is left): only tokens at least as good
// as a threshold logit compete. top_k: the largest threshold that keeps k tokens; top_p: the largest that
// keeps the share p of the probability. Tokens that tie with the threshold stay. No sort: the threshold is
// found bit by bit, 32 sums over the row, since floats compare like the integers of ordered_key().
//
// Idea   One block per sequence; each thread keeps the best of its columns, two rounds in shared memory the
//        best of all. Scores are double: two devices' log() may differ in the last of 53 bits, which
//        changes the winner only for scores as close as that.
// Bytes  B * vocab floats, 32 times more from cache with top_k, and again with top_p.
// FLOP   B * vocab comparisons; with temperature about 100 integer and float operations per logit.
// Sources Gumbel 1954; Holtzman et al. 2020 (top_p), arXiv 1904.09751.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"
#include "kernels/model/philox.h"

namespace attn::ATTN_BACKEND {

inline constexpr int kSampleGroup = 16;
inline constexpr int kSampleThreads = kSampleGroup * kSampleGroup;

// ---- pieces

struct Candidate {
  double score;
  int id;
};

/// Higher score first, then lower id: a total order, so the winner does not depend on who asks first.
__device__ inline bool better(const Candidate& a, const Candidate& b) {
  return a.score > b.score || (a.score == b.score && a.id < b.id);
}

/// NaN never wins: it counts as -inf.
__device__ inline float usable_logit(float logit) { return logit == logit ? logit : -INFINITY; }

/// Monotone map from float to unsigned: a < b as floats iff key(a) < key(b). -0 counts as +0.
__device__ inline std::uint32_t ordered_key(float x) {
  const std::uint32_t bits = __float_as_uint(x + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

/// Combines one value per thread over the block in two levels of 16; every thread gets the result. The order
/// of combinations is fixed, so a sum has the same bits every time. Two barriers, where a binary tree has
/// nine, and none at the end: in the next round nobody writes groups[] before all are past its first barrier.
template <class Value, class Combine>
__device__ Value block_combine(Value mine, Combine combine) {
  __shared__ Value values[kSampleThreads];  // one per thread
  __shared__ Value groups[kSampleGroup];    // one per 16 threads
  const int thread = static_cast<int>(threadIdx.x);
  values[thread] = mine;
  __syncthreads();
  if (thread < kSampleGroup) {
    Value group = values[thread * kSampleGroup];
    for (int i = 1; i < kSampleGroup; ++i) group = combine(group, values[thread * kSampleGroup + i]);
    groups[thread] = group;
  }
  __syncthreads();
  Value total = groups[0];
  for (int i = 1; i < kSampleGroup; ++i) total = combine(total, groups[i]);
  return total;
}

struct Better {
  __device__ Candidate operator()(const Candidate& a, const Candidate& b) const {
    return better(b, a) ? b : a;
  }
};
struct Sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};

/// What a token weighs in a threshold search: 1 for top_k, its unnormalised probability for top_p.
struct TokenWeight {
  bool count_only;
  double top;  // largest logit of the row
  double temperature;
  __device__ double operator()(float logit) const {
    if (count_only || logit == top) return 1.0;  // the second also keeps inf - inf out
    return exp((logit - top) / temperature);
  }
};

/// Weight of all tokens whose key is at least `threshold`.
__device__ inline double weight_above(const float* logits /* [vocab] */, int vocab, std::uint32_t threshold,
                                      const TokenWeight& weight) {
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x); i < vocab; i += kSampleThreads) {
    const float logit = usable_logit(logits[i]);
    if (ordered_key(logit) >= threshold) sum += weight(logit);
  }
  return block_combine(sum, Sum());
}

/// The largest threshold whose tokens together weigh at least `wanted`, highest bit first.
__device__ inline std::uint32_t largest_threshold(const float* logits /* [vocab] */, int vocab, double wanted,
                                                  const TokenWeight& weight) {
  std::uint32_t threshold = 0;
  for (std::uint32_t bit = 0x80000000U; bit != 0; bit >>= 1U) {
    if (weight_above(logits, vocab, threshold | bit, weight) >= wanted) threshold |= bit;
  }
  return threshold;
}

// ---- kernel

// PRECOND: blockDim.x == kSampleThreads; vocab >= 1. A row of nothing but NaN and -inf gives id 0.
__global__ void sample_kernel(std::int32_t* token_ids,        // [B]
                              const float* logits,            // [B, vocab]
                              const float* temperatures,      // [B]
                              const std::int32_t* top_ks,     // [B] or null
                              const float* top_ps,            // [B] or null
                              const std::uint64_t* counters,  // [B]
                              std::uint64_t seed, int vocab) {
  const int thread = static_cast<int>(threadIdx.x);
  const float* row = logits + static_cast<std::int64_t>(blockIdx.x) * vocab;
  const float temperature = temperatures[blockIdx.x];

  Candidate mine = {-INFINITY, vocab};
  for (int i = thread; i < vocab; i += kSampleThreads) {
    const Candidate other = {usable_logit(row[i]), i};
    if (better(other, mine)) mine = other;
  }
  Candidate winner = block_combine(mine, Better());

  if (temperature > 0.0F && winner.score > -INFINITY) {
    const std::uint32_t best_key = ordered_key(static_cast<float>(winner.score));
    std::uint32_t threshold = 0;
    const int top_k = top_ks ? top_ks[blockIdx.x] : 0;
    const float top_p = top_ps ? top_ps[blockIdx.x] : 1.0F;
    TokenWeight weight = {true, winner.score, temperature};
    if (top_k > 0 && top_k < vocab) threshold = largest_threshold(row, vocab, top_k, weight);
    if (top_p < 1.0F) {
      weight.count_only = false;
      const double total = weight_above(row, vocab, threshold, weight);
      threshold = largest_threshold(row, vocab, top_p * total, weight);
    }
    if (threshold > best_key) threshold = best_key;  // top_p <= 0: the best token is always kept

    mine = {-INFINITY, vocab};
    for (int i = thread; i < vocab; i += kSampleThreads) {
      const float logit = usable_logit(row[i]);
      if (ordered_key(logit) < threshold) continue;
      const double noise =
          -log(-log(philox_uniform(seed, counters[blockIdx.x], static_cast<std::uint32_t>(i))));
      const Candidate other = {static_cast<double>(logit) / temperature + noise, i};
      if (better(other, mine)) mine = other;
    }
    winner = block_combine(mine, Better());
  }
  if (thread == 0) token_ids[blockIdx.x] = winner.id;
}

// ---- launcher

inline void launch_sample(const SampleParams& p, LaunchContext& context) {
  ATTN_CHECK(p.batch >= 0 && p.vocab > 0, "sample: batch {}, vocab {}", p.batch, p.vocab);
  if (p.batch == 0) return;
  ATTN_CHECK(p.logits && p.temperature && p.counter && p.token_ids, "sample: null pointer");
  LaunchRecord record;
  record.kernel = "sample";
  record.grid = {static_cast<unsigned>(p.batch)};
  record.block = {kSampleThreads};
  record.bytes = static_cast<std::uint64_t>(p.batch) * (p.vocab * sizeof(float) + sizeof(std::int32_t));
  record.flop = static_cast<std::uint64_t>(p.batch) * p.vocab;
  launch_kernel(context, record, sample_kernel, p.token_ids, p.logits, p.temperature, p.top_k, p.top_p,
                p.counter, p.seed, p.vocab);
}

}  // namespace attn::ATTN_BACKEND
