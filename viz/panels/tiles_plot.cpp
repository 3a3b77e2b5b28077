#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/panels/tiles_parts.h"

namespace attn::viz {
namespace {

/// Scores of any tile of the row on one axis, so that nothing jumps while stepping.
struct ScoreAxis {
  Rect plot;
  float low = 0.0F, high = 1.0F;
  float y(float score) const {
    return std::round(plot.bottom() - plot.h * (std::clamp(score, low, high) - low) / (high - low));
  }
};

/// A number beside the tip of a bar, with its distance from the tip and from the line of a maximum there.
float label_room(const Ui& ui) { return font_pixels(FontRole::mono_small) + ui.px(8); }

/// Both ends keep room for a number beyond the longest bar.
ScoreAxis score_axis(const Ui& ui, const TileRow& row, const Rect& plot) {
  ScoreAxis axis{plot, std::min(0.0F, row.score_min), std::max(0.0F, row.score_max)};
  const float ends = axis.low < 0.0F ? 2.0F : 1.0F;
  const float share = std::min(0.25F, label_room(ui) / plot.h);
  const float room = std::max(0.5F, (axis.high - axis.low) * share / (1.0F - ends * share));
  axis.high += room;
  if (axis.low < 0.0F) axis.low -= room;
  return axis;
}

std::string token_of(const Ui& ui, const TileRow& row, int key) {
  if (key >= row.rows.k_len) return "PAD";
  const trace::SeqState* seq = find_seq(ui.frame.step->seqs, row.rows.seq);
  const auto at = static_cast<std::size_t>(key);
  return seq != nullptr && at < seq->token_ids.size() ? token_label(ui.frame, seq->token_ids[at]) : "?";
}

std::string score_source(const Ui& ui, const TileRow& row, int key) {
  return fmt::format("scores[{}, {}, {}] F32, {}", row.head, row.row, key, ui.frame.attention->kernel);
}

void draw_score(Ui& ui, const TileRow& row, const ScoreAxis& axis, int key, const Rect& column) {
  const trace::AttentionView& view = *ui.frame.attention;
  const float score = view.score(row.head, row.row, key);
  const bool pad = key >= row.rows.k_len;
  const std::string token = token_of(ui, row, key);
  std::string value;
  if (key >= row.visible) {
    hatch(ui, column, ui[Color::masked], ui.px(6));
    value = fmt::format("key {} ({}): masked, no score is computed", key, token);
  } else if (!std::isfinite(score)) {
    outline(ui, column, ui[Color::error], ui.px(2));
    text_in(ui, FontRole::mono_small, column, ui[Color::error],
            std::isnan(score) ? "NaN"
            : score < 0.0F    ? "-inf"
                              : "inf",
            Align::center);
    value = fmt::format("key {} ({}): score {}", key, token, tile_number(score));
  } else {
    const float zero = axis.y(0.0F), tip = axis.y(score);
    const Rect bar{column.x, std::min(zero, tip), column.w, std::max(1.0F, std::abs(tip - zero))};
    fill(ui, bar, pad ? ui[Color::pad] : hue_of(ui, row.rows.seq));
    if (const Rect seen = visible_part(ui, bar); seen.w > 0.0F)
      ui.marks.add(fmt::format("tiles/bar/{}", key), seen, tile_number(score), score_source(ui, row, key));
    value = fmt::format("key {} ({}): score {}", key, token, tile_number(score));
  }
  const bool meant = ui.view.hover.k_col == key && ui.view.hover.seq == row.rows.seq;
  if (meant || ui.selection.k_col == key)
    outline(ui, column, ui[meant ? Color::accent : Color::selection], ui.px(1));
  const Hit hit = mark(ui, fmt::format("tiles/score/{}", key), column, value, score_source(ui, row, key));
  if (hit.hovered) {
    ui.view.next_hover.seq = row.rows.seq;
    ui.view.next_hover.q_row = row.q_row;
    ui.view.next_hover.k_col = key;
    ui.view.next_hover.name = "scores";
  }
  if (hit.clicked) {
    select(ui, [&](Selection& s) {
      s.seq = row.rows.seq;
      s.q_row = row.q_row;
      s.k_col = key;
    });
  }
}

/// Beyond the tip of the bar, and beyond the line of a maximum that would strike the number through.
float label_top(const Ui& ui, const TileRow& row, const ScoreAxis& axis, float score, float h) {
  const bool below = score < 0.0F;
  const float gap = ui.px(2);
  float y = below ? axis.y(score) + gap : axis.y(score) - h - gap;
  for (int pass = 0; pass < 2; ++pass) {  // away from one line may be onto the other
    for (const float m : {row.now().m_old, row.now().m_new}) {
      if (!std::isfinite(m)) continue;
      const float at = axis.y(m);
      if (at > y - gap && at < y + h + gap) y = below ? at + gap : at - h - gap;
    }
  }
  return y;
}

/// The score beside the tip of its bar; left out where the plot has no room for it there: it covers no bar.
void draw_score_label(Ui& ui, const TileRow& row, const ScoreAxis& axis, int key, const Rect& column) {
  const float score = ui.frame.attention->score(row.head, row.row, key);
  if (key >= row.visible || !std::isfinite(score)) return;
  for (const int digits : {2, 1, 0}) {
    const std::string text = fmt::format("{:.{}f}", num(score), digits);
    const float w = text_width(ui, FontRole::mono_small, text);
    if (w > column.w) continue;
    const float h = font_pixels(FontRole::mono_small);
    const Rect box{std::round(column.x + (column.w - w) * 0.5F), label_top(ui, row, axis, score, h), w, h};
    if (box.y < axis.plot.y - 1.0F || box.bottom() > axis.plot.bottom() + 1.0F) return;
    text_in(ui, FontRole::mono_small, {box.x, box.y, box.w + 1.0F, box.h}, ui[Color::text], text,
            Align::left);
    if (const Rect seen = visible_part(ui, box); seen.w > 0.0F)
      ui.marks.add(fmt::format("tiles/score_label/{}", key), seen, text, score_source(ui, row, key));
    return;
  }
}

/// The running maximum across the plot: dashed before the tile, solid after it.
void draw_maximum(Ui& ui, const ScoreAxis& axis, float m, std::string_view name, bool dashed, float label_w) {
  if (std::isinf(m) || std::isnan(m)) return;
  const float y = axis.y(m);
  const Rgb ink = ui[dashed ? Color::muted : Color::warning];
  const float thickness = ui.px(dashed ? 1 : 2);
  if (!dashed) line(ui, axis.plot.x, y, axis.plot.right(), y, ink, thickness);
  for (float x = axis.plot.x; dashed && x < axis.plot.right(); x += ui.px(9))
    line(ui, x, y, std::min(axis.plot.right(), x + ui.px(5)), y, ink, thickness);
  text_in(ui, FontRole::small, {axis.plot.right() + ui.px(4), y - ui.px(8), label_w, ui.px(16)}, ink, name,
          Align::left);
}

std::string end_text(float score) {
  return fmt::format("{:.{}f}", num(score), std::abs(score) < 10.0F ? 1 : 0);
}

}  // namespace

void draw_tile_scores(Ui& ui, const TileRow& row, const Rect& rect) {
  keep_whole(ui, rect, "tiles/plot");
  const TileState& tile = row.now();
  const int keys = tile.end - tile.begin;
  const float label_w = ui.px(42), head = ui.px(18), tokens = ui.px(18);
  const auto plot_right_of = [&](float axis) {
    return Rect{rect.x + axis, rect.y + head + ui.px(12), std::max(1.0F, rect.w - axis - label_w),
                std::max(1.0F, rect.h - head - tokens - ui.px(14))};
  };
  const ScoreAxis ends = score_axis(ui, row, plot_right_of(0.0F));  // the same whatever the width
  const float axis_w =
      ui.px(8) + std::max({ui.px(30), text_width(ui, FontRole::mono_small, end_text(ends.low)),
                           text_width(ui, FontRole::mono_small, end_text(ends.high))});
  const Rect title{rect.x, rect.y, rect.w, head};
  text_in(ui, FontRole::small, title, ui[Color::muted],
          fmt::format("scores of tile {}: scale \xC2\xB7 q\xC2\xB7k", tile.tile), Align::left);
  name_tag(ui, {title.x, title.y, std::min(title.w, ui.px(180)), title.h}, "scores");
  const ScoreAxis axis = score_axis(ui, row, plot_right_of(axis_w));
  const Rect& plot = axis.plot;
  line(ui, plot.x, axis.y(0.0F), plot.right(), axis.y(0.0F), ui[Color::stroke]);
  for (const float score : {axis.low, axis.high}) {
    if (score == 0.0F) continue;
    text_in(ui, FontRole::mono_small, {rect.x, axis.y(score) - ui.px(7), axis_w - ui.px(4), ui.px(14)},
            ui[Color::muted], end_text(score), Align::right);
  }
  text_in(ui, FontRole::mono_small, {rect.x, axis.y(0.0F) - ui.px(7), axis_w - ui.px(4), ui.px(14)},
          ui[Color::muted], "0", Align::right);
  // Sized for a whole tile: a tile cut short is drawn short, unless there is no other to compare it with.
  const bool apart = std::abs(axis.y(tile.m_old) - axis.y(tile.m_new)) >= ui.px(14);
  const auto column_of = [&](int i, float pitch) {
    const float x0 = plot.x + std::round(pitch * static_cast<float>(i));
    const float x1 = plot.x + std::round(pitch * static_cast<float>(i + 1));
    return Rect{x0 + 1.0F, plot.y, std::max(1.0F, x1 - x0 - std::max(1.0F, ui.px(2))), plot.h};
  };
  const int widest = row.tiles.size() == 1 ? keys : row.k_tile;
  const float pitch = std::min(ui.px(64), plot.w / static_cast<float>(std::max(1, widest)));
  for (int i = 0; i < keys; ++i) {
    const Rect column = column_of(i, pitch);
    draw_score(ui, row, axis, tile.begin + i, column);
    if (column.w >= ui.px(24)) {
      const bool pad = tile.begin + i >= row.rows.k_len;
      text_in(ui, FontRole::mono_small, {column.x, plot.bottom() + ui.px(3), column.w, tokens},
              ui[pad ? Color::pad : Color::text], token_of(ui, row, tile.begin + i), Align::center);
    }
  }
  if (tile.m_old != tile.m_new) draw_maximum(ui, axis, tile.m_old, apart ? "m old" : "", true, label_w);
  draw_maximum(ui, axis, tile.m_new, "m", false, label_w);
  for (int i = 0; i < keys; ++i) draw_score_label(ui, row, axis, tile.begin + i, column_of(i, pitch));
}

}  // namespace attn::viz
