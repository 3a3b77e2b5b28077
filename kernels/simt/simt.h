// The g++ side of kernels/common/device_text.h: the CUDA names kernel text uses, run by the SIMT emulator.
//
// Threads of a block are fibers on one OS thread (block_runner.h), blocks are spread over OS threads
// (executor.h), device memory has guard zones (guarded_memory.h). What differs from a GPU:
//   - One lane runs at a time, so nothing is in lockstep by accident: a missing __syncwarp shows.
//   - __shared__ variables are static: they keep what the last block left. Dynamic shared memory is
//     filled with NaN bytes before each block.
//   - A thread that exits does not count at later barriers; CUDA leaves that undefined, here it is an error.
//   - Spinning on memory until another thread of the same block writes it never ends.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/common/launch.h"
#include "kernels/simt/atomics.h"
#include "kernels/simt/collectives.h"
#include "kernels/simt/half_types.h"
#include "kernels/simt/intrinsics.h"
#include "kernels/simt/tensor_core.h"
#include "kernels/simt/vector_types.h"

#define ATTN_BACKEND on_simt

#define __global__ inline
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One block at a time runs on an OS thread, and all its threads run there.
#define __shared__ static thread_local

#define ATTN_DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(::attn::simt::dynamic_shared())

namespace attn::on_simt {

// Set by the emulator at each block start and thread switch.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;

}  // namespace attn::on_simt

namespace attn::simt {

/// This block's dynamic shared memory, 256-byte aligned.
void* dynamic_shared();

/// One launch without its types: invoke(arguments) runs the kernel as the current thread.
struct KernelCall {
  void (*invoke)(const void* arguments) = nullptr;
  const void* arguments = nullptr;
  std::size_t argument_bytes = 0;
};

/// Runs the whole grid and returns when it is done. Throws DeviceError for a refused launch or a fault
/// that the emulator saw; lets through what a kernel throws.
void launch(LaunchContext& context, LaunchRecord record, const KernelCall& call);

}  // namespace attn::simt

namespace attn::on_simt {

/// Launches, waits and logs. Same signature as the CUDA one.
template <class... KernelArgs, class... Args>
void launch_kernel(LaunchContext& context, LaunchRecord record, void (*kernel)(KernelArgs...),
                   Args&&... args) {
  struct Arguments {
    void (*kernel)(KernelArgs...);
    std::tuple<std::remove_cv_t<KernelArgs>...> values;
  };
  static_assert((std::is_trivially_copyable_v<KernelArgs> && ...), "a graph copies arguments byte by byte");
  const Arguments arguments{kernel, {static_cast<KernelArgs>(std::forward<Args>(args))...}};
  const auto invoke = [](const void* pointer) {
    const auto& a = *static_cast<const Arguments*>(pointer);
    std::apply(a.kernel, a.values);
  };
  simt::launch(context, std::move(record), {invoke, &arguments, sizeof arguments});
}

}  // namespace attn::on_simt
