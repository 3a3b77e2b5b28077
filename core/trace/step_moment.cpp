#include "core/trace/step_moment.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace attn::trace {
namespace {

/// How a block stood while the step ran.
struct Held {
  int refs = 0;
  int filled = 0;                                     // slots that a holder's computed tokens reach
  int first_write = std::numeric_limits<int>::max();  // lowest slot that this step stores into
  bool registered = false;                            // by this step's commit
};

std::vector<Held> held_blocks(const StepRecord& step, bool stored) {
  std::vector<Held> held(step.blocks.size());
  const int size = std::max(1, step.config.block_size);
  const auto known = [&](std::int64_t id) { return id >= 0 && id < static_cast<std::int64_t>(held.size()); };
  for (const SeqState& seq : step.seqs) {
    const int computed = seq.num_cached_tokens + (stored ? seq.num_scheduled_tokens : 0);
    for (std::size_t i = 0; i < seq.block_table.size(); ++i) {
      if (!known(seq.block_table[i])) continue;
      Held& block = held[static_cast<std::size_t>(seq.block_table[i])];
      ++block.refs;
      block.filled = std::max(block.filled, std::clamp(computed - static_cast<int>(i) * size, 0, size));
    }
  }
  for (const std::int32_t slot : step.slot_mapping) {
    if (slot < 0 || !known(slot / size)) continue;
    int& first = held[static_cast<std::size_t>(slot / size)].first_write;
    first = std::min(first, slot % size);
  }
  for (const Event& event : step.events) {
    // Under policy `old` blocks are registered as they are given out, else when they are full.
    if (event.kind == EventKind::hash && step.config.policy != HashPolicy::old && known(event.block_id))
      held[static_cast<std::size_t>(event.block_id)].registered = true;
  }
  return held;
}

bool gathers(AttentionPath path) {
  return path == AttentionPath::prefill_gather_flatten || path == AttentionPath::decode_gather_masked ||
         path == AttentionPath::decode_gather_padded;
}

}  // namespace

Moment after_stage(const StepRecord& step, Stage stage) {
  return {.stored = step.stored && stage >= Stage::store_kvcache,
          .read = stage >= (gathers(step.path) ? Stage::gather : Stage::attention),
          .sampled = stage >= Stage::sample,
          .committed = stage >= Stage::commit};
}

PoolState pool_at(const StepRecord& step, const Moment& moment) {
  PoolState pool{step.blocks, step.free_blocks};
  if (moment.committed) return pool;
  const std::vector<Held> held = held_blocks(step, moment.stored);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i].refs == 0) continue;  // nobody's: commit did nothing to it
    BlockState& block = pool.blocks[i];
    block.ref_count = held[i].refs;
    block.num_filled = moment.stored ? held[i].filled : std::min(held[i].filled, held[i].first_write);
    if (!held[i].registered) continue;
    block.hash.reset();
    block.token_ids.clear();
  }
  // Commit only adds to the queue, at its tail: what is held here is what it gave back.
  std::erase_if(pool.free_blocks, [&](std::int32_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < held.size() &&
           held[static_cast<std::size_t>(id)].refs > 0;
  });
  return pool;
}

namespace {

void copy_batch(StepRecord& to, const StepRecord& from) {
  to.cu_seqlens_q = from.cu_seqlens_q;
  to.cu_seqlens_k = from.cu_seqlens_k;
  to.max_seqlen_q = from.max_seqlen_q;
  to.max_seqlen_k = from.max_seqlen_k;
  to.context_lens = from.context_lens;
  to.block_tables = from.block_tables;
  to.slot_mapping = from.slot_mapping;
  to.input_ids = from.input_ids;
  to.positions = from.positions;
}

/// The hash map before commit: what scheduling took out of it is gone, what commit registers is not there.
std::vector<std::pair<std::uint64_t, std::int32_t>> hashes_before_commit(
    const StepRecord& before, const StepRecord& step, const std::vector<BlockState>& blocks) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> out;
  for (const auto& entry : step.hash_to_block) {
    const auto [hash, id] = entry;
    const auto old =
        std::ranges::find(before.hash_to_block, hash, &std::pair<std::uint64_t, std::int32_t>::first);
    if (old != before.hash_to_block.end()) {
      out.push_back(*old);
    } else if (id >= 0 && static_cast<std::size_t>(id) < blocks.size() &&
               blocks[static_cast<std::size_t>(id)].hash == hash) {
      out.push_back(entry);  // registered as the block was given out
    }
  }
  return out;
}

}  // namespace

StepRecord bookkeeping_at(const StepRecord& before, const StepRecord& step, Stage stage) {
  const Moment moment = after_stage(step, stage);
  StepRecord now;
  now.step = step.step;
  now.kind = step.kind;
  now.path = step.path;
  copy_batch(now, stage >= Stage::prepare ? step : before);
  now.seqs_after = moment.committed ? step.seqs_after : step.seqs;
  PoolState pool = pool_at(step, moment);
  now.hash_to_block = moment.committed ? step.hash_to_block : hashes_before_commit(before, step, pool.blocks);
  now.blocks = std::move(pool.blocks);
  now.free_blocks = std::move(pool.free_blocks);
  now.sampled = moment.sampled ? step.sampled : before.sampled;
  return now;
}

}  // namespace attn::trace
