// Mode present: what is shown and what this step does, in letters for the back row.
#pragma once

#include <string>

#include "viz/widgets/ui.h"

namespace attn::viz {

/// One or two sentences on the step, every number of them read from its record: "Prefill: 11 new tokens of B
/// and C in one packed batch; 8 keys come from the cache."
std::string step_sentence(const Frame& frame);
void draw_caption(Ui& ui, const Rect& rect);

}  // namespace attn::viz
