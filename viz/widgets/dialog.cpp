#include "viz/widgets/dialog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/keys.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kDialogRow = 28.0F;
constexpr float kDialogHeading = 22.0F;
constexpr float kRule = 9.0F;
constexpr float kNote = 18.0F;
constexpr int kPageRows = 10;

float above(const Ui& ui, const Choice& choice) {
  return (choice.rule ? ui.px(kRule) : 0.0F) + (choice.heading.empty() ? 0.0F : ui.px(kDialogHeading));
}

float row_height(const Ui& ui, const Choice& choice) {
  return ui.px(kDialogRow) + (choice.note.empty() ? 0.0F : ui.px(kNote));
}

/// The next enabled place from `from` in direction `by`, stopping at the ends.
int next_enabled(std::span<const Choice> choices, int from, int by) {
  for (int i = from + by; i >= 0 && i < static_cast<int>(choices.size()); i += by) {
    if (choices[static_cast<std::size_t>(i)].enabled) return i;
  }
  return from;
}

void move_choice(Ui& ui, std::span<const Choice> choices) {
  ShellView& shell = ui.view.shell;
  const int before = shell.chosen;
  shell.chosen = std::clamp(shell.chosen, 0, static_cast<int>(choices.size()) - 1);
  if (!choices[static_cast<std::size_t>(shell.chosen)].enabled)
    shell.chosen = next_enabled(choices, shell.chosen, 1);
  const auto step = [&](int by, int times) {
    for (int i = 0; i < times; ++i) shell.chosen = next_enabled(choices, shell.chosen, by);
    shell.follow = true;
  };
  if (key_pressed(keys::kDown)) step(1, 1);
  if (key_pressed(keys::kUp)) step(-1, 1);
  if (key_pressed(keys::kPageDown)) step(1, kPageRows);
  if (key_pressed(keys::kPageUp)) step(-1, kPageRows);
  if (shell.chosen != before) shell.follow = true;
}

void draw_row(Ui& ui, const Rect& whole, const Choice& choice, bool chosen) {
  if (chosen) fill(ui, whole, ui[Color::accent], 1.0F, ui.px(4));
  const Rect row{whole.x, whole.y, whole.w, ui.px(kDialogRow)};
  const Rgb ink = chosen ? ui[Color::on_accent] : ui[choice.enabled ? Color::text : Color::muted];
  const Rgb quiet = chosen ? ui[Color::on_accent] : ui[Color::muted];
  const float tick = ui.px(24);
  if (choice.checked)
    text_in(ui, FontRole::strong, {row.x, row.y, tick, row.h}, ink, "\xE2\x9C\x93", Align::center);
  const float right_w = std::min(
      row.w * 0.5F, choice.right.empty() ? 0.0F : text_width(ui, FontRole::mono, choice.right) + 1.0F);
  const float pad = ui.px(8);
  text_in(ui, FontRole::text, {row.x + tick, row.y, row.w - tick - right_w - 2.0F * pad, row.h}, ink,
          choice.title, Align::left);
  text_in(ui, FontRole::mono, {row.right() - right_w - pad, row.y, right_w, row.h}, quiet, choice.right,
          Align::right);
  if (choice.note.empty()) return;
  text_in(ui, FontRole::small, {row.x + tick, row.bottom() - ui.px(5), row.w - tick - pad, ui.px(kNote)},
          quiet, choice.note, Align::left);
}

}  // namespace

int grow_text(ImGuiInputTextCallbackData* data) {
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    auto* text = static_cast<std::string*>(data->UserData);
    text->resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = text->data();
  }
  return 0;
}

void begin_card(Ui& ui, const char* name, const Rect& card, const Rect& screen, bool dim) {
  begin_panel(ui, name, screen, {}, {}, PanelLook::dialog);
  if (dim) fill(ui, screen, ui[Color::shade], 0.45F);
  fill(ui, card, ui[Color::panel], 1.0F, ui.px(6));
  outline(ui, card, ui[Color::stroke], std::max(1.0F, ui.px(1)), ui.px(6));
  ui.panel = card;
  const float pad = ui.px(12);
  ui.body = {card.x + pad, card.y + pad, card.w - 2.0F * pad, card.h - 2.0F * pad};
  ui.marks.add(name, card);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ui.mouse_here && !card.contains(mouse.x, mouse.y) && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    ui.view.shell.close();
}

Rect card_on(const Ui& ui, const Rect& screen, float width, float height) {
  const float margin = ui.px(12);
  const float w = std::floor(std::min(ui.px(width), screen.w - 2.0F * margin));
  const float h = std::floor(std::min(ui.px(height), screen.h - 2.0F * margin));
  return {std::floor(screen.x + (screen.w - w) * 0.5F), std::floor(screen.y + (screen.h - h) * 0.33F), w, h};
}

bool text_line(Ui& ui, const std::string& name, const Rect& rect, std::string& text, std::string_view hint,
               bool focus) {
  ImGui::PushFont(font(FontRole::mono));
  const float pad = std::max(0.0F, std::floor((rect.h - font_pixels(FontRole::mono)) * 0.5F));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(8), pad});
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  ImGui::SetNextItemWidth(rect.w);
  if (focus) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputTextWithHint(
      fmt::format("##{}", name).c_str(), std::string(hint).c_str(), text.data(), text.capacity() + 1,
      ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_EnterReturnsTrue, grow_text, &text);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  ui.marks.add(name, visible_part(ui, rect), text);
  return entered;
}

float choices_height(const Ui& ui, std::span<const Choice> choices) {
  float h = 0.0F;
  for (const Choice& choice : choices) h += above(ui, choice) + row_height(ui, choice);
  return h;
}

int choose(Ui& ui, const char* panel, const Rect& area, std::span<const Choice> choices) {
  if (choices.empty()) return -1;
  ShellView& shell = ui.view.shell;
  move_choice(ui, choices);
  int entered =
      key_pressed(keys::kEnter, false) || key_pressed(keys::kKeypadEnter, false) ? shell.chosen : -1;
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  float y = begin_scroll(ui, fmt::format("{}/list", panel).c_str(), area);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice& choice = choices[i];
    if (choice.rule) line(ui, area.x, y + ui.px(4), area.right(), y + ui.px(4), ui[Color::border]);
    y += choice.rule ? ui.px(kRule) : 0.0F;
    if (!choice.heading.empty()) {
      text_in(ui, FontRole::small, {area.x + ui.px(8), y, area.w, ui.px(kDialogHeading)}, ui[Color::muted],
              choice.heading, Align::left);
      y += ui.px(kDialogHeading);
    }
    const Rect row{area.x, y, area.w - ui.px(6), row_height(ui, choice)};
    y += row.h;
    const bool here = static_cast<int>(i) == shell.chosen;
    if (here && shell.follow) ImGui::SetScrollFromPosY(row.y - ImGui::GetWindowPos().y, 0.5F);
    if (!row_in_sight(ui, row, choice.note.empty() ? 1 : 2)) continue;
    const Hit hit = mark(ui, fmt::format("{}/{}", panel, choice.name), row, choice.tip);
    if (hit.hovered && choice.enabled && (moved.x != 0.0F || moved.y != 0.0F))
      shell.chosen = static_cast<int>(i);
    if (hit.clicked && choice.enabled) entered = static_cast<int>(i);
    draw_row(ui, row, choice, here && choice.enabled);
  }
  end_scroll(ui, y);
  shell.follow = false;
  return entered >= 0 && choices[static_cast<std::size_t>(entered)].enabled ? entered : -1;
}

}  // namespace attn::viz
