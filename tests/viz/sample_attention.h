// The attention of a sample frame: scores by a formula, and what follows from them as a probe would have left
// it.
#pragma once

#include <memory>

#include "sample_frame.h"

namespace attn::viz::sample {

/// Scores, weights, lse and tile states of every head and row of the step.
std::shared_ptr<trace::AttentionView> attention_of(const trace::StepRecord& step, const Spec& spec);

}  // namespace attn::viz::sample
