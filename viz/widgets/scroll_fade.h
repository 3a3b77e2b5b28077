// The lower edge of a scrolling part whose rows differ in height, so that it cannot be cut between two rows.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// As end_scroll; what goes on below the visible part fades out, so that a cut row reads as "more" and not as
/// broken.
void end_scroll_faded(Ui& ui, float bottom);

}  // namespace attn::viz
