// Stage list: every shape on the way through the step, in order, for the selected layer; the kernels each
// stage launched with grid and bytes. Times appear only where a device event measured them.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_stage_list(Ui& ui, const Rect& rect);

}  // namespace attn::viz
