#include "viz/panels/question_card.h"

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {

void draw_question_card(Ui& ui, const Rect& screen) {
  if (!ui.view.picture.question) return;
  ui.draw = ImGui::GetForegroundDrawList();
  fill(ui, screen, ui[Color::window]);
  const float line = line_step(FontRole::caption);
  const float width = std::min(screen.w - 2.0F * ui.px(24), ui.px(900));
  Rect text{screen.x + (screen.w - width) * 0.5F, screen.y + screen.h * 0.5F - 2.0F * line, width,
            4.0F * line};
  text_in(ui, FontRole::title, {text.x, text.y, text.w, line}, ui[Color::accent], "Predict first",
          Align::center);
  text.y += 1.3F * line;
  text_wrapped(ui, FontRole::caption, text, ui[Color::text], ui.view.picture.caption, Align::center);
  ui.marks.add("question", screen, ui.view.picture.caption);
  ui.draw = nullptr;
}

}  // namespace attn::viz
