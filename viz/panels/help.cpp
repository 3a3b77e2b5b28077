#include "viz/panels/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "viz/keys.h"
#include "viz/widgets/dialog.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// A key or the title of a group.
struct HelpLine {
  const KeyBinding* key = nullptr;  // null: `group`
  Menu group = Menu::none;
};

std::vector<HelpLine> help_lines() {
  std::vector<HelpLine> out;
  Menu group = Menu::none;
  for (const KeyBinding& key : key_table()) {
    if (key.label.empty()) continue;
    if (key.menu != group) out.push_back({nullptr, key.menu});
    group = key.menu;
    out.push_back({&key, group});
  }
  return out;
}

void draw_line(Ui& ui, const Rect& row, const HelpLine& line, float label_w) {
  if (line.key == nullptr) {
    text_in(ui, FontRole::strong, row, ui[Color::text], menu_title(line.group), Align::left);
    return;
  }
  text_in(ui, FontRole::mono, {row.x, row.y, label_w - ui.px(6), row.h}, ui[Color::accent], line.key->label,
          Align::left);
  text_in(ui, FontRole::small, {row.x + label_w, row.y, row.w - label_w, row.h}, ui[Color::text],
          line.key->text, Align::left);
  mark(ui, fmt::format("help/{}", line.key->label), row, std::string(line.key->text),
       std::string(line.key->title));
}

/// So wide that every key and what it does is read whole.
struct HelpWidths {
  float label = 0.0F, text = 0.0F;  // pixels
};

HelpWidths widths_of(const Ui& ui, const std::vector<HelpLine>& lines) {
  HelpWidths out;
  for (const HelpLine& line : lines) {
    if (line.key == nullptr) continue;
    out.label = std::max(out.label, text_width(ui, FontRole::mono, line.key->label));
    out.text = std::max(out.text, text_width(ui, FontRole::small, line.key->text));
  }
  out.label += ui.px(10);
  return out;
}

constexpr std::string_view kCounting =
    "Steps have the engine's numbers: 1 is the first, 0 a recorded warm-up. Positions, queries, keys, "
    "layers, "
    "heads, tiles and blocks count from 0: tile 1 (0\xE2\x80\x93"
    "3) is the second of four.";

}  // namespace

void draw_help(Ui& ui, const Rect& screen) {
  const std::vector<HelpLine> lines = help_lines();
  const float row = std::max(ui.px(22), std::ceil(font_pixels(FontRole::small) * 1.25F));
  const HelpWidths widths = widths_of(ui, lines);
  const float column_w = widths.label + widths.text + ui.px(18);
  const float margin = ui.px(24);
  const int columns = std::clamp(static_cast<int>((screen.w - 2.0F * margin) / column_w), 1, 3);
  const int per_column = (static_cast<int>(lines.size()) + columns - 1) / columns;
  const float width = std::min(screen.w - 2.0F * margin, column_w * static_cast<float>(columns) + margin);
  const float note_h = row * static_cast<float>(4 - columns);  // kCounting, wrapped
  begin_card(ui, "help",
             card_on(ui, screen, width / ui.scale,
                     (static_cast<float>(per_column) * row + note_h) / ui.scale + 62.0F),
             screen, true);
  text_in(ui, FontRole::title, {ui.body.x, ui.body.y, ui.body.w, ui.px(28)}, ui[Color::text], "Keys",
          Align::left);
  text_in(ui, FontRole::small, {ui.body.x, ui.body.y, ui.body.w, ui.px(28)}, ui[Color::muted],
          "? or Esc closes; the same actions are in the menus (M)", Align::right);
  const Rect note{ui.body.x, ui.body.y + ui.px(32), ui.body.w, note_h};
  text_wrapped(ui, FontRole::small, note, ui[Color::text], kCounting, Align::left, 4 - columns);
  mark(ui, "help/counting", note, std::string(kCounting));
  const float list_y = note.bottom() + ui.px(2);
  const Rect list{ui.body.x, list_y, ui.body.w, ui.body.bottom() - list_y};
  const float top = begin_scroll(ui, "help/list", list);
  const float w = std::floor(list.w / static_cast<float>(columns));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int column = static_cast<int>(i) / per_column;
    const Rect box{list.x + w * static_cast<float>(column),
                   top + row * static_cast<float>(static_cast<int>(i) % per_column), w - ui.px(14), row};
    if (visible_part(ui, box).w > 0.0F) draw_line(ui, box, lines[i], std::min(widths.label, box.w * 0.5F));
  }
  end_scroll(ui, top + row * static_cast<float>(per_column), row);
  end_panel(ui);
}

}  // namespace attn::viz
