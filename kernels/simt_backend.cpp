// The kernels as the emulator runs them: compiled by g++ through kernels/simt/simt.h.
#include "kernels/kernel_table.cuh"

namespace attn {

const Kernels& simt_kernels() { return on_simt::kKernels; }

}  // namespace attn
