// The gallery: a card for every lesson, with how far one has come.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_gallery(Ui& ui, const Rect& screen);

}  // namespace attn::viz
