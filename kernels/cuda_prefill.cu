// Prefill attention as a GPU runs it.
#include "kernels/attention/prefill_attention.cuh"
#include "kernels/cuda_parts.h"

namespace attn::cuda_parts {

void prefill_attention(const PrefillParams& params, LaunchContext& context) {
  on_cuda::launch_prefill_attention(params, context);
}

}  // namespace attn::cuda_parts
