// What the prefill and decode launchers share: validation, the three kernels of level 1, the weights of a
// probed launch, and the choices made at compile time (element type, head_dim bucket, probe).
#pragma once

#include <string>
#include <type_traits>

#include "kernels/attention/attention_rows.cuh"
#include "kernels/attention/l1_naive.cuh"
#include "kernels/common/chunk.cuh"
#include "kernels/common/probe.h"

namespace attn::ATTN_BACKEND {

/// Last step of a probe: the scores noted in `weights` become softmax weights exp(score - lse). It runs after
/// the launch (and the merge of its splits), when lse covers all keys. grid (queries, key tiles, B * H).
template <class Params>
__global__ void probe_weights_kernel(Params p) {
  const int i = blockIdx.x;
  const int b = blockIdx.z / p.num_heads, h = blockIdx.z % p.num_heads;
  const int j = blockIdx.y * blockDim.x + threadIdx.x;
  const AttentionSeq seq = attention_seq(p, b);
  if (i >= seq.q_len || j >= visible_to(p, seq, i)) return;
  const std::int64_t at = h * num_q_rows(p) + seq.first_q + i;
  float* weight = p.probe.weights + at * p.probe.max_k + j;
  *weight = expf(*weight - p.lse[at]);
}

static __global__ void clear_tickets_kernel(std::uint32_t* tickets, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) tickets[i] = 0;
}
/// For callers that keep no tickets of their own.
inline void launch_clear_tickets(std::uint32_t* tickets, int count, LaunchContext& context) {
  LaunchRecord record{"clear_tickets_kernel",
                      {static_cast<unsigned>(ceil_div(count, kAttentionThreads)), 1, 1},
                      {kAttentionThreads, 1, 1}};
  record.bytes = sizeof(std::uint32_t) * static_cast<std::uint64_t>(count);
  launch_kernel(context, record, clear_tickets_kernel, tickets, count);
}

/// Throws unless the params describe tensors a kernel can read.
template <class Params>
void check_attention(const char* op, const Params& p, int highest_level, std::size_t workspace_needed,
                     int num_k_tiles) {
  ATTN_CHECK(p.level >= 1 && p.level <= highest_level, "{}: level {} does not exist; levels are 1 to {}", op,
             p.level, highest_level);
  ATTN_CHECK(p.head_dim > 0 && p.head_dim % 8 == 0 && p.head_dim <= kMaxHeadDim,
             "{}: head_dim {} is not a multiple of 8 up to {}", op, p.head_dim, kMaxHeadDim);
  ATTN_CHECK(p.num_kv_heads > 0 && p.num_heads > 0 && p.num_heads % p.num_kv_heads == 0,
             "{}: {} heads do not divide into {} KV heads", op, p.num_heads, p.num_kv_heads);
  ATTN_CHECK(p.q && p.o && p.lse, "{}: q, o or lse is null", op);
  ATTN_CHECK(max_keys(p) == 0 || (p.k && p.v), "{}: k or v is null", op);
  check_aligned(p.q, op);
  check_aligned(p.k, op);
  check_aligned(p.v, op);
  check_aligned(p.o, op);
  if (p.block_tables) {
    ATTN_CHECK(p.kv.block_size > 0 && p.kv.num_kv_heads == p.num_kv_heads && p.kv.head_dim == p.head_dim,
               "{}: cache of {} KV heads x {} in blocks of {}, but attention has {} x {}", op,
               p.kv.num_kv_heads, p.kv.head_dim, p.kv.block_size, p.num_kv_heads, p.head_dim);
    ATTN_CHECK(max_keys(p) <= static_cast<std::int64_t>(p.block_table_width) * p.kv.block_size,
               "{}: {} keys are beyond the block table ({} blocks of {})", op, max_keys(p),
               p.block_table_width, p.kv.block_size);
  }
  ATTN_CHECK(p.workspace_bytes >= workspace_needed && (workspace_needed == 0 || p.workspace),
             "{}: workspace of {} bytes, the plan needs {}", op, p.workspace_bytes, workspace_needed);
  const ProbeBuffers& probe = p.probe;
  ATTN_CHECK(!(probe.scores || probe.weights) || probe.max_k >= max_keys(p),
             "{}: probe has {} columns for {} keys", op, probe.max_k, max_keys(p));
  ATTN_CHECK(!(probe.tile_m || probe.tile_l || probe.tile_alpha || probe.tile_o_norm) ||
                 probe.max_tiles >= num_k_tiles,
             "{}: probe has {} columns for {} tiles", op, probe.max_tiles, num_k_tiles);
  // Level 1 and the weights of a probe put batch x heads on grid.z, the others the batch alone.
  const std::int64_t grid_z = p.level >= 2 && !probe.weights ? p.batch : std::int64_t{p.batch} * p.num_heads;
  ATTN_CHECK(grid_z <= 65535, "{}: batch {} x {} heads is beyond the grid's 65535", op, p.batch, p.num_heads);
}

/// Of so many keys those that some query sees: hung from the top left, a sequence's queries see no more keys
/// than they are, and kernels load no others.
template <class Params>
std::int64_t keys_seen(const Params& p, std::int64_t total_k) {
  const std::int64_t queries = num_q_rows(p);
  return p.mask == MaskAlignment::top_left && queries < total_k ? queries : total_k;
}

/// Data an attention launch must move: q, o, lse and the K and V rows of `total_k` keys, once each.
template <class Params>
std::uint64_t attention_bytes(const Params& p, std::int64_t total_k) {
  const std::uint64_t size = dtype_size(p.dtype), head_dim = p.head_dim;
  const std::uint64_t q_rows = static_cast<std::uint64_t>(num_q_rows(p)) * p.num_heads;
  return q_rows * (2 * head_dim * size + sizeof(float)) + 2ULL * total_k * p.num_kv_heads * head_dim * size;
}

inline std::string kernel_name(const char* kernel, DType dtype, bool probed) {
  return std::string(kernel) + "<" + element_name(dtype) + (probed ? ", StateProbe>" : ">");
}

/// Calls f(kDim) with the head_dim bucket as a compile-time constant.
template <class F>
void dispatch_head_dim(int head_dim, F&& f) {
  switch (head_dim_bucket(head_dim)) {
    case 64:
      return f(std::integral_constant<int, 64>{});
    case 128:
      return f(std::integral_constant<int, 128>{});
    default:
      return f(std::integral_constant<int, 256>{});
  }
}

/// Calls f with NoProbe or StateProbe.
template <class F>
void dispatch_probe(bool probed, F&& f) {
  if (probed) return f(Type<StateProbe>{});
  f(Type<NoProbe>{});
}

/// Level 1: scores, softmax, values. `pairs`: visible (query, key) pairs of one head, for the records.
template <class Params>
void launch_level1(const Params& p, std::uint64_t pairs, std::int64_t total_k, LaunchContext& context) {
  const unsigned queries = static_cast<unsigned>(max_queries(p)),
                 batch_heads = static_cast<unsigned>(p.batch * p.num_heads);
  const auto tiles = [](int n) { return static_cast<unsigned>(ceil_div(n, kAttentionThreads)); };
  const std::uint64_t score_bytes = pairs * p.num_heads * sizeof(float);
  const std::uint64_t tensor_bytes = attention_bytes(p, total_k) / 2;  // q and K, then V and o
  const bool probed = p.probe.wanted();
  LaunchRecord scores{kernel_name("attention_l1_scores_kernel", p.dtype, probed),
                      {queries, tiles(max_keys(p)), batch_heads},
                      {kAttentionThreads, 1, 1}};
  scores.bytes = tensor_bytes + score_bytes;
  scores.flop = 2 * pairs * p.num_heads * p.head_dim;
  LaunchRecord softmax{kernel_name("attention_l1_softmax_kernel", p.dtype, probed),
                       {tiles(max_queries(p)), 1, batch_heads},
                       {kAttentionThreads, 1, 1}};
  softmax.bytes = 2 * score_bytes;
  softmax.flop = 4 * pairs * p.num_heads;
  LaunchRecord values{kernel_name("attention_l1_values_kernel", p.dtype, false),
                      {queries, 1, batch_heads},
                      {static_cast<unsigned>(p.head_dim), 1, 1}};
  values.bytes = tensor_bytes + score_bytes;
  values.flop = 2 * pairs * p.num_heads * p.head_dim;
  dispatch_dtype(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    dispatch_probe(probed, [&](auto probe) {
      using Probe = typename decltype(probe)::type;
      if (max_keys(p) > 0) launch_kernel(context, scores, attention_l1_scores_kernel<T, Probe, Params>, p);
      launch_kernel(context, softmax, attention_l1_softmax_kernel<T, Probe, Params>, p);
      launch_kernel(context, values, attention_l1_values_kernel<T, Params>, p);
    });
  });
}

/// Finishes a probed launch; does nothing when no weights are wanted.
template <class Params>
void launch_probe_weights(const Params& p, std::uint64_t pairs, LaunchContext& context) {
  if (!p.probe.weights || max_keys(p) == 0) return;
  LaunchRecord record{
      "probe_weights_kernel",
      {static_cast<unsigned>(max_queries(p)), static_cast<unsigned>(ceil_div(max_keys(p), kAttentionThreads)),
       static_cast<unsigned>(p.batch * p.num_heads)},
      {kAttentionThreads, 1, 1}};
  record.bytes = pairs * p.num_heads * 2 * sizeof(float);
  record.flop = pairs * p.num_heads;
  launch_kernel(context, record, probe_weights_kernel<Params>, p);
}

}  // namespace attn::ATTN_BACKEND
