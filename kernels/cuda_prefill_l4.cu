// Prefill attention of level 4: Hopper only, so a file of its own.
#include "kernels/attention/attention_launch.cuh"
#include "kernels/attention/prefill_l4_hopper.cuh"
#include "kernels/cuda_parts.h"

namespace attn::cuda_parts {
namespace {

using namespace on_cuda;

template <class T, int kDim>
void launch(const PrefillParams& p, LaunchRecord record, LaunchContext& context) {
  using Shape = HopperShape<kDim, l4_query_tile(kDim) / 64>;
  record.block.x = Shape::kThreads;
  record.shared_bytes = Shape::kSharedBytes;
  if (p.block_tables) return launch_kernel(context, record, prefill_l4_hopper_kernel<T, Shape, true>, p);
  launch_kernel(context, record, prefill_l4_hopper_kernel<T, Shape, false>, p);
}

template <class T>
void launch(const PrefillParams& p, const LaunchRecord& record, LaunchContext& context) {
  if (p.head_dim == 64) return launch<T, 64>(p, record, context);
  launch<T, 128>(p, record, context);
}

}  // namespace

bool hopper_code() { return on_cuda::hopper_code(); }

void prefill_attention_l4(const PrefillParams& p, const PrefillPlan& plan, std::uint64_t pairs,
                          std::int64_t total_k, LaunchContext& context) {
  LaunchRecord record{kernel_name("prefill_l4_hopper_kernel", p.dtype, false),
                      {static_cast<unsigned>(p.num_heads), static_cast<unsigned>(plan.num_q_tiles),
                       static_cast<unsigned>(p.batch)},
                      {}};
  record.bytes = attention_bytes(p, total_k);
  record.flop = 4 * pairs * p.num_heads * p.head_dim;
  if (p.dtype == DType::bf16) return launch<__nv_bfloat16>(p, record, context);
  launch<__half>(p, record, context);
}

}  // namespace attn::cuda_parts
