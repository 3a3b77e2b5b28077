#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/panels/tiles_parts.h"

namespace attn::viz {
namespace {

constexpr std::string_view kArrow = " \xE2\x86\x92 ";  // →
constexpr std::string_view kNorm = "|o|";
constexpr std::string_view kDot = " \xC2\xB7 ";  // ·

/// Label at the left, numbers at the right, of one gauge; where they have no room the `result` alone.
Rect heading(Ui& ui, const Rect& rect, float y, std::string_view label, const std::string& numbers,
             const std::string& result, Rgb ink) {
  const Rect box{rect.x, y, rect.w, ui.px(17)};
  // Bars around o are clearer in the mono face.
  // An l in the text face could be anything upright.
  const FontRole face = label == kNorm || label.size() == 1 ? FontRole::mono : FontRole::strong;
  const float used = text_in(ui, face, box, ui[Color::text], label, Align::left);
  const Rect rest{box.x + used + ui.px(8), box.y, box.w - used - ui.px(8), box.h};
  const FontRole role =
      text_width(ui, FontRole::mono, numbers) <= rest.w ? FontRole::mono : FontRole::mono_small;
  text_in(ui, role, rest, ink, first_fitting(ui, role, rest.w, {numbers, result}), Align::right);
  return box;
}

void draw_m_axis(const Ui& ui, const TileRow& row, const Rect& bar) {
  const TileState& tile = row.now();
  const float span = std::max(1e-6F, row.score_max - row.score_min);
  const float size = ui.px(9);
  const auto x_of = [&](float m) {
    return bar.x + size * 0.5F + (bar.w - size) * std::clamp((m - row.score_min) / span, 0.0F, 1.0F);
  };
  const float middle = std::round(bar.y + bar.h * 0.5F);
  line(ui, bar.x, middle, bar.right(), middle, ui[Color::border], ui.px(2));
  if (!std::isinf(tile.m_old) && tile.m_old != tile.m_new) {
    line(ui, x_of(tile.m_old), middle, x_of(tile.m_new), middle, ui[Color::warning], ui.px(2));
    triangle_up(ui, x_of(tile.m_old) - size * 0.5F, middle - size * 0.5F, size, ui[Color::muted]);
  }
  if (!std::isinf(tile.m_new))
    triangle_down(ui, x_of(tile.m_new) - size * 0.5F, middle - size * 0.5F, size, ui[Color::warning]);
}

void draw_m(Ui& ui, const TileRow& row, const Rect& rect, float y, float bar_h) {
  const TileState& tile = row.now();
  const Rect label =
      heading(ui, rect, y, "m", tile_number(tile.m_old) + std::string(kArrow) + tile_number(tile.m_new),
              tile_number(tile.m_new), ui[Color::text]);
  if (bar_h > 0.0F) draw_m_axis(ui, row, {rect.x, label.bottom(), rect.w, bar_h});
  const Rect whole{label.x, label.y, label.w, label.h + bar_h};
  mark(ui, "tiles/gauge/m", whole,
       fmt::format("m {}{}{}: the largest score so far; the axis runs over all scores of the row",
                   tile_number(tile.m_old), kArrow, tile_number(tile.m_new)),
       tile_source(ui, row, "tile_m", tile.tile));
  name_tag(ui, whole, "m");
}

void draw_alpha(Ui& ui, const TileRow& row, const Rect& rect, float y) {
  const TileState& tile = row.now();
  std::string text;
  if (!tile.visited)
    text = "tile skipped: 1";
  else if (tile.first)
    text = "nothing to keep: 0";
  else
    text = fmt::format("exp({} \xE2\x88\x92 {}) = {}", tile_number(tile.m_old), tile_number(tile.m_new),
                       tile_number(tile.alpha));
  const Rect box = heading(ui, rect, y, tile.rescale() ? "\xCE\xB1 \xE2\x86\xBB" : "\xCE\xB1", text,
                           tile_number(tile.alpha), ui[tile.rescale() ? Color::warning : Color::text]);
  mark(ui, "tiles/gauge/alpha", box,
       fmt::format("alpha = exp(m_old - m_new) = {}: what is multiplied into the old l and o",
                   tile_number(tile.alpha)),
       tile_source(ui, row, "tile_alpha", tile.tile));
  name_tag(ui, box, "alpha");
}

/// What was there (outlined), what alpha leaves of it (pale), and up to where the tile takes it (full).
void draw_length(Ui& ui, const TileRow& row, const Rect& bar, float old, float kept, float now, float most) {
  const auto w_of = [&](float v) {
    return std::round(bar.w * std::clamp(v / std::max(1e-12F, most), 0.0F, 1.0F));
  };
  const Rgb hue = hue_of(ui, row.rows.seq);
  if (bar.h <= 0.0F) return;
  fill(ui, bar, ui[Color::raised]);
  const float kept_w = w_of(kept);
  const float now_w = w_of(now);
  fill(ui, {bar.x, bar.y, now_w, bar.h}, hue);
  fill(ui, {bar.x, bar.y, std::min(kept_w, now_w), bar.h}, mix(tint_of(ui, row.rows.seq), hue, 0.3));
  if (kept_w > 0.0F && kept_w < now_w)
    line(ui, bar.x + kept_w, bar.y, bar.x + kept_w, bar.bottom(), ui[Color::panel], ui.px(2));
  if (old > kept) outline(ui, {bar.x, bar.y, std::max(2.0F, w_of(old)), bar.h}, ui[Color::stroke], ui.px(1));
}

void draw_l(Ui& ui, const TileRow& row, const Rect& rect, float y, float bar_h) {
  const TileState& tile = row.now();
  const std::string text = tile.visited ? tile_sum(tile) : tile_number(tile.l_new);
  const Rect label = heading(ui, rect, y, "l", text, tile_number(tile.l_new), ui[Color::text]);
  const Rect bar{rect.x, label.bottom(), rect.w, bar_h};
  draw_length(ui, row, bar, tile.l_old, tile.l_old * tile.alpha, tile.l_new, row.l_max);
  const Rect whole{label.x, label.y, label.w, bar.bottom() - label.y};
  mark(ui, "tiles/gauge/l", whole,
       fmt::format("l_old {} shrinks to {} and the tile adds {} = sum of exp(s - m): l {}",
                   tile_number(tile.l_old), tile_number(tile.l_old * tile.alpha), tile_number(tile.sum),
                   tile_number(tile.l_new)),
       tile_source(ui, row, "tile_l", tile.tile));
  name_tag(ui, whole, "l");
}

void draw_o(Ui& ui, const TileRow& row, const Rect& rect, float y, float bar_h) {
  const TileState& tile = row.now();
  const float kept = tile.o_old * tile.alpha;
  const std::string text =
      tile.first ? "0, then " + tile_number(tile.o_new)
                 : fmt::format("{}{}{} = {}, then {}", tile_number(tile.o_old), kDot, tile_number(tile.alpha),
                               tile_number(kept), tile_number(tile.o_new));
  const Rect label = heading(ui, rect, y, kNorm, tile.visited ? text : tile_number(tile.o_new),
                             tile_number(tile.o_new), ui[Color::text]);
  const float between = bar_h > 0.0F ? ui.px(2) : 0.0F;
  const float half = std::floor((bar_h * 2.0F - between) * 0.5F);
  const Rect before{rect.x, label.bottom(), rect.w, half};
  const Rect after{rect.x, before.bottom() + between, rect.w, half};
  draw_length(ui, row, before, tile.o_old, kept, kept, row.o_max);
  draw_length(ui, row, after, 0.0F, 0.0F, tile.o_new, row.o_max);
  const Rect whole{label.x, label.y, label.w, after.bottom() - label.y};
  mark(ui, "tiles/gauge/o", whole,
       fmt::format("upper bar: |o_old| {} shrinks by alpha to {}\nlower bar: with the tile's values added, "
                   "|o| {} (vectors add, so their lengths do not)\no is divided by l only at the end",
                   tile_number(tile.o_old), tile_number(kept), tile_number(tile.o_new)),
       tile_source(ui, row, "tile_o_norm", tile.tile));
  name_tag(ui, whole, "o");
}

/// Four lines, or two of two.
void draw_numbers(Ui& ui, const TileRow& row, const Rect& rect) {
  const float text_h = ui.px(17);
  const bool two = rect.h < 4.0F * text_h;
  const float line_h = std::floor(rect.h / (two ? 2.0F : 4.0F));
  const float w = two ? std::floor((rect.w - ui.px(24)) * 0.5F) : rect.w;
  const Rect left{rect.x, rect.y, w, rect.h};
  const Rect right{rect.right() - w, rect.y, w, rect.h};
  draw_m(ui, row, left, rect.y, 0.0F);
  draw_alpha(ui, row, left, rect.y + line_h);
  const float y = two ? rect.y : rect.y + 2.0F * line_h;
  draw_l(ui, row, right, y, 0.0F);
  draw_o(ui, row, right, y + line_h, 0.0F);
}

}  // namespace

void draw_tile_gauges(Ui& ui, const TileRow& row, const Rect& rect) {
  const float text_h = ui.px(17);
  if (rect.h < 4.0F * (text_h + ui.px(7))) return draw_numbers(ui, row, rect);
  // Four headings, bars of one, one and two units, three gaps.
  const float rest = rect.h - 4.0F * text_h;
  const float bar_h = std::clamp(std::floor(rest * 0.16F), ui.px(7), ui.px(18));
  const float gap = std::clamp(std::floor((rest - 4.0F * bar_h) / 3.0F), 0.0F, ui.px(16));
  float y = rect.y;
  draw_m(ui, row, rect, y, bar_h);
  y += text_h + bar_h + gap;
  draw_alpha(ui, row, rect, y);
  y += text_h + gap;
  draw_l(ui, row, rect, y, bar_h);
  y += text_h + bar_h + gap;
  draw_o(ui, row, rect, y, bar_h);
}

}  // namespace attn::viz
