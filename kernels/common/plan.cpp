#include "kernels/common/plan.h"

#include <algorithm>
#include <cstdint>

#include "kernels/common/check.h"
#include "kernels/common/tiles.h"

namespace attn {
namespace {

/// The tile asked for, or the largest that the kernel's shared memory holds.
int choose_k_tile(int requested, int head_dim) {
  const int largest = max_k_tile(head_dim);
  ATTN_CHECK(requested >= 0 && requested <= largest,
             "k_tile {} does not fit head_dim {}: choose 1 .. {}, or 0 for the plan's own", requested,
             head_dim, largest);
  return requested == 0 ? largest : requested;
}

std::size_t score_bytes(int num_heads, int num_rows, int max_keys) {
  return sizeof(float) * static_cast<std::size_t>(num_heads) * num_rows * max_keys;
}

/// Splits of the key range, flashinfer's idea: the smallest chunk of whole tiles for which all blocks still
/// run in one wave. With fewer units than SMs a decode would leave most of the machine idle; with more
/// splits than one wave holds, the second wave would cost as much as the first.
int auto_splits(int units, int num_tiles, int num_sms) {
  const int most = std::max(1, num_sms / std::max(1, units));  // splits per unit that fit the wave
  const int tiles_per_split = std::max(1, ceil_div(num_tiles, most));
  return std::max(1, ceil_div(num_tiles, tiles_per_split));
}

template <class Params>
int choose_level(const Params& p, const DeviceTraits& device) {
  int level = p.level;
  if (level == 4 && (!device.wgmma || (p.k_tile != 0 && p.k_tile != kL4KeyTile))) level = 3;
  if (level < 3) return level;
  const int own_tile = level == 4 ? kL4KeyTile : kL3KeyTile;
  const bool fits = device.tensor_cores && p.dtype != DType::f32 && (p.head_dim == 64 || p.head_dim == 128) &&
                    (p.k_tile == 0 || p.k_tile == own_tile) && !p.probe.wanted() && p.scale > 0.0F &&
                    (!p.block_tables || p.kv.block_size % kL3WarpKeys == 0);
  return fits ? level : 2;
}

/// Blocks of a level 3 decode: with head_dim 128 one an SM, of as many warps as have room, which leaves fewer
/// partials than several blocks would. A step of head_dim 64 is half the bytes for the same instructions:
/// more and smaller blocks hide them better (figures: NOTES.md of kernels/attention). The launcher knows
/// these numbers of warps and no others.
struct DecodeBlocks {
  int warps, per_sm;
};
DecodeBlocks choose_decode_blocks(int head_dim, int heads, std::size_t shared_bytes) {
  const auto fit = [&](int warps) {  // blocks of an SM
    return static_cast<int>(shared_bytes / l3_decode_shared_bytes(head_dim, heads, warps));
  };
  if (head_dim == 128 && heads <= 8 && fit(10) > 0) return {10, 1};
  if (head_dim == 128 && heads <= 8 && fit(8) > 0) return {8, 1};
  if (head_dim == 128 && heads > 8 && fit(6) > 0) return {6, 1};
  const int warps = fit(4) > 0 ? 4 : 2;
  return {warps, std::clamp(fit(warps), 1, head_dim == 64 ? 4 : 2)};
}

DecodePlan plan_decode_l3(const DecodeParams& params, const DeviceTraits& device) {
  const int group = params.num_heads / params.num_kv_heads;
  const int units = params.num_kv_heads * ceil_div(group, kL3DecodeRows);
  const DecodeBlocks blocks =
      choose_decode_blocks(params.head_dim, std::min(group, kL3DecodeRows), device.shared_bytes);
  DecodePlan plan;
  plan.level = 3;
  plan.k_tile = kL3KeyTile;
  plan.num_splits = params.num_splits;
  plan.num_k_tiles = ceil_div(params.max_len, plan.k_tile);
  plan.num_warps = blocks.warps;
  const int step = blocks.warps * kL3WarpKeys;
  const std::int64_t tiles = std::int64_t{params.batch} * std::max(1, ceil_div(params.max_len, step));
  const std::int64_t wanted = params.num_splits > 0 ? std::int64_t{params.num_splits} * params.batch
                                                    : std::max(1, blocks.per_sm * device.num_sms / units);
  plan.num_slices = static_cast<int>(std::min({wanted, tiles, std::int64_t{65535}}));
  const auto per_slice = static_cast<int>((tiles + plan.num_slices - 1) / plan.num_slices);
  plan.keys_per_split = std::max(ceil_div(kL3MinSliceKeys, step), per_slice) * step;
  if (plan.num_slices > 1) {  // a slice leaves at most two partials, of the sequences that its ends cut
    const std::size_t states = std::size_t{2} * plan.num_slices * params.num_heads;
    plan.workspace_bytes = sizeof(float) * states * (static_cast<std::size_t>(params.head_dim) + 1) +
                           sizeof(std::uint32_t) * static_cast<std::size_t>(params.batch) * params.num_heads;
  }
  return plan;
}

}  // namespace

int level_of(const PrefillParams& params, const DeviceTraits& device) { return choose_level(params, device); }
int level_of(const DecodeParams& params, const DeviceTraits& device) { return choose_level(params, device); }

PrefillPlan plan_prefill(const PrefillParams& params, const DeviceTraits& device) {
  PrefillPlan plan;
  plan.level = level_of(params, device);
  if (plan.level == 4) {
    plan.q_tile = l4_query_tile(params.head_dim);
    plan.k_tile = kL4KeyTile;
    plan.workspace_bytes = sizeof(std::uint32_t) * kPrefillTickets;
  } else if (plan.level == 3) {
    plan.q_tile = kL3QueryTile;
    plan.k_tile = kL3KeyTile;
  } else if (plan.level == 1) {  // one row at a time, all its keys as one tile, every score kept in memory
    plan.q_tile = 1;
    plan.k_tile = std::max(1, params.max_seqlen_k);
    plan.workspace_bytes = score_bytes(params.num_heads, params.total_q, params.max_seqlen_k);
  } else {
    plan.q_tile = kPrefillQTile;
    plan.k_tile = choose_k_tile(params.k_tile, params.head_dim);
  }
  plan.num_q_tiles = ceil_div(params.max_seqlen_q, plan.q_tile);
  plan.num_k_tiles = ceil_div(params.max_seqlen_k, plan.k_tile);
  return plan;
}

DecodePlan plan_decode(const DecodeParams& params, const DeviceTraits& device) {
  DecodePlan plan;
  plan.level = level_of(params, device);
  if (plan.level == 3) {
    // Room for level 2 as well: a probe set after planning, or a GPU without bf16 mma, makes it run instead.
    DecodeParams fallback = params;
    fallback.level = 2;
    plan = plan_decode_l3(params, device);
    plan.workspace_bytes = std::max(plan.workspace_bytes, plan_decode(fallback, device).workspace_bytes);
    return plan;
  }
  if (plan.level == 1) {
    plan.k_tile = std::max(1, params.max_len);
    plan.keys_per_split = plan.k_tile;
    plan.num_k_tiles = ceil_div(params.max_len, plan.k_tile);
    plan.workspace_bytes = score_bytes(params.num_heads, params.batch, params.max_len);
    return plan;
  }
  plan.k_tile = choose_k_tile(params.k_tile, params.head_dim);
  plan.num_k_tiles = ceil_div(params.max_len, plan.k_tile);
  const int group = params.num_heads / params.num_kv_heads;
  const int units = params.batch * params.num_kv_heads * ceil_div(group, kDecodeHeads);
  plan.num_splits =
      params.num_splits > 0 ? params.num_splits : auto_splits(units, plan.num_k_tiles, device.num_sms);
  // A number of splits that was asked for is kept even where the last ones get no key: they yield (0, -inf).
  plan.keys_per_split = std::max(1, ceil_div(plan.num_k_tiles, plan.num_splits)) * plan.k_tile;
  if (plan.num_splits > 1) {
    const std::size_t states = static_cast<std::size_t>(plan.num_splits) * params.batch * params.num_heads;
    plan.workspace_bytes = sizeof(float) * states * (static_cast<std::size_t>(params.head_dim) + 1);
  }
  return plan;
}

}  // namespace attn
