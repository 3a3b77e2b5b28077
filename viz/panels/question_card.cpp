#include "viz/panels/question_card.h"

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// The answer behind its number, as the window's buttons and keys have it.
void draw_choice(Ui& ui, const Rect& box, int number, const std::string& choice) {
  fill(ui, box, ui[Color::raised], 1.0F, ui.px(6));
  outline(ui, box, ui[Color::border], std::max(2.0F, ui.px(2)), ui.px(6));
  const float number_w = ui.px(40), pad = ui.px(8);
  text_in(ui, FontRole::caption, {box.x + pad, box.y, number_w, box.h}, ui[Color::accent],
          std::to_string(number), Align::center);
  text_in(ui, FontRole::caption, {box.x + pad + number_w, box.y, box.w - number_w - 2.0F * pad, box.h},
          ui[Color::text], choice, Align::left);
  ui.marks.add("question/" + std::to_string(number), box, choice);
}

}  // namespace

void draw_question_card(Ui& ui, const Rect& screen) {
  ui.draw = ImGui::GetForegroundDrawList();
  fill(ui, screen, ui[Color::window]);
  const float line = line_step(FontRole::caption), gap = ui.px(12);
  const float width = std::min(screen.w - 2.0F * ui.px(24), ui.px(900));
  const float left = screen.x + (screen.w - width) * 0.5F;
  const std::string& asked = ui.view.picture.caption;
  const auto& choices = ui.view.picture.choices;
  const float asked_h = wrapped_height(ui, FontRole::caption, width, asked);
  const float choice_h = std::round(1.5F * line);
  const float all = 1.3F * line + asked_h + (choices.empty() ? 0.0F : line) +
                    (choice_h + gap) * static_cast<float>(choices.size());
  float y = screen.y + std::max(ui.px(8), std::floor((screen.h - all) * 0.5F));
  text_in(ui, FontRole::title, {left, y, width, line}, ui[Color::accent], "Predict first", Align::center);
  y += 1.3F * line;
  text_wrapped(ui, FontRole::caption, {left, y, width, asked_h}, ui[Color::text], asked, Align::center);
  y += asked_h + line;
  float widest = 0.0F;
  for (const std::string& choice : choices)
    widest = std::max(widest, text_width(ui, FontRole::caption, choice));
  const float box_w = std::min(width, widest + ui.px(96));
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Rect box{screen.x + (screen.w - box_w) * 0.5F, y, box_w, choice_h};
    draw_choice(ui, box, static_cast<int>(i) + 1, choices[i]);
    y += choice_h + gap;
  }
  ui.marks.add("question", screen, ui.view.picture.caption);
  ui.draw = nullptr;
}

}  // namespace attn::viz
