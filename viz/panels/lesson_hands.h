// What is turned, sent and picked in the lesson itself: one row under what is told.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// Height of the row at scale 1.
inline constexpr float kHandsRow = 28.0F;

/// Whether the stop has anything for that row now.
bool has_hands(const LessonNow& lesson);
/// Handles and Send buttons; while a question is asked its choices. Into panel "lesson" or "caption".
void draw_hands(Ui& ui, const Rect& row);

}  // namespace attn::viz
