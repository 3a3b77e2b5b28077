#include "viz/panels/help.h"

#include <algorithm>

#include "viz/keys.h"
#include "viz/widgets/paint.h"

namespace attn::viz {

void draw_help(Ui& ui, const Rect& screen) {
  const float row = ui.px(24);
  const float w = std::min(ui.px(520), screen.w - ui.px(16));
  const float h = std::min(row * static_cast<float>(kNumKeys) + ui.px(52), screen.h - ui.px(16));
  const Rect rect{std::floor(screen.x + (screen.w - w) * 0.5F), std::floor(screen.y + (screen.h - h) * 0.5F),
                  w, h};
  if (!begin_panel(ui, "help", rect, "Keys", "? or Esc closes", PanelLook::overlay)) return;
  outline(ui, rect, ui[Color::stroke], ui.px(1), ui.px(6));
  const float step = std::min(row, ui.body.h / static_cast<float>(kNumKeys));
  const float label_w = ui.px(120);
  float y = ui.body.y;
  for (const KeyBinding& key : key_table()) {
    text_in(ui, FontRole::mono, {ui.body.x, y, label_w, step}, ui[Color::accent], key.label, Align::left);
    text_in(ui, FontRole::text, {ui.body.x + label_w, y, ui.body.w - label_w, step}, ui[Color::text],
            key.text, Align::left);
    ui.marks.add(std::string("help/") + std::string(key.label),
                 visible_part(ui, {ui.body.x, y, ui.body.w, step}), std::string(key.text));
    y += step;
  }
  if (touch(ui, rect).clicked) ui.view.shell.close();
  end_panel(ui);
}

}  // namespace attn::viz
