// store_kvcache: writes the K and V rows of the step's new tokens to their cache slots, before attention.
//
// slot_mapping[t] = block_table[pos / bs] * bs + pos % bs, computed by the engine; the kernel is a scatter of
// rows. Slot -1 marks a token without a place (padding rows of a captured graph): it is skipped. Used as an
// index it would be the last slot of the last block, and overwrite another sequence's key.
// Every slot is written by one token at most, so the order of the threads does not matter.
//
// Bytes: each row read once and written once, 4 * N * Hkv * D * sizeof(T) + 4 N. No arithmetic.
// Source: nano-vllm store_kvcache_kernel (one program per token).
#pragma once

#include "kernels/cache/row_copy.cuh"
#include "kernels/common/params.h"

namespace attn::ATTN_BACKEND {

/// PRECOND: slots are < num_blocks * bs; block (chunks of a row or less, rows).
template <class T>
__global__ void store_kvcache_kernel(StoreKvCacheParams p) {
  const int token = row_of_thread();
  if (token >= p.num_tokens) return;
  const std::int64_t slot = p.slot_mapping[token];
  if (slot < 0) return;
  const int row = p.kv.num_kv_heads * p.kv.head_dim;
  const T* k = static_cast<const T*>(p.k) + std::int64_t{token} * row;  // [Hkv, D] of this token
  const T* v = static_cast<const T*>(p.v) + std::int64_t{token} * row;  // [Hkv, D]
  T* k_slot = static_cast<T*>(p.k_cache) + p.kv.offset(slot, 0);        // [Hkv, D] of its slot, 64-bit offset
  T* v_slot = static_cast<T*>(p.v_cache) + p.kv.offset(slot, 0);        // [Hkv, D]
  for (int i = threadIdx.x * Chunk<T>::kSize; i < row; i += blockDim.x * Chunk<T>::kSize) {
    store_chunk(k_slot + i, load_chunk(k + i));
    store_chunk(v_slot + i, load_chunk(v + i));
  }
}

inline void launch_store_kvcache(const StoreKvCacheParams& p, LaunchContext& context) {
  check_cache_shape("store_kvcache", p.kv);
  ATTN_CHECK(p.num_tokens >= 0, "store_kvcache: {} tokens", p.num_tokens);
  if (p.num_tokens == 0) return;
  ATTN_CHECK(p.k && p.v && p.slot_mapping && p.k_cache && p.v_cache, "store_kvcache: a tensor is null");
  for (const void* pointer :
       {p.k, p.v, static_cast<const void*>(p.k_cache), static_cast<const void*>(p.v_cache)})
    check_aligned(pointer, "store_kvcache: K or V");
  const int row = p.kv.num_kv_heads * p.kv.head_dim;
  LaunchRecord record = row_copy_launch("store_kvcache_kernel", p.dtype, p.num_tokens, row);
  record.bytes =
      static_cast<std::uint64_t>(p.num_tokens) * (4 * row * dtype_size(p.dtype) + sizeof(std::int32_t));
  dispatch_dtype(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_kernel(context, record, store_kvcache_kernel<T>, p);
  });
}

}  // namespace attn::ATTN_BACKEND
