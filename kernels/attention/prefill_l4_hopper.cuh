// Prefill level 4, Hopper: the matrix products of level 3 by warpgroups, fed by others.
//
// What sm_90a adds, and what it is for:
//   - wgmma: 128 threads multiply 64 rows by a tile straight from shared memory. No ldmatrix, no fragments
//     of K and V in registers, and the product runs on while the warps do something else.
//   - The tensor memory accelerator (TMA): a thread asks for a box of rows, a whole tile or what lies in one
//     cache block, and a barrier is told when its bytes have come.
//   - Warp specialisation: one warpgroup only copies (it gives its registers away by setmaxnreg), the others
//     only compute. They meet at mbarriers, two a buffer: full (copies have landed), empty (last read).
//   - Ping-pong: while one computing warpgroup does its softmax, another's products have the tensor cores.
//     Named barriers pass the turn.
//   - Within a warpgroup, Q K^T of the next tile and P V of the last are in flight during a softmax.
// And what that makes worth while:
//   - Persistent blocks, one an SM, which take tiles of queries from a counter, the longest of a sequence
//     first. The next tile's q, K and V are copied while the last one's rows are written out.
//   - A softmax that does not look for the maximum first: any reference will do as long as no weight
//     leaves the range of its type. The first tile of keys finds one; a sum of weights tells when it must be
//     raised.
//
// What level 3 asks of V (finite values) this level asks too.
//
// Bytes and FLOP: those of level 3 (K and V once per 192 rows at D 64). CUDA only, built for sm_90a;
// elsewhere level 3 runs. Measured on an H200 against level 3: 689 TFLOP/s of 360 (causal, 4 x 4,096, D 128;
// 86% of a matrix product), 726 of 351 (1,024 rows on 8,192 keys in blocks of 16). Versions and figures:
// NOTES.md beside this. Files: hopper_work.cuh (shape, shared memory, whose turn), hopper_maps.h (host),
// hopper_copy.cuh, hopper_compute.cuh.
#pragma once

#include "kernels/attention/hopper_compute.cuh"
#include "kernels/attention/hopper_copy.cuh"

namespace attn::on_cuda {

/// grid: as many blocks as there are SMs, or fewer.
/// PRECOND: as for level 3, on compute capability 9.0; extras made of p; p.tickets all 0.
template <class T, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    prefill_l4_hopper_kernel(PrefillParams p, const __grid_constant__ HopperExtras extras) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  ATTN_DYNAMIC_SHARED(unsigned char, shared_base);
  const HopperShared<T, Shape> shared(shared_base);
  if (threadIdx.x == 0) {
    shared.init();
    mbarrier_init_fence();
    tma_prefetch(extras.q);
    tma_prefetch(extras.k);
    tma_prefetch(extras.v);
  }
  __syncthreads();
  if (threadIdx.x < Shape::kCopyThreads) {
    setmaxnreg_dec<Shape::kCopyRegs>();
    HopperCopier<T, Shape>(p, extras, shared).run();
  } else {
    setmaxnreg_inc<Shape::kComputeRegs>();
    HopperConsumer<T, Shape> consumer{shared,
                                      uniform(static_cast<int>(threadIdx.x - Shape::kCopyThreads) / 128)};
    consumer.run_all(p);
  }
#else
  __trap();  // launchers ask hopper_code() first
#endif
}

/// Never launched: its static shared memory tells whether this program holds code for sm_90a.
__global__ void hopper_probe_kernel() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ volatile int present;
  present = 1;
#endif
}
inline bool hopper_code() {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, hopper_probe_kernel) != cudaSuccess) {
    cudaGetLastError();  // not a fault of the next launch
    return false;
  }
  return attributes.sharedSizeBytes > 0;
}

}  // namespace attn::on_cuda
