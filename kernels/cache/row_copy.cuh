// Geometry shared by the kernels that move whole K/V rows: threadIdx.x walks the 16-byte chunks of a row, so
// that a warp touches consecutive addresses; threadIdx.y and blockIdx.x pick the row. No barrier anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/common/chunk.cuh"
#include "kernels/common/paged_kv.h"

namespace attn::ATTN_BACKEND {

constexpr int kRowCopyThreads = 256;

/// Row this thread works on; the launch may have a few rows too many. 32 bits, so that kernels divide it
/// cheaply: a 64-bit division is some hundred instructions of a GPU.
__device__ inline int row_of_thread() {
  return static_cast<int>(blockIdx.x) * static_cast<int>(blockDim.y) + static_cast<int>(threadIdx.y);
}

/// Launch record for `rows` rows of `row_elements` elements; the caller adds the bytes.
inline LaunchRecord row_copy_launch(const std::string& kernel, DType dtype, std::int64_t rows,
                                    int row_elements) {
  const int chunks = row_elements * static_cast<int>(dtype_size(dtype)) / 16;
  const int x = std::clamp(chunks, 1, kRowCopyThreads);
  const int y = kRowCopyThreads / x;
  const std::int64_t blocks = (rows + y - 1) / y;
  ATTN_CHECK(blocks * y <= 0x7FFFFFFF, "{}: {} rows are too many for one launch", kernel, rows);
  LaunchRecord record;
  record.kernel = kernel + "<" + element_name(dtype) + ">";
  record.grid = {static_cast<unsigned>(blocks), 1, 1};
  record.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), 1};
  return record;
}

inline void check_row_shape(const char* kernel, int num_kv_heads, int head_dim) {
  ATTN_CHECK(num_kv_heads > 0, "{}: num_kv_heads is {}", kernel, num_kv_heads);
  ATTN_CHECK(head_dim > 0 && head_dim % 8 == 0, "{}: head_dim {} is not a multiple of 8", kernel, head_dim);
}

inline void check_cache_shape(const char* kernel, const PagedKv& kv) {
  check_row_shape(kernel, kv.num_kv_heads, kv.head_dim);
  ATTN_CHECK(kv.num_blocks > 0 && kv.block_size > 0, "{}: cache of {} blocks of {} slots", kernel,
             kv.num_blocks, kv.block_size);
}

}  // namespace attn::ATTN_BACKEND
