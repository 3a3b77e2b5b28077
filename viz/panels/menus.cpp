#include "viz/panels/menus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/menu_entries.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

float title_width(const Ui& ui, int menu) {
  return text_width(ui, FontRole::text, menu_title(static_cast<Menu>(menu))) + ui.px(18);
}

void open_menu(ShellView& shell, int menu) {
  shell.open(Overlay::menu);
  shell.menu = menu;
}

float widest_row(const Ui& ui, const std::vector<Choice>& choices) {
  float width = 0.0F;
  for (const Choice& choice : choices) {
    width = std::max({width,
                      text_width(ui, FontRole::text, choice.title) +
                          text_width(ui, FontRole::mono, choice.right) + ui.px(84),
                      text_width(ui, FontRole::small, choice.note) + ui.px(64)});
  }
  return width;
}

/// Titles inside the open menu, where the header has no room for them.
void draw_titles_inside(Ui& ui) {
  const float h = ui.px(28);
  float needed = 0.0F;
  for (int m = 0; m < kNumMenus; ++m) needed += title_width(ui, m);
  const float squeeze = std::min(1.0F, ui.body.w / needed);
  float x = ui.body.x;
  for (int m = 0; m < kNumMenus; ++m) {
    const Rect box{x, ui.body.y, std::floor(title_width(ui, m) * squeeze), h};
    x += box.w;
    const bool here = m == ui.view.shell.menu;
    if (here) fill(ui, {box.x, box.bottom() - ui.px(3), box.w, ui.px(3)}, ui[Color::accent]);
    text_in(ui, here ? FontRole::strong : FontRole::text, box, ui[here ? Color::text : Color::muted],
            menu_title(static_cast<Menu>(m)), Align::center);
    if (mark(ui, fmt::format("menu/title/{}", menu_title(static_cast<Menu>(m))), box).clicked)
      open_menu(ui.view.shell, m);
  }
  ui.body.y += h + ui.px(6);
  ui.body.h -= h + ui.px(6);
}

/// Left and right keys, and the mouse over another title in the header, change the menu.
void change_menu(Ui& ui) {
  ShellView& shell = ui.view.shell;
  int wanted = shell.menu;
  if (key_pressed(keys::kRight)) wanted = (wanted + 1) % kNumMenus;
  if (key_pressed(keys::kLeft)) wanted = (wanted + kNumMenus - 1) % kNumMenus;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (int m = 0; m < kNumMenus; ++m) {
    if (shell.menu_places[static_cast<std::size_t>(m)].contains(mouse.x, mouse.y) &&
        (ImGui::GetIO().MouseDelta.x != 0.0F || ImGui::GetIO().MouseDelta.y != 0.0F))
      wanted = m;
  }
  if (wanted != shell.menu) open_menu(shell, wanted);
}

}  // namespace

float draw_menu_titles(Ui& ui, float x, float room) {
  ShellView& shell = ui.view.shell;
  const float h = ui.px(28);
  const float y = ui.body.y + std::floor((ui.body.h - h) * 0.5F);
  float needed = 0.0F;
  for (int m = 0; m < kNumMenus; ++m) needed += title_width(ui, m);
  if (needed > room) {
    shell.menu_places = {};
    const Rect box{x, y, ui.px(34), h};
    if (button(ui, "header/menu", box, "\xE2\x89\xA1", "menus (M)", true, shell.overlay == Overlay::menu))
      open_menu(shell, shell.menu);
    return box.right();
  }
  for (int m = 0; m < kNumMenus; ++m) {
    const Rect box{x, y, title_width(ui, m), h};
    const bool open = shell.overlay == Overlay::menu && shell.menu == m;
    const Hit hit = mark(ui, fmt::format("header/menu/{}", menu_title(static_cast<Menu>(m))), box);
    if (open || hit.hovered) fill(ui, box, ui[Color::raised], 1.0F, ui.px(4));
    text_in(ui, FontRole::text, box, ui[Color::text], menu_title(static_cast<Menu>(m)), Align::center);
    if (hit.clicked) open_menu(shell, m);
    shell.menu_places[static_cast<std::size_t>(m)] = box;
    x = box.right();
  }
  return x;
}

void draw_menu(Ui& ui, const Rect& screen) {
  ShellView& shell = ui.view.shell;
  if (!shell.fresh) change_menu(ui);
  shell.fresh = false;
  shell.menu = std::clamp(shell.menu, 0, kNumMenus - 1);
  const std::vector<MenuEntry> entries = menu_entries(ui, static_cast<Menu>(shell.menu));
  std::vector<Choice> choices;
  for (const MenuEntry& entry : entries) choices.push_back(entry.choice);

  const Rect title = shell.menu_places[static_cast<std::size_t>(shell.menu)];
  const bool inside = title.w <= 0.0F;
  const float top = ui.px(44);
  const float margin = ui.px(8);
  const float w = std::min(std::max({widest_row(ui, choices), ui.px(250), inside ? ui.px(440) : 0.0F}),
                           screen.w - 2.0F * margin);
  const float titles_h = inside ? ui.px(34) : 0.0F;
  const float h = std::min(choices_height(ui, choices) + ui.px(24) + titles_h, screen.h - top - margin);
  const float x = std::min(inside ? margin : title.x, screen.right() - margin - w);
  begin_card(ui, "menu", {std::floor(x), top, std::floor(w), std::floor(h)}, screen, false);
  if (inside) draw_titles_inside(ui);
  const int chosen = choose(ui, "menu", ui.body, choices);
  if (chosen >= 0) {
    shell.close();
    if (entries[static_cast<std::size_t>(chosen)].run) entries[static_cast<std::size_t>(chosen)].run(ui);
  }
  end_panel(ui);
}

}  // namespace attn::viz
