#include "viz/pool_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/trace/block_parent.h"
#include "core/trace/launch_shape.h"
#include "core/trace/names.h"
#include "viz/lookup.h"

namespace attn::viz {
namespace {

/// The entry of physical block `id`, or null when a table names a block the pool does not have.
BlockFacts* facts_of(std::vector<BlockFacts>& facts, int id) {
  return id >= 0 && static_cast<std::size_t>(id) < facts.size() ? &facts[static_cast<std::size_t>(id)]
                                                                : nullptr;
}

void add_owner(PoolNow& now, const trace::SeqState& seq, int block_size) {
  for (std::size_t i = 0; i < seq.block_table.size(); ++i) {
    BlockFacts* block = facts_of(now.facts, seq.block_table[i]);
    if (block == nullptr) continue;
    block->owners.push_back(seq.id);
    if (!block->tokens.empty()) continue;
    const std::size_t from = i * static_cast<std::size_t>(block_size);
    const auto filled = static_cast<std::size_t>(
        std::max(0, now.pool.blocks[static_cast<std::size_t>(seq.block_table[i])].num_filled));
    for (std::size_t k = from; k < from + filled && k < seq.token_ids.size(); ++k)
      block->tokens.push_back(seq.token_ids[k]);
  }
}

}  // namespace

PoolCounts count_blocks(const std::vector<trace::BlockState>& blocks) {
  PoolCounts counts;
  for (const trace::BlockState& block : blocks) {
    ++(block.ref_count > 0 ? counts.used : block.hash ? counts.cached_free : counts.free);
  }
  return counts;
}

std::string counts_text(const PoolCounts& counts, bool engine) {
  const int all = counts.used + counts.cached_free + counts.free;
  if (engine)
    return fmt::format("{} used + {} cached-free + {} free = {}", counts.used, counts.cached_free,
                       counts.free, all);
  return fmt::format("{} of {} blocks in block_tables", counts.used, all);
}

PoolNow pool_now(const Frame& frame, const trace::Moment& moment) {
  const trace::StepRecord& step = *frame.step;
  PoolNow now{moment, trace::pool_at(step, moment), std::vector<BlockFacts>(step.blocks.size())};
  std::vector<BlockFacts>& facts = now.facts;
  const int block_size = std::max(1, step.config.block_size);
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i].tokens = now.pool.blocks[i].token_ids;
  for (const trace::SeqState& seq : moment.committed ? step.seqs_after : step.seqs)
    add_owner(now, seq, block_size);
  for (const std::int32_t slot : step.slot_mapping) {
    if (slot < 0 || !step.stored || !moment.stored) continue;  // -1: a row that stores nothing
    BlockFacts* block = facts_of(facts, slot / block_size);
    if (block == nullptr) continue;
    block->written_offsets.push_back(slot % block_size);
    ++block->written;
  }
  const std::vector<bool> read = blocks_read(step);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i].read = moment.read && read[i];
    facts[i].changed = frame.previous && i < frame.previous->blocks.size() &&
                       frame.previous->blocks[i] != now.pool.blocks[i];
  }
  return now;
}

trace::Moment moment_shown(const Frame& frame, const Selection& selection, trace::Grain grain) {
  const bool engine = frame.manifest == nullptr || !frame.manifest->is_tensor_case();
  if (!frame.step || !engine || grain == trace::Grain::step) return {};
  return trace::after_stage(*frame.step, selection.stage);
}

std::string moment_text(const Frame& frame, const Selection& selection, trace::Grain grain) {
  if (!frame.step || (frame.manifest != nullptr && frame.manifest->is_tensor_case())) return {};
  if (moment_shown(frame, selection, grain).committed) return "after the step";
  const bool in_layer = selection.stage >= trace::Stage::qkv_rope && selection.stage <= trace::Stage::out_mlp;
  return fmt::format("after {}{}", trace::name_of(selection.stage),
                     in_layer ? fmt::format(" of layer {}", selection.layer) : "");
}

bool before_attention(const Frame& frame, const Selection& selection, trace::Grain grain) {
  return frame.step && !moment_shown(frame, selection, grain).committed &&
         selection.stage < trace::Stage::attention;
}

std::string with_moment_note(const Frame& frame, const Selection& selection, trace::Grain grain,
                             std::string text) {
  if (!before_attention(frame, selection, grain)) return text;
  return "not run yet  \xC2\xB7  " + text;
}

std::vector<bool> blocks_written(const trace::StepRecord& step) {
  std::vector<bool> written(step.blocks.size(), false);
  if (!step.stored) return written;
  for (const std::int32_t slot : step.slot_mapping) {
    if (slot < 0) continue;
    const auto block = static_cast<std::size_t>(slot / std::max(1, step.config.block_size));
    if (block < written.size()) written[block] = true;
  }
  return written;
}

std::vector<bool> blocks_read(const trace::StepRecord& step) {
  std::vector<bool> read(step.blocks.size(), false);
  if (!reads_cache(step)) return read;
  const int block_size = std::max(1, step.config.block_size);
  for (std::size_t b = 0; b < step.seqs.size() && static_cast<int>(b) < step.num_scheduled; ++b) {
    if (b + 1 >= step.cu_seqlens_k.size()) break;
    const int keys = trace::columns_seen(step, b);
    for (int k = 0; k < keys; k += block_size) {
      const int block = block_of(step.seqs[b], k, block_size);
      if (block >= 0 && static_cast<std::size_t>(block) < read.size())
        read[static_cast<std::size_t>(block)] = true;
    }
  }
  return read;
}

int parent_of(const trace::StepRecord& step, int block) {
  for (const std::vector<trace::SeqState>* seqs : {&step.seqs_after, &step.seqs}) {
    for (const trace::SeqState& seq : *seqs) {
      const auto it = std::find(seq.block_table.begin(), seq.block_table.end(), block);
      if (it == seq.block_table.end()) continue;
      return it == seq.block_table.begin() ? kNoParent : *(it - 1);
    }
  }
  if (block < 0 || static_cast<std::size_t>(block) >= step.blocks.size()) return kUnknownParent;
  const trace::BlockState& state = step.blocks[static_cast<std::size_t>(block)];
  if (!state.hash || state.token_ids.empty()) return kUnknownParent;
  if (trace::hash_follows(state, std::nullopt)) return kNoParent;
  for (const trace::BlockState& other : step.blocks) {
    if (other.hash && other.id != block && trace::hash_follows(state, other.hash)) return other.id;
  }
  return kUnknownParent;
}

std::string changes_at(const Frame& frame, std::string_view where) {
  std::string text;
  if (!frame.changes) return text;
  for (const trace::DiffEntry& entry : frame.changes->entries) {
    if (entry.where != where) continue;
    text += fmt::format("{}{}{}{} \xE2\x86\x92 {}", text.empty() ? "" : "\n", entry.what,
                        entry.what.empty() ? "" : ": ", entry.before.empty() ? "none" : entry.before,
                        entry.after.empty() ? "none" : entry.after);
  }
  return text;
}

bool block_changed(const Frame& frame, int block) {
  return frame.changes &&
         std::binary_search(frame.changes->blocks.begin(), frame.changes->blocks.end(), block);
}

}  // namespace attn::viz
