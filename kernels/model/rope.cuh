// rope: rotary position embedding, in place. Element i of a head and element i + D/2 are a point in the
// plane, turned by the angle position * inv_freq[i] (half-split or "NeoX" pairing, as Llama and Qwen use;
// the other pairing in the field takes neighbours 2i and 2i + 1):
//   x[i]       <- x[i] cos - x[i + D/2] sin
//   x[i + D/2] <- x[i + D/2] cos + x[i] sin
// The product q.k of two turned vectors depends on the distance of their positions only. A cached K is
// therefore bound to its position, and a decode step must go on counting where the prompt ended.
//
// Idea   One thread per pair. The angle is formed and its cosine taken in float whatever T is: half has 11
//        bits, so position 4097 would not even exist in it.
// Bytes  Every element read and written once; positions and inv_freq stay in cache.
// FLOP   6 per pair, and one sincosf.
// Source Su et al. 2021, arXiv 2104.09864.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"
#include "kernels/model/elementwise.h"

namespace attn::ATTN_BACKEND {

// ---- kernel

template <class T>
__global__ void rope_kernel(T* x,                           // [N, heads, D]
                            const std::int32_t* positions,  // [N]
                            const float* inv_freq,          // [D/2]
                            std::int64_t num_pairs,         // N * heads * D/2
                            int num_heads, int half) {      // half = D/2
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= num_pairs) return;
  const int pair = static_cast<int>(i % half);
  const std::int64_t head = i / half;  // row of x seen as [N * heads, D]
  const float angle = static_cast<float>(positions[head / num_heads]) * inv_freq[pair];
  const float cosine = cosf(angle);
  const float sine = sinf(angle);

  T* first = x + head * 2 * half + pair;
  T* second = first + half;
  const float a = to_float(*first);
  const float b = to_float(*second);
  *first = from_float<T>(a * cosine - b * sine);
  *second = from_float<T>(b * cosine + a * sine);
}

// ---- launcher

inline void launch_rope(const RopeParams& p, LaunchContext& context) {
  ATTN_CHECK(p.num_tokens >= 0 && p.num_heads > 0 && p.head_dim > 0 && p.head_dim % 2 == 0,
             "rope: num_tokens {}, num_heads {}, head_dim {} (even)", p.num_tokens, p.num_heads, p.head_dim);
  if (p.num_tokens == 0) return;
  ATTN_CHECK(p.positions && p.inv_freq && p.x, "rope: null pointer");
  const std::int64_t pairs = static_cast<std::int64_t>(p.num_tokens) * p.num_heads * (p.head_dim / 2);
  const std::uint64_t bytes =
      4 * pairs * dtype_size(p.dtype) + p.num_tokens * sizeof(std::int32_t) + p.head_dim / 2 * sizeof(float);
  dispatch_dtype(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch_kernel(context, elementwise_record("rope", pairs, bytes, 6 * pairs), rope_kernel<T>,
                  static_cast<T*>(p.x), p.positions, p.inv_freq, pairs, p.num_heads, p.head_dim / 2);
  });
}

}  // namespace attn::ATTN_BACKEND
