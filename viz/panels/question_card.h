// A question of a film, alone before what it asks about: header, timeline and panels may hold the answer.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// The whole picture, while PictureView::question asks for it.
void draw_question_card(Ui& ui, const Rect& screen);

}  // namespace attn::viz
