// repeat_kv: gives every query head its own copy of its KV head, so that a kernel which knows no GQA can run.
//
// out[r, h, :] = in[r, h / (H / Hkv), :], repeat_interleave: 0 0 0 0 1 1 1 1 for 8 heads on 2. The modulo map
// (0 1 0 1 ..., what repeat() or tile() gives) pairs heads with the wrong keys: no shape shows it.
// A GQA-aware kernel computes the same index and copies nothing; this one multiplies the K/V bytes by H /
// Hkv.
//
// Bytes: rows * (Hkv + H) * D * sizeof(T). No arithmetic.
#pragma once

#include "kernels/cache/row_copy.cuh"
#include "kernels/common/params.h"

namespace attn::ATTN_BACKEND {

/// One row of the launch is one KV head of one token, read once and written `group` = H / Hkv times. A thread
/// for each written row instead would have to divide to find what it reads, and is a fifth slower for it.
template <class T>
__global__ void repeat_kv_kernel(RepeatKvParams p, int group) {
  const int kv_row = row_of_thread();  // r * Hkv + kv_head
  if (kv_row >= p.rows * p.num_kv_heads) return;
  std::int64_t first = std::int64_t{kv_row} * group;  // grouped: the copies follow each other
  int step = 1;                                       // rows between two copies
  if (p.head_map != HeadMap::grouped) {
    first = std::int64_t{kv_row / p.num_kv_heads} * p.num_heads + kv_row % p.num_kv_heads;
    step = p.num_kv_heads;
  }
  const T* in = static_cast<const T*>(p.in) + std::int64_t{kv_row} * p.head_dim;  // [D]
  T* out = static_cast<T*>(p.out) + first * p.head_dim;                           // [D], then every step rows
  for (int i = threadIdx.x * Chunk<T>::kSize; i < p.head_dim; i += blockDim.x * Chunk<T>::kSize) {
    const Chunk<T> chunk = load_chunk(in + i);
    for (int copy = 0; copy < group; ++copy)
      store_chunk(out + std::int64_t{copy} * step * p.head_dim + i, chunk);
  }
}

inline void launch_repeat_kv(const RepeatKvParams& p, LaunchContext& context) {
  check_row_shape("repeat_kv", p.num_kv_heads, p.head_dim);
  ATTN_CHECK(p.num_heads > 0 && p.num_heads % p.num_kv_heads == 0, "repeat_kv: {} heads on {} KV heads",
             p.num_heads, p.num_kv_heads);
  ATTN_CHECK(p.rows >= 0, "repeat_kv: {} rows", p.rows);
  if (p.rows == 0) return;
  ATTN_CHECK(p.in && p.out, "repeat_kv: a tensor is null");
  check_aligned(p.in, "repeat_kv: in");
  check_aligned(p.out, "repeat_kv: out");
  LaunchRecord record = row_copy_launch("repeat_kv_kernel", p.dtype, p.rows * p.num_kv_heads, p.head_dim);
  record.bytes =
      static_cast<std::uint64_t>(p.rows) * (p.num_heads + p.num_kv_heads) * p.head_dim * dtype_size(p.dtype);
  dispatch_dtype(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_kernel(context, record, repeat_kv_kernel<T>, p, p.num_heads / p.num_kv_heads);
  });
}

}  // namespace attn::ATTN_BACKEND
