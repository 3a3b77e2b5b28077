// The kernels as the emulator runs them: compiled by g++ through kernels/simt/simt.h.
#include "kernels/attention/decode_attention.cuh"
#include "kernels/attention/prefill_attention.cuh"
#include "kernels/kernel_table.cuh"

namespace attn {

const Kernels& simt_kernels() {
  static constexpr Kernels kTable =
      on_simt::kernel_table(on_simt::launch_prefill_attention, on_simt::launch_decode_attention);
  return kTable;
}

}  // namespace attn
