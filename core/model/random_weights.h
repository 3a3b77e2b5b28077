// A model that exists in memory alone: random parameters in the shape of a real one, to measure with.
#pragma once

#include <cstdint>

#include "core/model/weights.h"

namespace attn {

/// Every parameter that `config` calls for: norms 1, the rest uniform with the standard deviation that such
/// models start from. The same on every device.
Weights random_weights(Device& device, const ModelConfig& config, std::uint64_t seed);

/// Qwen3-0.6B as its config.json describes it, with that many positions.
ModelConfig qwen3_06b_shape(int max_positions);

}  // namespace attn
