// silu_mul: the gate of the MLP. gate and up come from one matrix product, side by side in a row:
//   out[n, i] = silu(gate_up[n, i]) * gate_up[n, width + i],   silu(x) = x * sigmoid(x) = x / (1 + exp(-x))
//
// Idea   Fusing the two saves a round trip: apart, silu(gate) would be written and read once more.
// Bytes  2 * N * width elements read, N * width written.
// FLOP   About 5 per output (negate, exp, add, divide, multiply).
// Source Shazeer 2020, "GLU variants improve transformer", arXiv 2002.05202.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"
#include "kernels/model/elementwise.h"

namespace attn::ATTN_BACKEND {

// ---- kernel

template <class T>
__global__ void silu_mul_kernel(T* out,            // [N, width]
                                const T* gate_up,  // [N, 2 * width]
                                std::int64_t count /* N * width */, int width) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const T* row = gate_up + i / width * 2 * width;
  const std::int64_t column = i % width;
  const float gate = to_float(row[column]);
  const float up = to_float(row[width + column]);
  // For very negative gates expf is +inf and the quotient -0: the right limit, and no NaN.
  out[i] = from_float<T>(gate / (1.0F + expf(-gate)) * up);
}

// ---- launcher

inline void launch_silu_mul(const SiluMulParams& p, LaunchContext& context) {
  ATTN_CHECK(p.num_tokens >= 0 && p.width > 0, "silu_mul: num_tokens {}, width {}", p.num_tokens, p.width);
  if (p.num_tokens == 0) return;
  ATTN_CHECK(p.gate_up && p.out, "silu_mul: null pointer");
  const std::int64_t count = static_cast<std::int64_t>(p.num_tokens) * p.width;
  dispatch_dtype(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch_kernel(context, elementwise_record("silu_mul", count, 3 * count * sizeof(T), 5 * count),
                  silu_mul_kernel<T>, static_cast<T*>(p.out), static_cast<const T*>(p.gate_up), count,
                  p.width);
  });
}

}  // namespace attn::ATTN_BACKEND
