// embed: a token id becomes a row of the embedding table, out[n, :] = table[input_ids[n], :].
//
// Idea   A table look-up and nothing else: no arithmetic. One thread copies one element, so neighbouring
//        threads read neighbouring addresses of the same row.
// Bytes  N * hidden elements read and as many written, plus N ids. Only the rows in use are touched,
//        however large the vocabulary.
// FLOP   0.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"
#include "kernels/model/elementwise.h"

namespace attn::ATTN_BACKEND {

// ---- kernel

// PRECOND: 0 <= input_ids[n] < vocab; the host checks it. An id outside is not followed: its row becomes NaN.
template <class T>
__global__ void embed_kernel(T* out,                         // [N, hidden]
                             const std::int32_t* input_ids,  // [N]
                             const T* table,                 // [vocab, hidden]
                             int num_tokens, int hidden, int vocab) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<std::int64_t>(num_tokens) * hidden) return;
  const std::int32_t id = input_ids[i / hidden];
  const std::int64_t column = i % hidden;
  const bool known = id >= 0 && id < vocab;
  out[i] = known ? table[static_cast<std::int64_t>(id) * hidden + column] : from_float<T>(NAN);
}

// ---- launcher

inline void launch_embed(const EmbedParams& p, LaunchContext& context) {
  ATTN_CHECK(p.num_tokens >= 0 && p.hidden > 0 && p.vocab > 0, "embed: num_tokens {}, hidden {}, vocab {}",
             p.num_tokens, p.hidden, p.vocab);
  if (p.num_tokens == 0) return;
  ATTN_CHECK(p.input_ids && p.table && p.out, "embed: null pointer");
  const std::int64_t count = static_cast<std::int64_t>(p.num_tokens) * p.hidden;
  const std::uint64_t bytes = 2 * count * dtype_size(p.dtype) + p.num_tokens * sizeof(std::int32_t);
  dispatch_dtype(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch_kernel(context, elementwise_record("embed", count, bytes, 0), embed_kernel<T>,
                  static_cast<T*>(p.out), p.input_ids, static_cast<const T*>(p.table), p.num_tokens, p.hidden,
                  p.vocab);
  });
}

}  // namespace attn::ATTN_BACKEND
