// What the .cu files of the CUDA backend export to each other.
#pragma once

#include "kernels/common/launch.h"
#include "kernels/common/params.h"

namespace attn::cuda_parts {

void prefill_attention(const PrefillParams& params, LaunchContext& context);  // cuda_prefill.cu
void decode_attention(const DecodeParams& params, LaunchContext& context);    // cuda_decode.cu

}  // namespace attn::cuda_parts
