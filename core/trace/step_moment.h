// How the bookkeeping stood inside a step. A record has its sequences as they were when the step ran and its
// pool as it was after commit; from the two follows the pool at every stage between.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/step_record.h"

namespace attn::trace {

/// What a step has done when a stage of it has run. `stored` and `read` are of the layer that the stage is
/// in.
struct Moment {
  bool stored = true;     // K/V of the step's tokens are in the cache
  bool read = true;       // attention (or its gather) has read the cache
  bool sampled = true;    // the next tokens are chosen
  bool committed = true;  // tokens appended, full blocks registered, finished sequences gone
  bool operator==(const Moment&) const = default;
};
Moment after_stage(const StepRecord& step, Stage stage);

/// Blocks and free queue at a moment.
struct PoolState {
  std::vector<BlockState> blocks;         // by id
  std::vector<std::int32_t> free_blocks;  // head (next to be taken) first
};
/// Before commit a block has the references of the tables that the step ran with, is filled as far as K/V are
/// stored, and has no hash that only this commit registers.
PoolState pool_at(const StepRecord& step, const Moment& moment);

/// What diff_steps compares, as it stands when a stage of `step` has run: batch fields are those of the step
/// before until prepare makes new ones. Without layers, launches and shapes.
StepRecord bookkeeping_at(const StepRecord& before, const StepRecord& step, Stage stage);

}  // namespace attn::trace
