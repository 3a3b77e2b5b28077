// The pool at a moment of a step, and what the step did to each block up to then, gathered from its record:
// owners, slots written, whether attention read it, and the tokens whose K/V it holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/step_moment.h"
#include "viz/frame.h"

namespace attn::viz {

struct BlockFacts {
  std::vector<int> owners;           // sequence ids that hold it, batch order
  std::vector<int> written_offsets;  // slots written in this step
  int written = 0;
  bool read = false;
  bool changed = false;              // since the step before
  std::vector<std::int32_t> tokens;  // of the filled slots, as far as known

  bool wrote(int offset) const {
    for (const int w : written_offsets) {
      if (w == offset) return true;
    }
    return false;
  }
};

struct PoolCounts {
  int used = 0;         // ref_count > 0
  int cached_free = 0;  // ref_count 0, hash kept
  int free = 0;
};

PoolCounts count_blocks(const std::vector<trace::BlockState>& blocks);
/// "3 used + 1 cached-free + 4 free = 8"; without an engine, what the block tables of the case name.
std::string counts_text(const PoolCounts& counts, bool engine);
/// By block id: whether the step stored K/V into it, and whether its attention read it.
std::vector<bool> blocks_written(const trace::StepRecord& step);
std::vector<bool> blocks_read(const trace::StepRecord& step);

inline constexpr int kNoParent = -1;       // the block holds the first tokens of its sequence
inline constexpr int kUnknownParent = -2;  // nothing in the record tells
/// The block whose hash the hash of `block` is chained to: the one before it in an owner's table, or, when
/// nobody holds it, the one from which the engine's hash function gives its hash.
int parent_of(const trace::StepRecord& step, int block);

/// What differs from the step before at `where` (DiffEntry::where), one line each: "ref_count: 1 -> 2"; ""
/// when nothing does.
std::string changes_at(const Frame& frame, std::string_view where);
/// Whether Frame::changes names the block.
bool block_changed(const Frame& frame, int block);

/// The pool at a moment of the step.
struct PoolNow {
  trace::Moment moment;
  trace::PoolState pool;
  std::vector<BlockFacts> facts;  // by block id
};
PoolNow pool_now(const Frame& frame, const trace::Moment& moment);

/// The moment that panels of the engine's bookkeeping show: after the step at step grain, and of what no
/// engine ran; inside a step, when the stage at the cursor has run.
trace::Moment moment_shown(const Frame& frame, const Selection& selection, trace::Grain grain);
/// "after the step", "after store_kvcache of layer 0".
std::string moment_text(const Frame& frame, const Selection& selection, trace::Grain grain);
/// Whether the attention of the layer at the cursor is still to come.
bool before_attention(const Frame& frame, const Selection& selection, trace::Grain grain);
/// `text` of a panel that shows what attention computes, and before it that this is still to come.
std::string with_moment_note(const Frame& frame, const Selection& selection, trace::Grain grain,
                             std::string text);

}  // namespace attn::viz
