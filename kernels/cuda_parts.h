// What the .cu files of the CUDA backend export to each other.
#pragma once

#include "kernels/common/launch.h"
#include "kernels/common/params.h"
#include "kernels/common/plan.h"

namespace attn::cuda_parts {

void prefill_attention(const PrefillParams& params, LaunchContext& context);  // cuda_prefill.cu
void decode_attention(const DecodeParams& params, LaunchContext& context);    // cuda_decode.cu

// cuda_prefill_l4.cu. The params are checked; hopper_code(): whether this program holds code for sm_90a.
bool hopper_code();
void prefill_attention_l4(PrefillParams params, const PrefillPlan& plan, std::uint64_t pairs,
                          std::int64_t total_k, LaunchContext& context);

}  // namespace attn::cuda_parts
