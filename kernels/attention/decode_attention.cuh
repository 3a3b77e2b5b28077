// decode_attention: one query per sequence against its whole context; dense with pads attended, dense masked
// by length, or paged. Levels: 1 l1_naive.cuh, 2 decode_l2_tiled.cuh (+ merge_states.cuh when split), 3
// decode_l3_stream.cuh.
#pragma once

#include "kernels/attention/attention_launch.cuh"
#include "kernels/attention/decode_l2_tiled.cuh"
#include "kernels/attention/decode_l3_stream.cuh"
#include "kernels/attention/merge_states.cuh"

namespace attn::ATTN_BACKEND {

/// Level 2 proper: one wave of blocks, then the merge when the keys were split.
inline void launch_decode_level2(const DecodeParams& p, const DecodePlan& plan, std::int64_t total_k,
                                 LaunchContext& context) {
  const int group_tiles = ceil_div(p.num_heads / p.num_kv_heads, kDecodeHeads);
  ATTN_CHECK(plan.num_splits <= 65535, "decode_attention: {} splits are beyond the grid", plan.num_splits);
  const bool probed = p.probe.wanted();
  LaunchRecord record{kernel_name("decode_l2_tiled_kernel", p.dtype, probed),
                      {static_cast<unsigned>(p.num_kv_heads * group_tiles),
                       static_cast<unsigned>(plan.num_splits), static_cast<unsigned>(p.batch)},
                      {kAttentionThreads, 1, 1},
                      DecodeShared::bytes(p.head_dim)};
  const std::uint64_t partial_bytes = plan.num_splits > 1 ? plan.workspace_bytes : 0;
  record.bytes = attention_bytes(p, total_k) + partial_bytes;
  record.flop = 4ULL * total_k * p.num_heads * p.head_dim;
  dispatch_dtype(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    dispatch_head_dim(p.head_dim, [&](auto dim) {
      dispatch_probe(probed, [&](auto probe) {
        using Probe = typename decltype(probe)::type;
        launch_kernel(context, record, decode_l2_tiled_kernel<T, decltype(dim)::value, Probe>, p, plan);
      });
    });
  });
  if (plan.num_splits == 1) return;
  MergeStatesParams merge;
  merge.dtype = p.dtype;
  merge.num_splits = plan.num_splits;
  merge.batch = p.batch;
  merge.num_heads = p.num_heads;
  merge.head_dim = p.head_dim;
  merge.partial_o = static_cast<const float*>(p.workspace);
  merge.partial_lse = merge.partial_o + std::int64_t{plan.num_splits} * p.batch * p.num_heads * p.head_dim;
  merge.o = p.o;
  merge.lse = p.lse;
  launch_merge_states(merge, context);
}

/// Level 3: one launch, after one that clears the tickets when the caller keeps none.
inline void launch_decode_level3(DecodeParams p, const DecodePlan& plan, std::int64_t total_k,
                                 LaunchContext& context) {
  const int group = p.num_heads / p.num_kv_heads, units = p.num_kv_heads * ceil_div(group, kL3DecodeRows);
  const int heads = min_of(group, kL3DecodeRows);
  const std::size_t states = std::size_t{2} * plan.num_slices * p.num_heads;
  if (plan.num_slices > 1 && !p.tickets) {
    p.tickets =
        reinterpret_cast<std::uint32_t*>(static_cast<float*>(p.workspace) + states * (p.head_dim + 1));
    launch_clear_tickets(p.tickets, p.batch * p.num_heads, context);
  }
  LaunchRecord record{kernel_name("decode_l3_stream_kernel", p.dtype, false),
                      {static_cast<unsigned>(units), static_cast<unsigned>(plan.num_slices), 1},
                      {static_cast<unsigned>(32 * plan.num_warps), 1, 1},
                      l3_decode_shared_bytes(p.head_dim, heads, plan.num_warps)};
  record.bytes = attention_bytes(p, total_k);
  // The ends between slices cut sequences into that many more pieces, each a partial written and read.
  if (plan.num_slices > 1) record.bytes += 2 * (states / 2) * (p.head_dim + 1) * sizeof(float);
  record.flop = 4ULL * total_k * p.num_heads * p.head_dim;
  const auto launch = [&](auto type, auto dim) {
    using T = typename decltype(type)::type;
    constexpr int kDim = decltype(dim)::value;
    const StreamDivisors by(p, plan.num_slices);
    const auto with = [&](auto kernel) { launch_kernel(context, record, kernel, p, plan, by); };
    const bool one_tile = heads <= 8;
    if (plan.num_warps == 4 && one_tile) return with(decode_l3_stream_kernel<T, kDim, 1, 4>);
    if (plan.num_warps == 4) return with(decode_l3_stream_kernel<T, kDim, 2, 4>);
    if (plan.num_warps == 2) return with(decode_l3_stream_kernel<T, kDim, 2, 2>);
    if constexpr (kDim == 128) {
      if (plan.num_warps == 10) return with(decode_l3_stream_kernel<T, kDim, 1, 10>);
      if (plan.num_warps == 8) return with(decode_l3_stream_kernel<T, kDim, 1, 8>);
      if (plan.num_warps == 6) return with(decode_l3_stream_kernel<T, kDim, 2, 6>);
    }
    ATTN_CHECK(false, "decode_attention: no level 3 kernel of {} warps", plan.num_warps);
  };
  const auto launch_type = [&](auto type) {
    if (p.head_dim == 64) return launch(type, std::integral_constant<int, 64>{});
    launch(type, std::integral_constant<int, 128>{});
  };
  if (p.dtype == DType::bf16) return launch_type(Type<__nv_bfloat16>{});
  launch_type(Type<__half>{});
}

inline void launch_decode_attention(const DecodeParams& p, LaunchContext& context) {
  ATTN_CHECK(p.batch >= 0 && p.max_len >= 0, "decode_attention: batch {}, max_len {}", p.batch, p.max_len);
  if (p.batch == 0) return;
  ATTN_CHECK(p.num_kv_heads > 0, "decode_attention: {} KV heads", p.num_kv_heads);
  const DecodePlan plan = plan_decode(p, context.traits);
  check_attention("decode_attention", p, 3, plan.workspace_bytes, plan.num_k_tiles);
  ATTN_CHECK(p.form == DecodeForm::dense_padded || p.context_lens, "decode_attention: context_lens is null");
  ATTN_CHECK((p.form == DecodeForm::paged) == (p.block_tables != nullptr),
             "decode_attention: block_tables go with the paged form and with no other");

  // Lengths live on the device; without a hint, and where pads are attended, max_len counts for each
  // sequence.
  const bool exact = p.total_k_hint > 0 && p.form != DecodeForm::dense_padded;
  const std::int64_t total_k = exact ? p.total_k_hint : std::int64_t{p.batch} * p.max_len;
  const std::int64_t seen_k = keys_seen(p, total_k);
  if (plan.level == 1) {
    launch_level1(p, seen_k, seen_k, context);
  } else if (plan.level == 3) {
    launch_decode_level3(p, plan, seen_k, context);
  } else {
    launch_decode_level2(p, plan, seen_k, context);
  }
  launch_probe_weights(p, total_k, context);
}

}  // namespace attn::ATTN_BACKEND
