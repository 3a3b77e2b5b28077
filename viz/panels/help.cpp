#include "viz/panels/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <string>
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

/// As menus write it, without the dots of a dialog.
std::string_view name_of(const KeyBinding& key) {
  constexpr std::string_view kDots = "\xE2\x80\xA6";
  std::string_view name = key.title;
  if (name.ends_with(kDots)) name.remove_suffix(kDots.size());
  return name;
}

/// "Record a film" and ": of the lesson, or of this run as shown"; alone where the name says it all.
struct Explained {
  std::string_view name;
  std::string rest;
  std::string both() const { return std::string(name) + rest; }
};

Explained explained(const KeyBinding& key) {
  const std::string_view name = name_of(key);
  const bool same = std::ranges::equal(name, key.text, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  });
  return {name, same ? std::string() : fmt::format(": {}", key.text)};
}

void draw_line(Ui& ui, const Rect& row, const HelpLine& line, float label_w) {
  if (line.key == nullptr) {
    text_in(ui, FontRole::strong, row, ui[Color::text], menu_title(line.group), Align::left);
    return;
  }
  text_in(ui, FontRole::mono, {row.x, row.y, label_w - ui.px(6), row.h}, ui[Color::accent], line.key->label,
          Align::left);
  const Explained what = explained(*line.key);
  const float x = row.x + label_w;
  const float name_w = text_in(ui, FontRole::small, {x, row.y, row.right() - x, row.h}, ui[Color::text],
                               what.name, Align::left);
  if (!what.rest.empty())
    text_in(ui, FontRole::small, {x + name_w, row.y, row.right() - x - name_w, row.h}, ui[Color::muted],
            what.rest, Align::left);
  mark(ui, fmt::format("help/{}", line.key->label), row, what.both());
}

/// So wide that every key and what it does is read whole.
struct HelpColumn {
  float label = 0.0F, text = 0.0F;  // pixels
};

struct HelpColumns {
  std::vector<HelpColumn> columns;
  int rows = 0;  // of each
  float gap = 0.0F;

  float width_of(const HelpColumn& column) const { return column.label + column.text + gap; }
  float width() const {
    return std::accumulate(columns.begin(), columns.end(), 0.0F,
                           [&](float sum, const HelpColumn& column) { return sum + width_of(column); });
  }
};

HelpColumns in_columns(const Ui& ui, const std::vector<HelpLine>& lines, int count) {
  HelpColumns out;
  out.rows = (static_cast<int>(lines.size()) + count - 1) / count;
  out.gap = ui.px(18);
  out.columns.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].key == nullptr) continue;
    HelpColumn& column = out.columns[i / static_cast<std::size_t>(out.rows)];
    column.label = std::max(column.label, text_width(ui, FontRole::mono, lines[i].key->label) + ui.px(10));
    const Explained what = explained(*lines[i].key);
    column.text = std::max(column.text, text_width(ui, FontRole::small, what.name) +
                                            text_width(ui, FontRole::small, what.rest) + 1.0F);
  }
  return out;
}

/// As many columns as there is width for, at most three.
HelpColumns columns_for(const Ui& ui, const std::vector<HelpLine>& lines, float width) {
  for (int count = 3; count > 1; --count) {
    HelpColumns columns = in_columns(ui, lines, count);
    if (columns.width() <= width) return columns;
  }
  return in_columns(ui, lines, 1);
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
  const float margin = ui.px(24);
  const float most = screen.w - margin;
  const HelpColumns table = columns_for(ui, lines, most - margin);
  const int columns = static_cast<int>(table.columns.size());
  const int per_column = table.rows;
  const float width = std::min(most, table.width() + margin);
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
  // What is left over is shared by the columns; one that is wider than the card ends with it.
  const float spare =
      std::max(0.0F, std::floor((list.w - table.width()) / static_cast<float>(table.columns.size())));
  float x = list.x;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const HelpColumn& column = table.columns[c];
    const float w = std::min(table.width_of(column), list.right() - x);
    const std::size_t from = c * static_cast<std::size_t>(per_column);
    for (std::size_t i = from; i < std::min(lines.size(), from + static_cast<std::size_t>(per_column)); ++i) {
      const Rect box{x, top + row * static_cast<float>(i - from), w - table.gap * 0.5F, row};
      if (visible_part(ui, box).w > 0.0F) draw_line(ui, box, lines[i], std::min(column.label, box.w * 0.5F));
    }
    x += w + spare;
  }
  end_scroll(ui, top + row * static_cast<float>(per_column), row);
  end_panel(ui);
}

}  // namespace attn::viz
