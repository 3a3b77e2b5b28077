// Decode attention as a GPU runs it.
#include "kernels/attention/decode_attention.cuh"
#include "kernels/cuda_parts.h"

namespace attn::cuda_parts {

void decode_attention(const DecodeParams& params, LaunchContext& context) {
  on_cuda::launch_decode_attention(params, context);
}

}  // namespace attn::cuda_parts
