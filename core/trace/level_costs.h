// What a recorded attention takes at every level of the kernels, from the launchers' own records.
#pragma once

#include "core/trace/attention_launch.h"

namespace attn::trace {

/// The levels that this shape and this device have, ascending. No kernel runs. Of the inputs only the step,
/// the model and what the launch is given as q, k, v or pool matter, not their values.
/// PRECOND: as attention_records.
std::vector<LevelCost> level_costs(Device& device, const AttentionInputs& inputs);

}  // namespace attn::trace
