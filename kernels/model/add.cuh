// add: out = a + b, element by element (the residual stream), or a row of biases added to every row.
//
// Idea   The sum is formed in float and rounded once. Every layer adds to the same residual row, so with
//        bfloat16 (8 bits) this rounding is where most of the model's error comes from.
// Bytes  Residual: 2 * count elements read, count written. Bias: the bias row stays in cache.
// FLOP   1 per element.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"
#include "kernels/model/elementwise.h"

namespace attn::ATTN_BACKEND {

// ---- kernel

// `out` may be `a`: a thread reads and writes its own element only.
template <class T>
__global__ void add_kernel(T* out,      // [count]
                           const T* a,  // [count]
                           const T* b,  // [b_count]
                           std::int64_t count, std::int64_t b_count /* count, or the bias width */) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = from_float<T>(to_float(a[i]) + to_float(b[i % b_count]));
}

// ---- launcher

inline void launch_add(const AddParams& p, LaunchContext& context) {
  ATTN_CHECK(p.count >= 0 && p.bias_width >= 0, "add: count {}, bias_width {}", p.count, p.bias_width);
  ATTN_CHECK(p.bias_width == 0 || p.count % p.bias_width == 0,
             "add: count {} is no multiple of bias_width {}", p.count, p.bias_width);
  if (p.count == 0) return;
  ATTN_CHECK(p.a && p.b && p.out, "add: null pointer");
  const std::int64_t b_count = p.bias_width > 0 ? p.bias_width : p.count;
  const std::uint64_t bytes = (2 * p.count + b_count) * dtype_size(p.dtype);
  dispatch_dtype(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch_kernel(context, elementwise_record("add", p.count, bytes, p.count), add_kernel<T>,
                  static_cast<T*>(p.out), static_cast<const T*>(p.a), static_cast<const T*>(p.b), p.count,
                  b_count);
  });
}

}  // namespace attn::ATTN_BACKEND
