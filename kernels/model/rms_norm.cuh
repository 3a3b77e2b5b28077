// rms_norm: every row is scaled to root mean square 1, then each column by its learned weight:
//   out[r, i] = in[r, i] / sqrt(mean_j in[r, j]^2 + eps) * weight[i]
// Rows are tokens (width = hidden_size), or the heads of all tokens (width = head_dim: Qwen3's qk_norm).
//
// Idea   One block per row. Each thread sums the squares of its columns, a warp adds its 32 sums with five
//        shuffles (butterfly: every lane ends with the total), the warps meet once in shared memory.
//        The order of additions depends on the shape only, so the result is the same bits every time.
// Bytes  The row read once from memory (the second pass hits the cache) and written once, plus the weights.
// FLOP   About 4 per element: square, add, two products.
// Source Zhang and Sennrich 2019, arXiv 1910.07467.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"

namespace attn::ATTN_BACKEND {

inline constexpr int kRmsNormMaxThreads = 256;

// ---- kernel

// PRECOND: blockDim.x is a multiple of 32, at most kRmsNormMaxThreads. `out` may be `in`: each thread
// overwrites only the elements it has read itself, and after the barrier.
template <class T>
__global__ void rms_norm_kernel(T* out,           // [rows, width]
                                const T* in,      // [rows, width]
                                const T* weight,  // [width]
                                int width, float eps) {
  __shared__ float warp_sums[kRmsNormMaxThreads / 32];  // [blockDim.x / 32]
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * width;
  const int thread = static_cast<int>(threadIdx.x);
  const int num_threads = static_cast<int>(blockDim.x);

  float sum = 0.0F;
  for (int i = thread; i < width; i += num_threads) {
    const float x = to_float(in[row + i]);
    sum += x * x;
  }
  for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, lane_mask);
  if (thread % 32 == 0) warp_sums[thread / 32] = sum;
  __syncthreads();

  float total = 0.0F;
  for (int warp = 0; warp < num_threads / 32; ++warp) total += warp_sums[warp];
  const float scale = 1.0F / sqrtf(total / static_cast<float>(width) + eps);
  for (int i = thread; i < width; i += num_threads) {
    out[row + i] = from_float<T>(to_float(in[row + i]) * scale * to_float(weight[i]));
  }
}

// ---- launcher

inline void launch_rms_norm(const RmsNormParams& p, LaunchContext& context) {
  ATTN_CHECK(p.rows >= 0 && p.rows <= INT32_MAX && p.width > 0, "rms_norm: rows {}, width {}", p.rows,
             p.width);
  if (p.rows == 0) return;
  ATTN_CHECK(p.in && p.weight && p.out, "rms_norm: null pointer");
  LaunchRecord record;
  record.kernel = "rms_norm";
  record.grid = {static_cast<unsigned>(p.rows)};
  // About four columns per thread: a narrow row (a head) needs one warp, a wide one fills a block.
  const int threads = (p.width / 4 + 31) / 32 * 32;
  record.block = {static_cast<unsigned>(threads < 32                   ? 32
                                        : threads > kRmsNormMaxThreads ? kRmsNormMaxThreads
                                                                       : threads)};
  const std::uint64_t elements = static_cast<std::uint64_t>(p.rows) * p.width;
  record.bytes = (2 * elements + p.width) * dtype_size(p.dtype);
  record.flop = 4 * elements;
  dispatch_dtype(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch_kernel(context, record, rms_norm_kernel<T>, static_cast<T*>(p.out), static_cast<const T*>(p.in),
                  static_cast<const T*>(p.weight), p.width, p.eps);
  });
}

}  // namespace attn::ATTN_BACKEND
