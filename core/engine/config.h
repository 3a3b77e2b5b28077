// Everything that decides what the engine does. Plain values; the scenario fills them.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/common/mask.h"

namespace attn {

enum class DecodePath : std::uint8_t { paged, gather_masked, gather_padded };
enum class PrefillPath : std::uint8_t { paged, gather_flatten };  // both packed when nothing is cached
enum class FreeListOrder : std::uint8_t { ordered, scrambled };
enum class Scores : std::uint8_t { computed, zero, two, minus_two };  // or every score is that number
enum class HashPolicy : std::uint8_t { head, old };  // head: hash after the forward; old: at allocate

/// Highest level of each attention operation (kernels/attention); 1 is the lowest.
inline constexpr int kPrefillLevels = 4;
inline constexpr int kDecodeLevels = 3;

/// Names follow nano-vllm's Config; limits in tokens, sequences and blocks.
struct EngineConfig {
  int block_size = 16;  // tokens per block, any >= 1
  int num_blocks = 64;  // pool size
  int max_num_seqs = 8;
  int max_num_batched_tokens = 512;  // token budget of one prefill step
  int max_model_len = 0;             // 0 = the model's max_position_embeddings
  bool kv_cache = true;  // false: nothing is kept between steps, each computes its sequences whole again
  bool prefix_caching = true;
  DecodePath decode_path = DecodePath::paged;
  bool repeat_kv = true;  // decode's gather paths copy K and V for every query head; false: they share
  PrefillPath prefill_path = PrefillPath::paged;
  int prefill_level = 2;
  int decode_level = 2;
  int num_splits = 0;  // decode split-KV; 0 = plan chooses
  int k_tile = 0;      // keys per tile of the online softmax, from level 2 on; 0 = plan chooses
  MaskAlignment mask_alignment = MaskAlignment::bottom_right;
  FreeListOrder free_list = FreeListOrder::ordered;
  std::uint64_t free_list_seed = 0;
  HashPolicy policy = HashPolicy::head;
  bool warmup = false;               // record nano-vllm's warmup forward as step 0
  bool warmup_identity = false;      // the gather variant's guard: no context -> attention returns q
  std::uint64_t seed = 0;            // sampling
  int record_layers = -1;            // layers whose q, k, v, o are traced: -1 all, 0 none, n first n
  Scores scores = Scores::computed;  // else q and k are set so that every score of a key is that number
  bool cuda_graphs = false;          // decode steps are captured once per bucket size and replayed

  // "Break it": each makes the engine do what a known bug does. What exactly, and what shows: switches.cpp.
  HeadMap head_map = HeadMap::grouped;  // modulo: query head h reads KV head h % Hkv
  int forget_store = -1;                // step in which one row is not stored; -1 = none
  bool stale_hash = false;              // a block that is taken again can still be hit by its old hash
  bool positions_restart = false;       // a prefill after a cached prefix counts positions from 0
  bool cu_seqlens_k_from_q = false;     // a prefill passes cu_seqlens_q as cu_seqlens_k
  bool identity_decode = false;         // decode gets no context: attention returns q
  bool graph_skip_cache_ops = false;    // graphs are captured without store and attention over the cache

  /// Throws InputError naming the field, its value and what is allowed.
  void validate() const;
};

}  // namespace attn
