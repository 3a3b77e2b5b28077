// The block pool: who uses which block, which full blocks can be found again by the hash of everything
// before and in them, and in which order free blocks are taken.
//
// Behaviour of nano-vllm's BlockManager: full blocks only are shared, the key of a block is the chain
// xxh64(previous hash, its tokens), a hit also compares the block's own tokens, freed blocks keep hash and
// contents until they are taken again (lazy eviction), free blocks are taken from the left of the list and
// given back on its right, a sequence's last block is never a hit (at least one token is computed).
// HashPolicy::old is the version before chunked prefill: blocks are registered when they are allocated, that
// is before their K/V exists, and map entries are never removed, so a stale one can give a false hit
// (nano-vllm issue 163). Its full-last-block hit, which crashes nano-vllm (issue 144), is left out.
// The switch stale_hash takes away both safeguards against that: a block that is taken again keeps the map
// entry of its old contents, and a hit trusts the entry without comparing tokens. A prompt whose block was
// evicted then shares the block of whoever has it now.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/engine/config.h"
#include "core/engine/sequence.h"
#include "core/engine/step_log.h"

namespace attn {

struct Block {
  int block_id = 0;
  int ref_count = 0;                    // 0 = on the free list
  std::optional<std::uint64_t> hash;    // set while the block is full and registered, kept when free
  std::vector<std::int32_t> token_ids;  // its tokens, kept as long as the hash
  int num_filled = 0;                   // slots that hold computed K/V somebody can still read
};

class BlockManager {
 public:
  using Hash = std::optional<std::uint64_t>;  // nothing: before the first block
  using HashFunction = std::function<std::uint64_t(std::span<const std::int32_t> tokens, Hash prefix)>;

  /// `log` outlives the manager. Another hash than compute_hash is for tests of collisions.
  BlockManager(const EngineConfig& config, StepLog& log, HashFunction hash = compute_hash);

  /// xxh64, seed 0, over the previous hash (8 bytes little-endian, left out for the first block) and the
  /// tokens as int64 little-endian.
  static std::uint64_t compute_hash(std::span<const std::int32_t> tokens, Hash prefix);

  /// Number of leading blocks found in the cache, or -1 when the rest does not fit the free list.
  int can_allocate(const Sequence& seq) const;
  /// Takes all blocks of the sequence: the first `num_cached_blocks` from the cache, the others free ones.
  void allocate(Sequence& seq, int num_cached_blocks);
  /// Gives all blocks back, last first, so that the tail of a prompt is evicted before its head.
  void deallocate(Sequence& seq);

  /// The last token is already appended: a block is needed iff that token opens one.
  bool can_append(const Sequence& seq) const;
  void may_append(Sequence& seq);

  /// After the forward, before num_cached_tokens moves on: notes the slots that now hold K/V, and registers
  /// the blocks that became full.
  void mark_filled(const Sequence& seq);
  void hash_blocks(const Sequence& seq);

  /// Whether that many tokens fit the pool when nobody else uses it.
  bool can_ever_hold(int num_tokens) const;

  const std::vector<Block>& blocks() const { return blocks_; }
  const std::deque<int>& free_block_ids() const { return free_block_ids_; }
  const std::unordered_map<std::uint64_t, int>& hash_to_block_id() const { return hash_to_block_id_; }
  /// Pool, free list and hash map as the trace keeps them.
  void snapshot(trace::StepRecord& record) const;

 private:
  int find_hit(std::span<const std::int32_t> tokens, std::uint64_t hash) const;
  bool holds(int block_id, std::span<const std::int32_t> tokens) const;
  bool opens_block(const Sequence& seq) const;
  int allocate_block(int seq_id);
  void take_hit(Sequence& seq, int index, int block_id);
  void register_block(int seq_id, int block_id, std::span<const std::int32_t> tokens, std::uint64_t hash);

  int block_size_;
  bool prefix_caching_;
  HashPolicy policy_;
  bool stale_hash_;
  StepLog& log_;
  HashFunction hash_;
  std::vector<Block> blocks_;
  std::deque<int> free_block_ids_;
  std::unordered_map<std::uint64_t, int> hash_to_block_id_;
};

}  // namespace attn
