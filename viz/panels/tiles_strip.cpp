#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/layout/label_spread.h"
#include "viz/panels/tiles_parts.h"

namespace attn::viz {
namespace {

enum class Phase : unsigned char { done, now, later };

Phase phase_of(const TileRow& row, int tile) {
  if (!row.finished && tile == row.cursor) return Phase::now;
  return row.finished || tile < row.cursor ? Phase::done : Phase::later;
}

std::string tile_text(const TileState& tile) {
  const std::string keys = fmt::format("tile {}: keys {} to {}", tile.tile, tile.begin, tile.end - 1);
  if (!tile.visited)
    return keys + ", all masked for this row: the kernel skips it, m, l and o stay as they are";
  const int masked = tile.end - tile.begin - tile.seen;
  return fmt::format("{}{}\nm {} \xE2\x86\x92 {}, alpha {}, l {}, |o| {}", keys,
                     masked > 0 ? fmt::format(", {} of them masked", masked) : "", tile_number(tile.m_old),
                     tile_number(tile.m_new), tile_number(tile.alpha), tile_number(tile.l_new),
                     tile_number(tile.o_new));
}

/// Fills of what was seen, masked and padded, by runs of keys: never a rectangle per key.
void draw_keys(Ui& ui, const TileRow& row, const TileStrip& strip, const TileState& tile, const Rect& box,
               Phase phase) {
  const float seen_x = std::min(box.right(), strip.key_x(tile.begin + tile.seen));
  const float pad_x =
      std::clamp(strip.key_x(std::clamp(row.rows.k_len, tile.begin, tile.end)), box.x, box.right());
  const Rgb tint = tint_of(ui, row.rows.seq);
  const Rgb ground = phase == Phase::now    ? hue_of(ui, row.rows.seq)
                     : phase == Phase::done ? mix(tint, hue_of(ui, row.rows.seq), 0.35)
                                            : mix(ui[Color::panel], tint, 0.5);
  fill(ui, {box.x, box.y, std::min(seen_x, pad_x) - box.x, box.h}, ground);
  if (seen_x > pad_x) cross_hatch(ui, {pad_x, box.y, seen_x - pad_x, box.h}, ui[Color::pad], ui.px(7));
  if (seen_x < box.right())
    hatch(ui, {seen_x, box.y, box.right() - seen_x, box.h}, ui[Color::masked], ui.px(6));
  if (strip.key_w < ui.px(6)) return;
  for (int k = tile.begin + 1; k < tile.end; ++k) {
    const float x = strip.key_x(k);
    line(ui, x, box.y, x, box.bottom(), ui[Color::panel]);
  }
}

constexpr float kLabel = 18.0F;  // px at scale 1, below the boxes

/// "↻12" where the tile rescaled what came before it.
std::string label_of(const TileState& tile) {
  return (tile.rescale() ? "\xE2\x86\xBB" : "") + std::to_string(tile.tile);
}

/// Numbers below the tiles, the first, the last and the current one among them; the marks of rescales and
/// wrong sums stay where a number has no room. Ticks where they have room.
void draw_labels(Ui& ui, const TileRow& row, const TileStrip& strip) {
  const float most_w = text_width(ui, FontRole::small, "\xE2\x86\xBB" + std::to_string(strip.tiles - 1));
  const float pitch = strip.key_w * static_cast<float>(strip.k_tile);
  const std::vector<int> numbered =
      spread_labels(strip.count, pitch, most_w + ui.px(4), row.finished ? -1 : row.cursor - strip.first);
  auto next = numbered.begin();
  float free_from = strip.area.x - ui.px(20);
  for (int i = 0; i < strip.count; ++i) {
    const TileState& tile = row.tiles[static_cast<std::size_t>(strip.first + i)];
    const Rect column = strip.tile(tile.tile);
    const Phase phase = phase_of(row, tile.tile);
    const bool ticked = tile.visited && phase != Phase::later;
    const bool wrong = ticked && !tile.holds();
    const bool number = next != numbered.end() && *next == i;
    std::string label = number           ? label_of(tile)
                        : wrong          ? "\xE2\x9C\x97"
                        : tile.rescale() ? "\xE2\x86\xBB"
                                         : "";
    if (number) ++next;
    if (label.empty()) continue;
    if (number && ticked) {
      const std::string with_tick = label + (wrong ? " \xE2\x9C\x97" : " \xE2\x9C\x93");
      if (text_width(ui, FontRole::small, with_tick) <= column.w) label = with_tick;
    }
    const float w = text_width(ui, FontRole::small, label);
    const float x = std::clamp(column.x + (column.w - w) * 0.5F, strip.area.x, strip.area.right() - w);
    // A lone mark yields to the numbers on both sides of it.
    const float until = next == numbered.end()
                            ? strip.area.right() + w
                            : strip.tile(strip.first + *next).x + pitch * 0.5F - most_w * 0.5F;
    if (!number && (x < free_from || x + w > until)) continue;
    text_in(ui, FontRole::small, {x, strip.area.bottom() - ui.px(kLabel - 1), w + 1.0F, ui.px(kLabel - 1)},
            ui[wrong                   ? Color::error
               : tile.rescale()        ? Color::warning
               : phase == Phase::later ? Color::muted
                                       : Color::text],
            label, Align::left);
    free_from = x + w + ui.px(2);
  }
}

void draw_tile_box(Ui& ui, const TileRow& row, const TileStrip& strip, const TileState& tile) {
  const Phase phase = phase_of(row, tile.tile);
  Rect box = strip.tile(tile.tile);
  const Rect column = box;
  box.h -= ui.px(kLabel);
  draw_keys(ui, row, strip, tile, box, phase);
  outline(ui, box, ui[phase == Phase::later ? Color::border : Color::stroke]);
  if (phase == Phase::now)
    outline(ui, {box.x - 1.0F, box.y, box.w + 2.0F, box.h}, ui[Color::selection], ui.px(2));
  if (ui.view.hover.tile == tile.tile) outline(ui, box, ui[Color::accent], ui.px(2));

  const float skipped_w = text_width(ui, FontRole::small, "skipped") + ui.px(10);
  if (!tile.visited && box.w >= skipped_w) {
    const Rect chip{std::round(box.x + (box.w - skipped_w) * 0.5F), box.y + ui.px(4), skipped_w,
                    box.h - ui.px(8)};
    fill(ui, chip, ui[Color::panel], 1.0F, ui.px(3));
    text_in(ui, FontRole::small, chip, ui[Color::muted], "skipped", Align::center);
  }

  const Hit hit = mark(ui, fmt::format("tiles/tile/{}", tile.tile), column, tile_text(tile),
                       tile_source(ui, row, "tile_m, tile_l, tile_alpha, tile_o_norm", tile.tile));
  if (hit.hovered) ui.view.next_hover.tile = tile.tile;
  if (hit.clicked) go_to_tile(ui, row, tile.tile);
}

/// All tiles as one line when only a page of them is drawn: what is done, where the page is, rescales.
void draw_overview(Ui& ui, const TileRow& row, const TileStrip& strip, const Rect& rect) {
  const float each = rect.w / static_cast<float>(strip.tiles);
  const auto x_of = [&](int tile) { return rect.x + std::round(each * static_cast<float>(tile)); };
  fill(ui, rect, ui[Color::raised]);
  const int done = row.finished ? strip.tiles : row.cursor;
  fill(ui, {rect.x, rect.y, x_of(done) - rect.x, rect.h}, tint_of(ui, row.rows.seq));
  float last_x = -1.0F;
  for (const TileState& tile : row.tiles) {
    const float x = x_of(tile.tile);
    if (!tile.rescale() || x == last_x) continue;
    line(ui, x, rect.y, x, rect.bottom(), ui[Color::warning], std::max(1.0F, ui.px(1)));
    last_x = x;
  }
  outline(ui,
          {x_of(strip.first), rect.y - ui.px(1), x_of(strip.first + strip.count) - x_of(strip.first),
           rect.h + ui.px(2)},
          ui[Color::selection], ui.px(1));
  const Hit hit = mark(ui, "tiles/overview", rect,
                       fmt::format("tiles {} to {} are drawn, of 0 to {}; click to go to another place",
                                   strip.first, strip.first + strip.count - 1, strip.tiles - 1),
                       "marks: tiles that rescale");
  if (hit.clicked) {
    const float t = (ImGui::GetIO().MousePos.x - rect.x) / each;
    go_to_tile(ui, row, std::clamp(static_cast<int>(t), 0, strip.tiles - 1));
  }
}

void draw_bracket(Ui& ui, const TileRow& row, const TileStrip& strip, int index, const Rect& rect) {
  const SplitPart& part = row.splits[static_cast<std::size_t>(index)];
  const int from = std::max(part.first_tile, strip.first);
  const int to = std::min(part.end_tile, strip.first + strip.count);
  if (from >= to) return;
  const Rect first = strip.tile(from);
  const Rect last = strip.tile(to - 1);
  const Rect box{first.x, rect.y, last.right() - first.x, rect.h};
  const bool here = row.now().split == index && !row.finished;
  const Rgb ink = ui[here ? Color::text : Color::muted];
  const float y = box.bottom() - ui.px(3);
  line(ui, box.x, y, box.right(), y, ink, ui.px(here ? 2 : 1));
  line(ui, box.x, y, box.x, y + ui.px(3), ink, ui.px(1));
  line(ui, box.right() - ui.px(1), y, box.right() - ui.px(1), y + ui.px(3), ink, ui.px(1));
  const std::string text = fmt::format("split {}", index);
  text_in(ui, FontRole::small, {box.x, box.y, box.w, ui.px(15)}, ink,
          text_width(ui, FontRole::small, text) <= box.w ? text : std::to_string(index), Align::center);
  mark(ui, fmt::format("tiles/split/{}", index), box,
       fmt::format("split {}: tiles {} to {}, its own m, l and o\nLSE {}, |o| {}", index, part.first_tile,
                   part.end_tile - 1, tile_number(part.lse), tile_number(part.o_norm)),
       fmt::format("partial_lse[{}, {}, {}] F32, {}", index, row.head, row.rows.batch,
                   ui.frame.attention->kernel));
  name_tag(ui, box, "num_splits");
}

}  // namespace

void draw_tile_strip(Ui& ui, const TileRow& row, const Rect& rect) {
  Rect area = rect;
  if (!row.splits.empty()) {
    area.y += ui.px(18);
    area.h -= ui.px(18);
  }
  TileStrip strip = layout_tile_strip(area, row.num_keys, row.k_tile, row.cursor, ui.px(14));
  if (strip.paged()) {
    strip.area.h -= ui.px(8);
    draw_overview(ui, row, strip, {rect.x, rect.bottom() - ui.px(6), rect.w, ui.px(5)});
  }
  for (int t = strip.first; t < strip.first + strip.count; ++t)
    draw_tile_box(ui, row, strip, row.tiles[static_cast<std::size_t>(t)]);
  draw_labels(ui, row, strip);
  for (std::size_t s = 0; s < row.splits.size(); ++s)
    draw_bracket(ui, row, strip, static_cast<int>(s), {rect.x, rect.y, rect.w, ui.px(18)});
}

}  // namespace attn::viz
