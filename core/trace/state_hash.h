// One number per step that two runs of the same scenario share exactly when their engines are in the
// same state: what time travel, determinism tests and comparisons of two traces check against.
#pragma once

#include <cstdint>

#include "core/trace/step_record.h"

namespace attn::trace {

/// xxHash of the bookkeeping after commit: seqs_after, blocks, free list, hash map and the sampled token
/// ids. Logits are left out: their last bits differ between devices, the engine's state does not.
std::uint64_t state_hash(const StepRecord& record);

}  // namespace attn::trace
