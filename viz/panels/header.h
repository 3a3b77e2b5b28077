// Header bar: scenario and model, what step this is, and the layer and head every panel looks at.
#pragma once

#include "viz/layout/screen_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_header(Ui& ui, const ScreenLayout& layout);

}  // namespace attn::viz
