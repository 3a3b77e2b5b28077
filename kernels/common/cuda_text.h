// CUDA side of device_text.h: conversions, dynamic shared memory and launch_kernel.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <utility>

#include "kernels/common/check.h"
#include "kernels/common/launch.h"

#define ATTN_BACKEND on_cuda

#define ATTN_DYNAMIC_SHARED(T, name)                         \
  extern __shared__ __align__(16) unsigned char attn_smem[]; \
  T* name = reinterpret_cast<T*>(attn_smem)

namespace attn::on_cuda {

inline void cuda_check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw DeviceError(fmt::format("CUDA: {} ({})", cudaGetErrorString(error), what));
}

__host__ __device__ inline float to_float(float x) { return x; }
__host__ __device__ inline float to_float(__half x) { return __half2float(x); }
__host__ __device__ inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class T>
__host__ __device__ T from_float(float x);
template <>
__host__ __device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__host__ __device__ inline __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__host__ __device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

/// Milliseconds that `work` takes on the stream, by events; waits for it.
template <class Work>
float time_on_stream(cudaStream_t stream, Work&& work) {
  cudaEvent_t begin = nullptr, end = nullptr;
  cuda_check(cudaEventCreate(&begin), "cudaEventCreate");
  cuda_check(cudaEventCreate(&end), "cudaEventCreate");
  cuda_check(cudaEventRecord(begin, stream), "cudaEventRecord");
  work();
  cuda_check(cudaEventRecord(end, stream), "cudaEventRecord");
  cuda_check(cudaEventSynchronize(end), "a kernel failed");
  float ms = 0.0F;
  cuda_check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return ms;
}

/// Launches and logs; throws DeviceError naming the kernel when the launch itself is refused.
template <class... KernelArgs, class... Args>
void launch_kernel(LaunchContext& context, LaunchRecord record, void (*kernel)(KernelArgs...),
                   Args&&... args) {
  if (context.record_only) {
    if (context.log) context.log->push_back(std::move(record));
    return;
  }
  context.throw_if_stopped();
  auto stream = static_cast<cudaStream_t>(context.stream);
  if (record.shared_bytes > 48U * 1024U) {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(record.shared_bytes)),
               record.kernel.c_str());
  }
  const auto launch = [&] {
    kernel<<<dim3(record.grid.x, record.grid.y, record.grid.z),
             dim3(record.block.x, record.block.y, record.block.z), record.shared_bytes, stream>>>(
        static_cast<KernelArgs>(std::forward<Args>(args))...);
    cuda_check(cudaGetLastError(), record.kernel.c_str());
  };
  if (context.timing) {
    record.ms = time_on_stream(stream, launch);
  } else {
    launch();
  }
  if (context.log) context.log->push_back(std::move(record));
}

}  // namespace attn::on_cuda
