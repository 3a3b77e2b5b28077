// prefill_attention: causal attention of packed, ragged queries (flash_attn_varlen_func's job), K/V packed or
// paged. Levels: 1 l1_naive.cuh, 2 prefill_l2_tiled.cuh, 3 prefill_l3_mma.cuh, 4
// prefill_l4_hopper.cuh (CUDA alone).
#pragma once

#include "kernels/attention/attention_launch.cuh"
#include "kernels/attention/prefill_l2_tiled.cuh"
#include "kernels/attention/prefill_l3_mma.cuh"
#ifdef __CUDACC__
#include "kernels/cuda_parts.h"
#endif

namespace attn::ATTN_BACKEND {

/// The blocks of level 3: 128 query rows, 64 keys, for head_dim 64 and 128.
template <int kDim>
using PrefillL3Shape =
    MmaShape<kDim, kL3Threads / 32, kL3QueryTile / kL3Threads * 2, kL3KeyTile, 2, kDim == 64>;

inline void launch_prefill_level3(const PrefillParams& p, const PrefillPlan& plan, std::uint64_t pairs,
                                  std::int64_t total_k, LaunchContext& context) {
  LaunchRecord record{kernel_name("prefill_l3_mma_kernel", p.dtype, false),
                      {static_cast<unsigned>(p.num_heads), static_cast<unsigned>(plan.num_q_tiles),
                       static_cast<unsigned>(p.batch)},
                      {kL3Threads, 1, 1}};
  record.bytes = attention_bytes(p, total_k);
  record.flop = 4 * pairs * p.num_heads * p.head_dim;
  const auto launch = [&](auto type, auto dim) {
    using T = typename decltype(type)::type;
    using Shape = PrefillL3Shape<decltype(dim)::value>;
    static_assert(Shape::kRows == kL3QueryTile && Shape::kThreads == kL3Threads);
    record.shared_bytes = Shape::kSharedBytes;
    if (p.block_tables) return launch_kernel(context, record, prefill_l3_mma_kernel<T, Shape, true>, p);
    launch_kernel(context, record, prefill_l3_mma_kernel<T, Shape, false>, p);
  };
  const auto launch_type = [&](auto type) {
    if (p.head_dim == 64) return launch(type, std::integral_constant<int, 64>{});
    launch(type, std::integral_constant<int, 128>{});
  };
  if (p.dtype == DType::bf16) return launch_type(Type<__nv_bfloat16>{});
  launch_type(Type<__half>{});
}

inline void launch_prefill_attention(const PrefillParams& p, LaunchContext& context) {
  ATTN_CHECK(p.batch >= 0 && p.total_q >= 0 && p.max_seqlen_q >= 0 && p.max_seqlen_k >= 0,
             "prefill_attention: batch {}, total_q {}, max_seqlen_q {}, max_seqlen_k {}", p.batch, p.total_q,
             p.max_seqlen_q, p.max_seqlen_k);
  if (p.batch == 0 || p.total_q == 0) return;
  const PrefillPlan plan = plan_prefill(p, context.traits);
  check_attention("prefill_attention", p, 4, plan.workspace_bytes, plan.num_k_tiles);
  ATTN_CHECK(p.cu_seqlens_q && p.cu_seqlens_k, "prefill_attention: cu_seqlens_q or cu_seqlens_k is null");
  ATTN_CHECK(p.max_seqlen_q > 0, "prefill_attention: {} queries but max_seqlen_q is 0", p.total_q);

  // Lengths live on the device; without hints the records count every query against the longest key length.
  const std::int64_t total_k = p.total_k_hint > 0 ? p.total_k_hint : std::int64_t{p.batch} * p.max_seqlen_k;
  const std::uint64_t pairs = p.pairs_hint > 0 ? p.pairs_hint : std::uint64_t{1} * p.total_q * p.max_seqlen_k;
  const std::int64_t seen_k = keys_seen(p, total_k);
  const bool probed = p.probe.wanted();
  ATTN_CHECK(plan.level == 1 || plan.num_q_tiles <= 65535,
             "prefill_attention: max_seqlen_q {} is beyond the grid", p.max_seqlen_q);
  if (plan.level == 1) {
    launch_level1(p, pairs, seen_k, context);
  } else if (plan.level == 4) {
#ifdef __CUDACC__
    cuda_parts::prefill_attention_l4(p, plan, pairs, seen_k, context);
#endif
  } else if (plan.level == 3) {
    launch_prefill_level3(p, plan, pairs, seen_k, context);
  } else {
    LaunchRecord record{kernel_name("prefill_l2_tiled_kernel", p.dtype, probed),
                        {static_cast<unsigned>(p.num_heads), static_cast<unsigned>(plan.num_q_tiles),
                         static_cast<unsigned>(p.batch)},
                        {kAttentionThreads, 1, 1},
                        PrefillShared::bytes(p.head_dim)};
    record.bytes = attention_bytes(p, seen_k);
    record.flop = 4 * pairs * p.num_heads * p.head_dim;
    dispatch_dtype(p.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      dispatch_head_dim(p.head_dim, [&](auto dim) {
        dispatch_probe(probed, [&](auto probe) {
          using Probe = typename decltype(probe)::type;
          launch_kernel(context, record, prefill_l2_tiled_kernel<T, decltype(dim)::value, Probe>, p, plan);
        });
      });
    });
  }
  launch_probe_weights(p, pairs, context);
}

}  // namespace attn::ATTN_BACKEND
