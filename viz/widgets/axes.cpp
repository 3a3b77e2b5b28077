#include "viz/widgets/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/layout/label_spread.h"
#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// First matrix index that gets a number: a multiple of what lies between two numbers.
int first_label(int origin, int per_label) { return (origin + per_label - 1) / per_label * per_label; }

}  // namespace

void draw_column_numbers(Ui& ui, const GridLayout& grid) {
  const float h = ui.px(14);
  const int end = grid.col0 + grid.cells_x * grid.col_step;
  const float per_key = grid.cell_w / static_cast<float>(grid.col_step);
  const int step = label_step(per_key, text_width(ui, FontRole::mono_small, std::to_string(end)) + ui.px(6));
  for (int k = first_label(grid.col0, step); k < end; k += step) {
    const float w = ui.px(40);
    const float x = grid.x + per_key * static_cast<float>(k - grid.col0) + std::max(grid.cell_w, 1.0F) * 0.5F;
    const float left = std::clamp(x - w * 0.5F, grid.x - ui.px(14), grid.area().right() + ui.px(20) - w);
    text_in(ui, FontRole::mono_small, {left, grid.y - h - ui.px(2), w, h}, ui[Color::muted],
            std::to_string(k), Align::center);
  }
}

void draw_axes(Ui& ui, const GridLayout& grid, int cached) {
  draw_column_numbers(ui, grid);
  const float per_row = grid.cell_h / static_cast<float>(grid.row_step);
  const int end = grid.row0 + grid.cells_y * grid.row_step;
  const int step = label_step(per_row, ui.px(13));
  for (int r = first_label(grid.row0, step); r < end; r += step) {
    const float y = grid.y + per_row * static_cast<float>(r - grid.row0) + grid.cell_h * 0.5F;
    text_in(ui, FontRole::mono_small, {grid.x - ui.px(34), y - ui.px(7), ui.px(28), ui.px(14)},
            ui[Color::muted], std::to_string(r), Align::right);
  }
  if (cached <= grid.col0 || cached >= grid.col0 + grid.cells_x * grid.col_step) return;
  const Rect area = grid.area();
  const float x1 =
      grid.x + grid.cell_w / static_cast<float>(grid.col_step) * static_cast<float>(cached - grid.col0);
  line(ui, x1, area.y - ui.px(3), x1, area.bottom() + ui.px(3), ui[Color::accent], ui.px(2));
}

void draw_row_letters(Ui& ui, const GridLayout& grid, std::span<const int> seqs, int chosen) {
  const float cell_h = grid.cell_h;
  const float text_h = font_pixels(FontRole::mono_small) + ui.px(2);
  if (cell_h >= text_h) {
    const float side = std::min(ui.px(20), cell_h - 1.0F);
    for (std::size_t i = 0; i < seqs.size(); ++i) {
      const Rect cell = grid.cell(static_cast<int>(i), 0);
      letter_chip(ui, {grid.x - ui.px(28), cell.y + std::round((cell.h - side) * 0.5F), ui.px(22), side},
                  seqs[i]);
    }
    return;
  }
  for (const int i : spread_labels(static_cast<int>(seqs.size()), cell_h, text_h, chosen)) {
    const Rect cell = grid.cell(i, 0);
    const float y = cell.y + (cell.h - text_h) * 0.5F;
    text_in(ui, FontRole::mono_small, {grid.x - ui.px(34), y, ui.px(30), text_h},
            ui[i == chosen ? Color::text : Color::muted], seq_letter(seqs[static_cast<std::size_t>(i)]),
            Align::right);
  }
}

void highlight_cell(Ui& ui, const GridLayout& grid, int row, int col, bool selected) {
  const bool whole_row = selected && col < 0;
  if (whole_row) col = grid.col0;
  if (row < grid.row0 || col < grid.col0) return;
  if (grid.cell_row(row) >= grid.cells_y || grid.cell_col(col) >= grid.cells_x) return;
  Rect cell = grid.cell(grid.cell_row(row), grid.cell_col(col));
  if (whole_row) cell.w = grid.cell(grid.cell_row(row), grid.cells_x - 1).right() - cell.x;
  const float grow = std::max(1.0F, ui.px(3) - std::min(cell.w, cell.h) * 0.5F);  // tiny cells: a larger ring
  const Rect ring{cell.x - grow, cell.y - grow, cell.w + 2.0F * grow, cell.h + 2.0F * grow};
  outline(ui, ring, ui[selected ? Color::selection : Color::accent], ui.px(2));
}

void draw_color_bar(Ui& ui, const Rect& rect, Palette palette, WeightScale scale) {
  const float bar_h = std::min(ui.px(12), rect.h * 0.5F);
  const int bands = std::clamp(static_cast<int>(rect.w / 3.0F), 2, 64);
  for (int i = 0; i < bands; ++i) {
    const float t = (static_cast<float>(i) + 0.5F) / static_cast<float>(bands);
    const float x0 = rect.x + rect.w * static_cast<float>(i) / static_cast<float>(bands);
    const float x1 = rect.x + rect.w * static_cast<float>(i + 1) / static_cast<float>(bands);
    fill(ui, {x0, rect.y, x1 - x0, bar_h}, palette_color(palette, t));
  }
  outline(ui, {rect.x, rect.y, rect.w, bar_h}, ui[Color::stroke]);
  keep_whole(ui, {rect.x, rect.y, rect.w, bar_h + ui.px(17)}, "color_bar");
  const int ticks = scale == WeightScale::log10 ? (rect.w < ui.px(210) ? 3 : 6) : rect.w < ui.px(170) ? 2 : 4;
  for (int i = 0; i <= ticks; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(ticks);
    const float x = std::round(rect.x + (rect.w - 1.0F) * t);
    line(ui, x, rect.y + bar_h, x, rect.y + bar_h + ui.px(3), ui[Color::stroke]);
    const std::string text = scale == WeightScale::rank     ? fmt::format("{:.0f}%", 100.0F * t)
                             : scale == WeightScale::linear ? fmt::format("{:.{}f}", t, ticks == 2 ? 1 : 2)
                             : i == ticks                   ? "1"
                                                            : fmt::format("1e-{}", 6 - i * 6 / ticks);
    const float w = ui.px(34);
    const float left = i == 0 ? rect.x : i == ticks ? rect.right() - w : x - w * 0.5F;
    text_in(ui, FontRole::mono_small, {left, rect.y + bar_h + ui.px(3), w, ui.px(14)}, ui[Color::muted], text,
            i == 0       ? Align::left
            : i == ticks ? Align::right
                         : Align::center);
  }
}

}  // namespace attn::viz
