#include "viz/pool_facts.h"

#include <algorithm>

#include "viz/lookup.h"

namespace attn::viz {
namespace {

/// The entry of physical block `id`, or null when a table names a block the pool does not have.
BlockFacts* facts_of(std::vector<BlockFacts>& facts, int id) {
  return id >= 0 && static_cast<std::size_t>(id) < facts.size() ? &facts[static_cast<std::size_t>(id)]
                                                                : nullptr;
}

void add_owner(std::vector<BlockFacts>& facts, const trace::StepRecord& step, const trace::SeqState& seq,
               int block_size) {
  for (std::size_t i = 0; i < seq.block_table.size(); ++i) {
    BlockFacts* block = facts_of(facts, seq.block_table[i]);
    if (block == nullptr) continue;
    block->owners.push_back(seq.id);
    if (!block->tokens.empty()) continue;
    const std::size_t from = i * static_cast<std::size_t>(block_size);
    const auto filled = static_cast<std::size_t>(
        std::max(0, step.blocks[static_cast<std::size_t>(seq.block_table[i])].num_filled));
    for (std::size_t k = from; k < from + filled && k < seq.token_ids.size(); ++k)
      block->tokens.push_back(seq.token_ids[k]);
  }
}

}  // namespace

PoolCounts count_blocks(const trace::StepRecord& step) {
  PoolCounts counts;
  for (const trace::BlockState& block : step.blocks) {
    ++(block.ref_count > 0 ? counts.used : block.hash ? counts.cached_free : counts.free);
  }
  return counts;
}

std::vector<BlockFacts> gather_facts(const Frame& frame) {
  const trace::StepRecord& step = *frame.step;
  std::vector<BlockFacts> facts(step.blocks.size());
  const int block_size = std::max(1, step.config.block_size);
  for (std::size_t i = 0; i < step.blocks.size(); ++i) facts[i].tokens = step.blocks[i].token_ids;
  for (const trace::SeqState& seq : step.seqs_after) add_owner(facts, step, seq, block_size);
  for (const std::int32_t slot : step.slot_mapping) {
    if (slot < 0 || !step.stored) continue;  // -1: a row that stores nothing
    BlockFacts* block = facts_of(facts, slot / block_size);
    if (block == nullptr) continue;
    block->written_offsets.push_back(slot % block_size);
    ++block->written;
  }
  if (!reads_cache(step)) return facts;
  for (int b = 0; b < step.num_scheduled && static_cast<std::size_t>(b) < step.seqs.size(); ++b) {
    const trace::SeqState& seq = step.seqs[static_cast<std::size_t>(b)];
    const int keys = batch_rows(frame, seq.id).k_len;
    for (int k = 0; k < keys; k += block_size) {
      if (BlockFacts* block = facts_of(facts, block_of(seq, k, block_size))) block->read = true;
    }
  }
  return facts;
}

}  // namespace attn::viz
