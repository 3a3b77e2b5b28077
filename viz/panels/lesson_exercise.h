// The card of what is to be done at a stop, or of what is broken there, with the numbers that prove it.
#pragma once

#include <string_view>

#include "viz/widgets/ui.h"

namespace attn::viz {

bool broken_now(const LessonNow& lesson);
/// What is broken now, else the task; null when there is neither, or before the question is answered: it
/// would give the answer away.
const ExerciseNow* at_hand(const LessonNow& lesson);
/// How many lines of a role the text takes at a width.
int lines_of(const Ui& ui, FontRole role, std::string_view text, float width);
/// PRECOND: there is one at hand.
void draw_exercise(Ui& ui, const Rect& box);

}  // namespace attn::viz
