// The kernels as a GPU runs them: the same text that simt_backend.cpp compiles, through nvcc.
#include "kernels/cuda_parts.h"
#include "kernels/kernel_table.cuh"

namespace attn {

const Kernels& cuda_kernels() {
  static constexpr Kernels kTable =
      on_cuda::kernel_table(cuda_parts::prefill_attention, cuda_parts::decode_attention);
  return kTable;
}

}  // namespace attn
