// The names of EngineConfig's fields, once for everything that reads or writes them by name (scenario,
// trace manifest).
#pragma once

#include <concepts>
#include <type_traits>

#include "core/engine/config.h"

namespace attn {

/// Calls visit("block_size", config.block_size) and so on for every field, in the order of the struct.
template <class Visit, class Config>
requires std::same_as<std::remove_const_t<Config>, EngineConfig>
void visit_fields(Visit&& visit, Config& config) {
  visit("block_size", config.block_size);
  visit("num_blocks", config.num_blocks);
  visit("max_num_seqs", config.max_num_seqs);
  visit("max_num_batched_tokens", config.max_num_batched_tokens);
  visit("max_model_len", config.max_model_len);
  visit("kv_cache", config.kv_cache);
  visit("prefix_caching", config.prefix_caching);
  visit("decode_path", config.decode_path);
  visit("repeat_kv", config.repeat_kv);
  visit("prefill_path", config.prefill_path);
  visit("prefill_level", config.prefill_level);
  visit("decode_level", config.decode_level);
  visit("num_splits", config.num_splits);
  visit("k_tile", config.k_tile);
  visit("mask_alignment", config.mask_alignment);
  visit("free_list", config.free_list);
  visit("free_list_seed", config.free_list_seed);
  visit("policy", config.policy);
  visit("warmup", config.warmup);
  visit("warmup_identity", config.warmup_identity);
  visit("seed", config.seed);
  visit("record_layers", config.record_layers);
  visit("scores", config.scores);
  visit("cuda_graphs", config.cuda_graphs);
  visit("head_map", config.head_map);
  visit("forget_store", config.forget_store);
  visit("stale_hash", config.stale_hash);
  visit("positions_restart", config.positions_restart);
  visit("cu_seqlens_k_from_q", config.cu_seqlens_k_from_q);
  visit("identity_decode", config.identity_decode);
  visit("graph_skip_cache_ops", config.graph_skip_cache_ops);
}

}  // namespace attn
