#include "viz/panels/prompt_box.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/widgets/dialog.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kMaxTokensLimit = 4096;

/// "" when a prompt can be added now, else the reason.
std::string reason_against(const Ui& ui) {
  if (!ui.frame.live) return "a recording: open a scenario or a model";
  if (ui.view.prompt.find_first_not_of(" \n\t\r") == std::string::npos) return "type a prompt first";
  return {};
}

}  // namespace

float prompt_box_height(const Ui& ui) { return ui.px(146); }

void draw_prompt_box(Ui& ui, const Rect& rect) {
  line(ui, rect.x, rect.y, rect.right(), rect.y, ui[Color::border]);
  const float gap = ui.px(6);
  const float row = ui.px(26);
  float y = rect.y + gap;
  text_in(ui, FontRole::strong, {rect.x, y, rect.w, ui.px(20)}, ui[Color::text], "Add a prompt", Align::left);
  y += ui.px(22);

  ImGui::PushFont(font(FontRole::mono));
  ImGui::BeginDisabled(!ui.frame.live);
  ImGui::SetCursorScreenPos({rect.x, y});
  const float text_h = ui.px(52);
  std::string& prompt = ui.view.prompt;
  ImGui::InputTextMultiline("##prompt", prompt.data(), prompt.capacity() + 1, {rect.w, text_h},
                            ImGuiInputTextFlags_CallbackResize, grow_text, &prompt);
  ui.marks.add("requests/prompt", visible_part(ui, {rect.x, y, rect.w, text_h}), prompt);
  y += text_h + gap;

  const float button_w = ui.px(58);
  const float field_w = std::floor((rect.w - button_w - 2.0F * gap) * 0.5F);
  ImGui::SetCursorScreenPos({rect.x, y});
  ImGui::SetNextItemWidth(field_w);
  ImGui::DragInt("##max_tokens", &ui.view.max_tokens, 0.25F, 1, kMaxTokensLimit, "%d tokens",
                 ImGuiSliderFlags_AlwaysClamp);
  ui.marks.add("requests/max_tokens", visible_part(ui, {rect.x, y, field_w, row}),
               fmt::format("max_tokens {}", ui.view.max_tokens));
  ImGui::SetCursorScreenPos({rect.x + field_w + gap, y});
  ImGui::SetNextItemWidth(field_w);
  ImGui::DragFloat("##temperature", &ui.view.temperature, 0.01F, 0.0F, 4.0F,
                   ui.view.temperature > 0.0F ? "temp %.2f" : "greedy", ImGuiSliderFlags_AlwaysClamp);
  ui.marks.add("requests/temperature", visible_part(ui, {rect.x + field_w + gap, y, field_w, row}),
               fmt::format("temperature {:.2f}", ui.view.temperature));
  ImGui::EndDisabled();
  ImGui::PopFont();

  const std::string reason = reason_against(ui);
  const Rect add{rect.right() - button_w, y, button_w, row};
  if (button(ui, "requests/add", add, "Add",
             reason.empty() ? "queue this prompt; it enters at the next step" : reason, reason.empty(),
             reason.empty())) {
    Command command;
    command.kind = Command::Kind::add_prompt;
    command.a = ui.view.max_tokens;
    command.x = ui.view.temperature;
    command.text = prompt;
    ui.commands.push_back(std::move(command));
    prompt.clear();
  }
  y += row + ui.px(2);
  text_in(ui, FontRole::small, {rect.x, y, rect.w, rect.bottom() - y}, ui[Color::muted], reason, Align::left);
}

}  // namespace attn::viz
