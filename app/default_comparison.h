// What a comparison shows before anybody has picked its two sides.
#pragma once

#include <utility>

#include "core/trace/compare.h"

namespace attn::app {

/// As it ran, beside the way that differs most from it in the bytes it moves: a gather into a dense, padded
/// tensor for decode, gather and flatten for a prefill over a cached prefix, else another level.
std::pair<trace::Variant, trace::Variant> default_comparison(const trace::StepRecord& step,
                                                             const trace::ModelShape& model);

}  // namespace attn::app
