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

}  // namespace

PrefillPlan plan_prefill(const PrefillParams& params) {
  PrefillPlan plan;
  if (params.level == 1) {  // one row at a time, all its keys as one tile, every score kept in memory
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

DecodePlan plan_decode(const DecodeParams& params, int num_sms) {
  DecodePlan plan;
  if (params.level == 1) {
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
  plan.num_splits = params.num_splits > 0 ? params.num_splits : auto_splits(units, plan.num_k_tiles, num_sms);
  // A number of splits that was asked for is kept even where the last ones get no key: they yield (0, -inf).
  plan.keys_per_split = std::max(1, ceil_div(plan.num_k_tiles, plan.num_splits)) * plan.k_tile;
  if (plan.num_splits > 1) {
    const std::size_t states = static_cast<std::size_t>(plan.num_splits) * params.batch * params.num_heads;
    plan.workspace_bytes = sizeof(float) * states * (static_cast<std::size_t>(params.head_dim) + 1);
  }
  return plan;
}

}  // namespace attn
