// The kernels as a GPU runs them: the same text that simt_backend.cpp compiles, through nvcc.
#include "kernels/kernel_table.cuh"

namespace attn {

const Kernels& cuda_kernels() { return on_cuda::kKernels; }

}  // namespace attn
