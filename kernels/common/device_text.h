// The one header a kernel file includes. Under nvcc it is CUDA itself plus four small helpers; under g++
// kernels/simt/simt.h supplies the same CUDA names (__global__, threadIdx, __shared__, __syncthreads,
// __shfl_xor_sync, atomicAdd, float4, __half, __nv_bfloat16, ...) backed by the emulator.
//
// Kernel files put everything into `namespace attn::ATTN_BACKEND { ... }`, since both backends compile the
// same text into one program. Helpers both sides provide, in that namespace:
//   ATTN_DYNAMIC_SHARED(T, name)   T* name = this block's dynamic shared memory (16-byte aligned)
//   to_float(x), from_float<T>(f)  T in {float, __half, __nv_bfloat16}
//   dispatch_dtype(dtype, f)       calls f(Type<float>{}) and so on; inside: using T = typename
//   decltype(t)::type launch_kernel(ctx, record, kernel, args...)   record: kernel name, grid, block,
//   shared_bytes, bytes, flop
#pragma once

#include <cstdint>

#include "kernels/common/check.h"
#include "kernels/common/dtype.h"
#include "kernels/common/host_device.h"
#include "kernels/common/launch.h"

#ifdef __CUDACC__
#include "kernels/common/cuda_text.h"
#else
#include "kernels/simt/simt.h"
#endif

namespace attn::ATTN_BACKEND {

template <class T>
struct Type {
  using type = T;
};

/// Calls f with the Type tag of a runtime dtype. Host code.
template <class F>
void dispatch_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      f(Type<float>{});
      return;
    case DType::f16:
      f(Type<__half>{});
      return;
    case DType::bf16:
      f(Type<__nv_bfloat16>{});
      return;
  }
}

}  // namespace attn::ATTN_BACKEND
