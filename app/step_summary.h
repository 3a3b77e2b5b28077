// A step as the timeline draws it.
#pragma once

#include "viz/frame.h"

namespace attn::app {

viz::StepSummary summarize(const trace::StepRecord& record);

}  // namespace attn::app
