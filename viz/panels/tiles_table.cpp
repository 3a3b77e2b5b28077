#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/trace/number_text.h"
#include "viz/panels/tiles_parts.h"

namespace attn::viz {
namespace {

enum class Cell : unsigned char { tile, keys, m_tile, m, alpha, l_sum, l, o, check };

struct TileColumn {
  Cell cell;
  std::string_view header;
  int chars;              // of the widest entry
  std::string_view name;  // hover name, "" none
};

constexpr TileColumn kTile{Cell::tile, "tile", 6, ""};
constexpr TileColumn kKeys{Cell::keys, "keys", 10, "scores"};
constexpr TileColumn kMTile{Cell::m_tile, "m tile", 9, "scores"};
constexpr TileColumn kM{Cell::m, "m old \xE2\x86\x92 new", 19, "m"};
constexpr TileColumn kAlpha{Cell::alpha, "\xCE\xB1", 9, "alpha"};
constexpr TileColumn kSum{Cell::l_sum, "l old \xC2\xB7 \xCE\xB1 + \xCE\xA3 = l", 39, "l"};
constexpr TileColumn kL{Cell::l, "l", 10, "l"};
constexpr TileColumn kO{Cell::o, "|o|", 10, "o"};
constexpr TileColumn kCheck{Cell::check,
                            "l\xC2\xB7"
                            "e^m = \xCE\xA3 e^s",
                            16, ""};
constexpr TileColumn kTickColumn{Cell::check, "\xE2\x9C\x93", 3, ""};

constexpr std::array kFull{kTile, kKeys, kMTile, kM, kAlpha, kSum, kO, kCheck};
constexpr std::array kWide{kTile, kMTile, kM, kAlpha, kSum, kO, kTickColumn};
constexpr std::array kCompact{kTile, kMTile, kM, kAlpha, kL, kO, kTickColumn};
constexpr std::array kMiddle{kTile, kM, kAlpha, kL, kO, kTickColumn};
constexpr std::array kNarrow{kTile, kAlpha, kL, kTickColumn};

struct Table {
  std::span<const TileColumn> columns;
  FontRole role = FontRole::mono;
  float char_w = 0.0F;
  Rect area;
  float stretch = 1.0F;  // columns share what is left over

  float width(const TileColumn& column) const {
    return std::floor(static_cast<float>(column.chars) * char_w * stretch);
  }
};

float needed(std::span<const TileColumn> columns, float char_w) {
  int chars = 0;
  for (const TileColumn& column : columns) chars += column.chars;
  return static_cast<float>(chars) * char_w;
}

Table choose_table(const Ui& ui, const Rect& area) {
  Table out;
  out.area = area;
  const std::array<std::span<const TileColumn>, 5> sets{kFull, kWide, kCompact, kMiddle, kNarrow};
  for (const auto& columns : sets) {
    for (const FontRole role : {FontRole::mono, FontRole::mono_small}) {
      out.columns = columns;
      out.role = role;
      out.char_w = text_width(ui, role, "0");
      const float need = needed(columns, out.char_w);
      out.stretch = std::min(1.35F, area.w / std::max(1.0F, need));
      if (need <= area.w) return out;
    }
  }
  return out;
}

struct Entry {
  std::string text;
  std::string value;   // of the mark
  std::string source;  // array, or whole text when it holds a space
};

Entry check_entry(const TileState& tile, bool brief) {
  const bool holds = tile.holds();
  const std::string tick = holds ? "\xE2\x9C\x93" : "\xE2\x9C\x97";
  return {
      brief ? tick : fmt::format("{:.1e} {}", num(tile.difference()), tick),
      fmt::format("l exp(m) against sum exp(s) over the keys so far: relative difference {:.2e}, rounding "
                  "explains up to {:.1e}: {}",
                  num(tile.difference()), num(tile.allowed), holds ? "holds" : "does not hold"),
      "tile_m, tile_l, scores"};
}

Entry entry_of(const TileState& tile, const TileColumn& column) {
  const auto n = tile_number;
  switch (column.cell) {
    case Cell::tile:
      return {(tile.rescale() ? "\xE2\x86\xBB " : "") + std::to_string(tile.tile), "", ""};
    case Cell::keys:
      return {tile.end - tile.begin == 1 ? std::to_string(tile.begin)
                                         : fmt::format("{}\xE2\x80\x93{}", tile.begin, tile.end - 1),
              "", ""};
    case Cell::m_tile:
      return {n(tile.m_tile), fmt::format("largest score of the tile {}", n(tile.m_tile)), "scores"};
    case Cell::m:
      return {n(tile.m_old) + " \xE2\x86\x92 " + n(tile.m_new),
              fmt::format("m {} before, {} after", n(tile.m_old), n(tile.m_new)), "tile_m"};
    case Cell::alpha:
      return {n(tile.alpha),
              tile.first
                  ? "alpha 0: nothing came before the first tile"
                  : fmt::format("alpha = exp({} - {}) = {}", n(tile.m_old), n(tile.m_new), n(tile.alpha)),
              "tile_alpha"};
    case Cell::l_sum:
      return {tile_sum(tile),
              fmt::format("l {}: {} kept of {}, {} added", n(tile.l_new), n(tile.l_old * tile.alpha),
                          n(tile.l_old), n(tile.sum)),
              "tile_l"};
    case Cell::l:
      return {n(tile.l_new), fmt::format("l {} before, {} after", n(tile.l_old), n(tile.l_new)), "tile_l"};
    case Cell::o:
      return {n(tile.o_new),
              fmt::format("|o| {} before, {} after, not yet divided by l", n(tile.o_old), n(tile.o_new)),
              "tile_o_norm"};
    case Cell::check:
      return check_entry(tile, column.chars <= 3);
  }
  return {};
}

constexpr std::string_view kCellNames[] = {"tile", "keys", "m_tile", "m", "alpha", "l", "l", "o", "check"};

void draw_header(Ui& ui, const Table& table, float y, float h) {
  float x = table.area.x;
  for (const TileColumn& column : table.columns) {
    const float w = table.width(column);
    const Rect box{x, y, w - table.char_w, h};
    text_in(ui, FontRole::mono_small, box, ui[Color::muted], column.header,
            column.cell == Cell::tile ? Align::left : Align::right);
    if (!column.name.empty()) name_tag(ui, box, column.name);
    x += w;
  }
  line(ui, table.area.x, y + h, table.area.right(), y + h, ui[Color::border]);
}

/// Every column in words: a narrow table has no room for all.
std::string row_text(const TileState& tile) {
  if (!tile.visited) return fmt::format("tile {}: every key is masked for this row", tile.tile);
  std::string text = fmt::format("tile {}", tile.tile);
  for (const TileColumn& column : kFull) {
    if (column.cell != Cell::tile)
      text += fmt::format("\n{}:  {}", column.header, entry_of(tile, column).text);
  }
  return text;
}

void draw_row(Ui& ui, const TileRow& row, const Table& table, const TileState& tile, const Rect& box) {
  const bool now = !row.finished && tile.tile == row.cursor;
  const bool later = !row.finished && tile.tile > row.cursor;
  const bool meant = ui.view.hover.tile == tile.tile;
  if (now) {
    fill(ui, box, tint_of(ui, row.rows.seq));
    fill(ui, {box.x, box.y, ui.px(3), box.h}, ui[Color::selection]);
  } else if (meant) {
    fill(ui, box, ui[Color::raised]);
  }
  const Hit hit = mark(ui, fmt::format("tiles/row/{}", tile.tile), box, row_text(tile),
                       tile_source(ui, row, "tile_m, tile_l, tile_o_norm", tile.tile));
  if (hit.hovered) ui.view.next_hover.tile = tile.tile;
  if (hit.clicked) go_to_tile(ui, row, tile.tile);
  const Rgb ink = ui[later ? Color::muted : Color::text];
  float x = box.x;
  for (const TileColumn& column : table.columns) {
    const float w = table.width(column);
    const bool left = column.cell == Cell::tile;
    const Rect cell{x + (left ? ui.px(6) : 0.0F), box.y, w - (left ? ui.px(6) : table.char_w), box.h};
    x += w;
    if (!tile.visited && column.cell > Cell::keys) {
      const Rect rest{cell.x + table.char_w, cell.y, box.right() - cell.x - table.char_w, cell.h};
      text_in(ui, FontRole::small, rest, ui[Color::muted],
              "skipped: every key of the tile is masked for this row", Align::left);
      return;
    }
    const Entry entry = entry_of(tile, column);
    Rgb color = ink;
    if (column.cell == Cell::check) color = ui[tile.holds() ? Color::ok : Color::error];
    if ((column.cell == Cell::alpha || left) && tile.rescale()) color = ui[Color::warning];
    text_in(ui, table.role, cell, color, entry.text, left ? Align::left : Align::right);
    if (!entry.value.empty()) {
      mark(ui, fmt::format("tiles/{}/{}", kCellNames[static_cast<std::size_t>(column.cell)], tile.tile), cell,
           entry.value, tile_source(ui, row, entry.source, tile.tile));
      if (!column.name.empty()) name_tag(ui, cell, column.name);
    }
  }
}

}  // namespace

void draw_tile_table(Ui& ui, const TileRow& row, const Rect& rect) {
  const float row_h = ui.px(20);
  const Rect inner{rect.x, rect.y, rect.w - ui.px(12), rect.h};  // beside the scroll bar
  const Table table = choose_table(ui, inner);
  draw_header(ui, table, rect.y, ui.px(18));
  Rect area{rect.x, rect.y + ui.px(20), rect.w, rect.h - ui.px(20)};
  if (area.h < row_h) return;
  area.h = std::floor(area.h / row_h) * row_h;  // no row is cut
  float y = begin_scroll(ui, "tiles/table", area);
  const float top = y;
  TilesView& state = ui.view.tiles;
  if (state.listed_tile != row.cursor) {  // once per change, so that the wheel still scrolls
    follow_row(ui, row_h, area.h, row.cursor);
    state.listed_tile = row.cursor;
  }
  const ImVec2 clip_low = ui.draw->GetClipRectMin();
  const ImVec2 clip_high = ui.draw->GetClipRectMax();
  const int last = static_cast<int>(row.tiles.size()) - 1;
  const int from = std::clamp(static_cast<int>((clip_low.y - top) / row_h), 0, last);
  const int to = std::clamp(static_cast<int>((clip_high.y - top) / row_h), 0, last);
  for (int t = from; t <= to; ++t) {
    y = top + row_h * static_cast<float>(t);
    const TileState& tile = row.tiles[static_cast<std::size_t>(t)];
    draw_row(ui, row, table, tile, {inner.x, y, inner.w, row_h});
    if (tile.first && t > 0) line(ui, inner.x, y, inner.right(), y, ui[Color::stroke]);
  }
  end_scroll(ui, top + row_h * static_cast<float>(last + 1), row_h);
}

}  // namespace attn::viz
