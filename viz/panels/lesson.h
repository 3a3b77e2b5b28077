// The stop of a lesson: where one is, what is told, what to do, and what to break.
#pragma once

#include "viz/layout/screen_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Into panel `panel`: a strip under the header ("lesson"), in mode present the caption ("caption").
void draw_lesson(Ui& ui, const char* panel, const Rect& rect);
/// Rings what the stop points at; while it asks a question that is covered instead, also
/// while an overlay is open.
void draw_rings(Ui& ui, const ScreenLayout& layout, const Rect& screen);

}  // namespace attn::viz
