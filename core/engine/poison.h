// What a broken engine leaves behind: memory that nobody wrote holds NaN, and whoever reads it is named.
#pragma once

#include "core/engine/step_log.h"

namespace attn {

/// Adds one EventKind::poison for each scheduled sequence that has a NaN in the recorded o of a layer (the
/// first such layer is named) or, where no layer is recorded, in its best logits.
void note_poison(const trace::StepRecord& record, StepLog& log);

}  // namespace attn
