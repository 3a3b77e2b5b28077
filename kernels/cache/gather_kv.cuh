// gather_kv and flatten_kv: the gather variant's way to attention without a paged kernel.
//
// gather_kv copies the scattered rows of each sequence out of the cache into a dense [B, max_len, Hkv, D]
// tensor; rows past a sequence's length become zeros. flatten_kv then joins the real rows into the packed
// [sum of lengths, Hkv, D] form that varlen attention reads.
//
// The zeros are not harmless: a decode kernel that attends all max_len columns gives each pad the score 0,
// hence the weight exp(0), and o shrinks to o * Z / (Z + P) (see DecodeForm::dense_padded).
// Cache rows past the length and table entries past the last used block (-1) are never read.
//
// Bytes: gather reads sum(len) rows and writes B * max_len rows of K and of V; flatten reads and writes
// sum(len) rows of each. A paged kernel moves none of this. No arithmetic.
#pragma once

#include "kernels/cache/row_copy.cuh"
#include "kernels/common/params.h"

namespace attn::ATTN_BACKEND {

/// PRECOND: table entries of the first ceil(seqlens[b] / bs) columns are valid blocks.
template <class T>
__global__ void gather_kv_kernel(GatherKvParams p) {
  const int dense_row = row_of_thread();  // b * max_len + pos
  if (dense_row >= p.batch * p.max_len) return;
  const int b = dense_row / p.max_len, pos = dense_row % p.max_len;
  const bool real = pos < p.seqlens[b];
  const int row = p.kv.num_kv_heads * p.kv.head_dim;
  const std::int32_t* table = p.block_tables + static_cast<std::int64_t>(b) * p.block_table_width;  // [width]
  const std::int64_t from = real ? p.kv.offset(p.kv.slot(table, pos), 0) : 0;
  const T* k_cache = static_cast<const T*>(p.k_cache) + from;               // [Hkv, D]
  const T* v_cache = static_cast<const T*>(p.v_cache) + from;               // [Hkv, D]
  T* k_dense = static_cast<T*>(p.k_dense) + std::int64_t{dense_row} * row;  // [Hkv, D]
  T* v_dense = static_cast<T*>(p.v_dense) + std::int64_t{dense_row} * row;  // [Hkv, D]
  for (int i = threadIdx.x * Chunk<T>::kSize; i < row; i += blockDim.x * Chunk<T>::kSize) {
    store_chunk(k_dense + i, real ? load_chunk(k_cache + i) : zero_chunk<T>());
    store_chunk(v_dense + i, real ? load_chunk(v_cache + i) : zero_chunk<T>());
  }
}

template <class T>
__global__ void flatten_kv_kernel(FlattenKvParams p) {
  const int dense_row = row_of_thread();  // b * max_len + pos
  if (dense_row >= p.batch * p.max_len) return;
  const int b = dense_row / p.max_len, pos = dense_row % p.max_len;
  const std::int32_t begin = p.cu_seqlens_k[b];
  if (pos >= p.cu_seqlens_k[b + 1] - begin) return;
  const int row = p.num_kv_heads * p.head_dim;
  const std::int64_t flat_row = static_cast<std::int64_t>(begin) + pos;
  const T* k_dense = static_cast<const T*>(p.k_dense) + std::int64_t{dense_row} * row;  // [Hkv, D]
  const T* v_dense = static_cast<const T*>(p.v_dense) + std::int64_t{dense_row} * row;  // [Hkv, D]
  T* k_flat = static_cast<T*>(p.k_flat) + flat_row * row;                               // [Hkv, D]
  T* v_flat = static_cast<T*>(p.v_flat) + flat_row * row;                               // [Hkv, D]
  for (int i = threadIdx.x * Chunk<T>::kSize; i < row; i += blockDim.x * Chunk<T>::kSize) {
    store_chunk(k_flat + i, load_chunk(k_dense + i));
    store_chunk(v_flat + i, load_chunk(v_dense + i));
  }
}

inline void launch_gather_kv(const GatherKvParams& p, LaunchContext& context) {
  check_cache_shape("gather_kv", p.kv);
  ATTN_CHECK(p.batch >= 0 && p.max_len >= 0, "gather_kv: batch {}, max_len {}", p.batch, p.max_len);
  const std::int64_t rows = static_cast<std::int64_t>(p.batch) * p.max_len;
  if (rows == 0) return;
  ATTN_CHECK(p.max_len <= static_cast<std::int64_t>(p.block_table_width) * p.kv.block_size,
             "gather_kv: max_len {} is beyond the table ({} blocks of {})", p.max_len, p.block_table_width,
             p.kv.block_size);
  ATTN_CHECK(p.k_cache && p.v_cache && p.block_tables && p.seqlens && p.k_dense && p.v_dense,
             "gather_kv: a tensor is null");
  for (const void* pointer :
       {p.k_cache, p.v_cache, static_cast<const void*>(p.k_dense), static_cast<const void*>(p.v_dense)})
    check_aligned(pointer, "gather_kv: K or V");
  const int row = p.kv.num_kv_heads * p.kv.head_dim;
  LaunchRecord record = row_copy_launch("gather_kv_kernel", p.dtype, rows, row);
  const std::int64_t read_rows = p.total_k_hint > 0 ? p.total_k_hint : rows;
  record.bytes = static_cast<std::uint64_t>(rows + read_rows) * 2 * row * dtype_size(p.dtype);
  dispatch_dtype(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_kernel(context, record, gather_kv_kernel<T>, p);
  });
}

inline void launch_flatten_kv(const FlattenKvParams& p, LaunchContext& context) {
  check_row_shape("flatten_kv", p.num_kv_heads, p.head_dim);
  ATTN_CHECK(p.batch >= 0 && p.max_len >= 0, "flatten_kv: batch {}, max_len {}", p.batch, p.max_len);
  const std::int64_t rows = static_cast<std::int64_t>(p.batch) * p.max_len;
  if (rows == 0) return;
  ATTN_CHECK(p.k_dense && p.v_dense && p.cu_seqlens_k && p.k_flat && p.v_flat,
             "flatten_kv: a tensor is null");
  for (const void* pointer :
       {p.k_dense, p.v_dense, static_cast<const void*>(p.k_flat), static_cast<const void*>(p.v_flat)})
    check_aligned(pointer, "flatten_kv: K or V");
  const int row = p.num_kv_heads * p.head_dim;
  LaunchRecord record = row_copy_launch("flatten_kv_kernel", p.dtype, rows, row);
  const std::int64_t real_rows = p.total_k_hint > 0 ? p.total_k_hint : rows;
  record.bytes = static_cast<std::uint64_t>(real_rows) * 4 * row * dtype_size(p.dtype);
  dispatch_dtype(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_kernel(context, record, flatten_kv_kernel<T>, p);
  });
}

}  // namespace attn::ATTN_BACKEND
