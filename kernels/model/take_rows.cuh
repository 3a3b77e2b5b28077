// take_rows: out[i, :] = in[rows[i], :]. The LM head needs the last row of every sequence only
// (cu_seqlens_q[b+1] - 1), and its matrix product is the dearest of the model: pick first, multiply later.
//
// Idea   embed with activations in place of a table. A row may be taken more than once, in any order.
// Bytes  num_rows * width elements read and as many written, plus the indices.
// FLOP   0.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"
#include "kernels/model/elementwise.h"

namespace attn::ATTN_BACKEND {

// ---- kernel

// PRECOND: rows[i] is a row of `in`; the host checks it.
template <class T>
__global__ void take_rows_kernel(T* out,                    // [num_rows, width]
                                 const T* in,               // [*, width]
                                 const std::int32_t* rows,  // [num_rows]
                                 std::int64_t count /* num_rows * width */, int width) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = in[static_cast<std::int64_t>(rows[i / width]) * width + i % width];
}

// ---- launcher

inline void launch_take_rows(const TakeRowsParams& p, LaunchContext& context) {
  ATTN_CHECK(p.num_rows >= 0 && p.width > 0, "take_rows: num_rows {}, width {}", p.num_rows, p.width);
  if (p.num_rows == 0) return;
  ATTN_CHECK(p.rows && p.in && p.out, "take_rows: null pointer");
  const std::int64_t count = static_cast<std::int64_t>(p.num_rows) * p.width;
  const std::uint64_t bytes = 2 * count * dtype_size(p.dtype) + p.num_rows * sizeof(std::int32_t);
  dispatch_dtype(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch_kernel(context, elementwise_record("take_rows", count, bytes, 0), take_rows_kernel<T>,
                  static_cast<T*>(p.out), static_cast<const T*>(p.in), p.rows, count, p.width);
  });
}

}  // namespace attn::ATTN_BACKEND
