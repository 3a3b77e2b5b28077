// Prefill attention of level 4: Hopper only, so a file of its own.
#include "kernels/attention/attention_launch.cuh"
#include "kernels/attention/hopper_maps.h"
#include "kernels/attention/prefill_l4_hopper.cuh"
#include "kernels/cuda_parts.h"

namespace attn::cuda_parts {
namespace {

using namespace on_cuda;

template <class T, int kDim>
void launch(const PrefillParams& p, LaunchRecord record, LaunchContext& context) {
  const auto launch_shape = [&](auto paged) {
    constexpr bool kWide = kDim == 128;
    using Shape =
        HopperShape<kDim, l4_query_tile(kDim) / 64, kWide ? 3 : 4, kWide ? 2 : 4, decltype(paged)::value>;
    record.block.x = Shape::kThreads;
    record.shared_bytes = Shape::kSharedBytes;
    launch_kernel(context, record, prefill_l4_hopper_kernel<T, Shape>, p, hopper_extras(p));
  };
  if (p.block_tables) return launch_shape(std::true_type{});
  launch_shape(std::false_type{});
}

template <class T>
void launch(const PrefillParams& p, const LaunchRecord& record, LaunchContext& context) {
  if (p.head_dim == 64) return launch<T, 64>(p, record, context);
  launch<T, 128>(p, record, context);
}

}  // namespace

bool hopper_code() { return on_cuda::hopper_code(); }

void prefill_attention_l4(PrefillParams p, const PrefillPlan& plan, std::uint64_t pairs, std::int64_t total_k,
                          LaunchContext& context) {
  if (!p.tickets) {
    p.tickets = static_cast<std::uint32_t*>(p.workspace);
    launch_clear_tickets(p.tickets, kPrefillTickets, context);
  }
  const std::int64_t tiles = std::int64_t{p.num_heads} * plan.num_q_tiles * p.batch;
  LaunchRecord record{kernel_name("prefill_l4_hopper_kernel", p.dtype, false),
                      {static_cast<unsigned>(std::min<std::int64_t>(tiles, context.traits.num_sms)), 1, 1},
                      {}};
  record.bytes = attention_bytes(p, total_k);
  record.flop = 4 * pairs * p.num_heads * p.head_dim;
  if (p.dtype == DType::bf16) return launch<__nv_bfloat16>(p, record, context);
  launch<__half>(p, record, context);
}

}  // namespace attn::cuda_parts
