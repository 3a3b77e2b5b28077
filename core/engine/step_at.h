// What a step is at, told while it is computed.
#pragma once

#include <functional>

#include "core/trace/step_record.h"

namespace attn {

struct StepAt {
  trace::StepKind kind = trace::StepKind::prefill;
  int num_tokens = 0;  // computed by the step
  trace::Stage stage = trace::Stage::prepare;
  int layer = -1;  // -1: of none
  int num_layers = 0;

  /// Of all parts of the step those that are through, in 0 .. 1. A layer has four parts: projections, K/V
  /// rows, attention, and what comes after it; before the layers there is none, after them two.
  /// `of_part` of the one at hand are done.
  float done(float of_part) const;
};

/// Called on the engine's thread whenever the step goes on to another stage.
using StepWatch = std::function<void(const StepAt&)>;

}  // namespace attn
