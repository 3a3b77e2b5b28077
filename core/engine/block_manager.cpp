#include "core/engine/block_manager.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/common/check.h"

namespace attn {

using trace::EventKind;

namespace {

/// Fisher-Yates with splitmix64 (Steele, Lea, Flood 2014): the same order with every standard library.
void scramble(std::deque<int>& ids, std::uint64_t seed) {
  for (std::size_t i = ids.size(); i > 1; --i) {
    seed += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    std::swap(ids[i - 1], ids[(z ^ (z >> 31)) % i]);
  }
}

}  // namespace

BlockManager::BlockManager(const EngineConfig& config, StepLog& log, HashFunction hash)
    : block_size_(config.block_size),
      prefix_caching_(config.prefix_caching),
      policy_(config.policy),
      stale_hash_(config.stale_hash),
      log_(log),
      hash_(std::move(hash)),
      blocks_(static_cast<std::size_t>(config.num_blocks)),
      free_block_ids_(static_cast<std::size_t>(config.num_blocks)) {
  for (int i = 0; i < config.num_blocks; ++i) blocks_[i].block_id = i;
  std::iota(free_block_ids_.begin(), free_block_ids_.end(), 0);
  if (config.free_list == FreeListOrder::scrambled) scramble(free_block_ids_, config.free_list_seed);
}

std::uint64_t BlockManager::compute_hash(std::span<const std::int32_t> tokens, Hash prefix) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<std::int64_t> words;
  words.reserve(tokens.size() + 1);
  if (prefix) words.push_back(static_cast<std::int64_t>(*prefix));
  words.insert(words.end(), tokens.begin(), tokens.end());
  return XXH64(words.data(), words.size() * sizeof(std::int64_t), 0);
}

int BlockManager::find_hit(std::span<const std::int32_t> tokens, std::uint64_t hash) const {
  const auto entry = hash_to_block_id_.find(hash);
  if (entry == hash_to_block_id_.end()) return -1;
  const bool trusted = stale_hash_ || holds(entry->second, tokens);
  return trusted ? entry->second : -1;
}

bool BlockManager::holds(int block_id, std::span<const std::int32_t> tokens) const {
  return std::ranges::equal(blocks_[block_id].token_ids, tokens);
}

int BlockManager::can_allocate(const Sequence& seq) const {
  int num_cached_blocks = 0;
  int num_new_blocks = seq.num_blocks();  // hits that lie on the free list still need their place there
  Hash hash;
  for (int i = 0; prefix_caching_ && i < seq.num_blocks() - 1; ++i) {
    hash = hash_(seq.block(i), hash);
    const int block_id = find_hit(seq.block(i), *hash);
    if (block_id < 0) break;
    ++num_cached_blocks;
    if (policy_ == HashPolicy::head && blocks_[block_id].ref_count > 0) --num_new_blocks;
  }
  return static_cast<int>(free_block_ids_.size()) < num_new_blocks ? -1 : num_cached_blocks;
}

void BlockManager::allocate(Sequence& seq, int num_cached_blocks) {
  ATTN_CHECK(seq.block_table.empty(), "sequence {} already has {} blocks", seq.seq_id,
             seq.block_table.size());
  Hash hash;
  for (int i = 0; i < seq.num_blocks(); ++i) {
    const std::span<const std::int32_t> tokens = seq.block(i);
    const bool full = static_cast<int>(tokens.size()) == block_size_;
    if (prefix_caching_ && full) hash = hash_(tokens, hash);
    if (i < num_cached_blocks) {
      take_hit(seq, i, hash_to_block_id_.at(*hash));
    } else {
      seq.block_table.push_back(allocate_block(seq.seq_id));
    }
    if (policy_ == HashPolicy::old && prefix_caching_ && full) {
      register_block(seq.seq_id, seq.block_table.back(), tokens, *hash);
    }
  }
  seq.num_cached_tokens = num_cached_blocks * block_size_;
}

void BlockManager::take_hit(Sequence& seq, int index, int block_id) {
  Block& block = blocks_[block_id];
  const bool in_use = block.ref_count > 0;
  const std::string_view then = in_use ? "" : "; it leaves the free list";
  const int first = index * block_size_, last = first + block_size_ - 1;
  log_.add(EventKind::prefix_hit, seq.seq_id, block_id,
           holds(block_id, seq.block(index))
               ? fmt::format("Block {} already holds tokens {} to {} of sequence {}{}.", block_id, first,
                             last, seq.seq_id, then)
               : fmt::format("Block {} is hit by a stale hash for tokens {} to {} of sequence {}, but holds "
                             "another text{}.",
                             block_id, first, last, seq.seq_id, then));
  ++block.ref_count;
  if (in_use) {
    log_.add(EventKind::share, seq.seq_id, block_id,
             fmt::format("Block {} is now shared by {} sequences.", block_id, block.ref_count));
  } else {
    free_block_ids_.erase(std::ranges::find(free_block_ids_, block_id));
  }
  seq.block_table.push_back(block_id);
}

int BlockManager::allocate_block(int seq_id) {
  ATTN_CHECK(!free_block_ids_.empty(), "no free block for sequence {}", seq_id);
  const int block_id = free_block_ids_.front();
  free_block_ids_.pop_front();
  Block& block = blocks_[block_id];
  ATTN_CHECK(block.ref_count == 0, "block {} is free with ref_count {}", block_id, block.ref_count);
  if (policy_ == HashPolicy::head && block.hash) {
    const auto entry = hash_to_block_id_.find(*block.hash);
    if (entry != hash_to_block_id_.end() && entry->second == block_id) {
      log_.add(EventKind::evict, seq_id, block_id,
               fmt::format("Block {} is taken again: its cached tokens (hash 0x{:016x}) are {}.", block_id,
                           *block.hash, stale_hash_ ? "gone, but the hash still leads here" : "forgotten"));
      if (!stale_hash_) hash_to_block_id_.erase(entry);
    }
  }
  block = {.block_id = block_id, .ref_count = 1, .hash = {}, .token_ids = {}, .num_filled = 0};
  log_.add(EventKind::allocate, seq_id, block_id,
           fmt::format("Sequence {} takes block {} from the head of the free list.", seq_id, block_id));
  return block_id;
}

void BlockManager::deallocate(Sequence& seq) {
  for (auto it = seq.block_table.rbegin(); it != seq.block_table.rend(); ++it) {
    Block& block = blocks_[*it];
    --block.ref_count;
    if (block.ref_count > 0) continue;
    free_block_ids_.push_back(block.block_id);
    if (!block.hash) block.num_filled = 0;  // nobody can find these values again
    log_.add(EventKind::free, seq.seq_id, block.block_id,
             fmt::format("Block {} goes to the tail of the free list{}.", block.block_id,
                         block.hash ? " and keeps its tokens until it is taken again" : ""));
  }
  seq.num_cached_tokens = 0;
  seq.block_table.clear();
}

bool BlockManager::opens_block(const Sequence& seq) const {
  // nano-vllm asks len % bs == 1, the same for bs > 1; with bs 1 every token opens a block.
  return (seq.num_tokens() - 1) % block_size_ == 0;
}

bool BlockManager::can_append(const Sequence& seq) const {
  return !opens_block(seq) || !free_block_ids_.empty();
}

void BlockManager::may_append(Sequence& seq) {
  if (opens_block(seq)) seq.block_table.push_back(allocate_block(seq.seq_id));
  if (policy_ == HashPolicy::old && prefix_caching_ && seq.num_tokens() % block_size_ == 0) {
    const int last = seq.num_blocks() - 1;
    const Hash prefix = last > 0 ? blocks_[seq.block_table[last - 1]].hash : Hash{};
    register_block(seq.seq_id, seq.block_table[last], seq.block(last), hash_(seq.block(last), prefix));
  }
}

void BlockManager::mark_filled(const Sequence& seq) {
  const int begin = seq.num_cached_tokens;
  const int end = begin + seq.num_scheduled_tokens;
  for (int pos = begin; pos < end; ++pos) {
    Block& block = blocks_[seq.block_table[pos / block_size_]];
    block.num_filled = std::max(block.num_filled, pos % block_size_ + 1);
  }
}

void BlockManager::hash_blocks(const Sequence& seq) {
  if (!prefix_caching_ || policy_ == HashPolicy::old) return;
  const int begin = seq.num_cached_tokens / block_size_;
  const int end = (seq.num_cached_tokens + seq.num_scheduled_tokens) / block_size_;
  Hash hash = begin > 0 ? blocks_[seq.block_table[begin - 1]].hash : Hash{};
  for (int i = begin; i < end; ++i) {
    hash = hash_(seq.block(i), hash);
    register_block(seq.seq_id, seq.block_table[i], seq.block(i), *hash);
  }
}

void BlockManager::register_block(int seq_id, int block_id, std::span<const std::int32_t> tokens,
                                  std::uint64_t hash) {
  Block& block = blocks_[block_id];
  if (block.hash == hash && hash_to_block_id_.contains(hash) && hash_to_block_id_.at(hash) == block_id)
    return;
  block.hash = hash;
  block.token_ids.assign(tokens.begin(), tokens.end());
  const auto [entry, inserted] = hash_to_block_id_.insert_or_assign(hash, block_id);
  log_.add(EventKind::hash, seq_id, block_id,
           fmt::format("Block {} is full and can be found by hash 0x{:016x}{}.", block_id, hash,
                       inserted ? "" : ", in place of an older copy"));
}

bool BlockManager::can_ever_hold(int num_tokens) const {
  return (num_tokens + block_size_ - 1) / block_size_ <= static_cast<int>(blocks_.size());
}

void BlockManager::snapshot(trace::StepRecord& record) const {
  record.free_blocks.assign(free_block_ids_.begin(), free_block_ids_.end());
  record.hash_to_block.assign(hash_to_block_id_.begin(), hash_to_block_id_.end());
  std::ranges::sort(record.hash_to_block);
  record.blocks.clear();
  for (const Block& block : blocks_) {
    record.blocks.push_back({block.block_id, block.ref_count, block.hash, block.token_ids, block.num_filled});
  }
}

}  // namespace attn
