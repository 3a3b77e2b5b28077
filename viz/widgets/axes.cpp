#include "viz/widgets/axes.h"

#include <fmt/format.h>

#include "viz/lookup.h"
#include "viz/palette.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// 1, 2, 5, 10, 20, 50 .. cells between numbers, so that they do not touch.
int label_step(float cell, float needed) {
  int step = 1;
  for (const int factor : {2, 5, 10, 20, 50, 100}) {
    if (cell * static_cast<float>(step) >= needed) break;
    step = factor;
  }
  return step;
}

}  // namespace

void draw_column_numbers(Ui& ui, const GridLayout& grid) {
  const float h = ui.px(14);
  const int step = label_step(
      grid.cell_w,
      text_width(ui, FontRole::mono_small, std::to_string(grid.cells_x * grid.col_step)) + ui.px(6));
  for (int c = 0; c < grid.cells_x; c += step) {
    const Rect cell = grid.cell(0, c);
    const float w = std::max(cell.w, ui.px(24));
    text_in(ui, FontRole::mono_small, {cell.x + (cell.w - w) * 0.5F, grid.y - h - ui.px(2), w, h},
            ui[Color::muted], std::to_string(c * grid.col_step), Align::center);
  }
}

void draw_axes(Ui& ui, const GridLayout& grid, int cached) {
  draw_column_numbers(ui, grid);
  const int step = label_step(grid.cell_h, ui.px(13));
  for (int r = 0; r < grid.cells_y; r += step) {
    const Rect cell = grid.cell(r, 0);
    text_in(ui, FontRole::mono_small, {grid.x - ui.px(34), cell.y, ui.px(28), cell.h}, ui[Color::muted],
            std::to_string(r * grid.row_step), Align::right);
  }
  if (cached <= 0) return;
  const Rect area = grid.area();
  const float x1 = grid.x + grid.cell_w / static_cast<float>(grid.col_step) * static_cast<float>(cached);
  line(ui, x1, area.y - ui.px(3), x1, area.bottom() + ui.px(3), ui[Color::accent], ui.px(2));
}

void draw_row_letter(Ui& ui, const GridLayout& grid, int row, int seq) {
  const Rect cell = grid.cell(row, 0);
  const float side = std::min(ui.px(20), cell.h - 1.0F);
  if (side < ui.px(9)) return;
  if (side < ui.px(15)) {
    text_in(ui, FontRole::mono_small, {grid.x - ui.px(34), cell.y, ui.px(28), cell.h}, hue_of(ui, seq),
            seq_letter(seq), Align::right);
    return;
  }
  letter_chip(ui, {grid.x - ui.px(6) - ui.px(22), cell.y + (cell.h - side) * 0.5F, ui.px(22), side}, seq);
}

void highlight_cell(Ui& ui, const GridLayout& grid, int row, int col, bool selected) {
  if (row < 0 || row >= grid.cells_y || col < 0 || col / grid.col_step >= grid.cells_x) return;
  const Rect cell = grid.cell(row, col / grid.col_step);
  const Rect ring{cell.x - 1.0F, cell.y - 1.0F, cell.w + 2.0F, cell.h + 2.0F};
  outline(ui, ring, ui[selected ? Color::selection : Color::accent], ui.px(2));
}

void draw_color_bar(Ui& ui, const Rect& rect, bool log_scale) {
  const int bands = std::max(2, static_cast<int>(rect.h / 2.0F));
  const float bar_w = ui.px(12);
  for (int i = 0; i < bands; ++i) {
    const float t = 1.0F - (static_cast<float>(i) + 0.5F) / static_cast<float>(bands);
    const float y0 = rect.y + rect.h * static_cast<float>(i) / static_cast<float>(bands);
    const float y1 = rect.y + rect.h * static_cast<float>(i + 1) / static_cast<float>(bands);
    fill(ui, {rect.x, y0, bar_w, y1 - y0}, cividis(t));
  }
  outline(ui, {rect.x, rect.y, bar_w, rect.h}, ui[Color::stroke]);
  const int ticks = log_scale ? 6 : 4;
  for (int i = 0; i <= ticks; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(ticks);
    const float y = rect.bottom() - rect.h * t;
    line(ui, rect.x + bar_w, y, rect.x + bar_w + ui.px(4), y, ui[Color::stroke]);
    const std::string text = !log_scale   ? fmt::format("{:.2f}", t)
                             : i == ticks ? "1"
                                          : fmt::format("1e-{}", ticks - i);
    text_in(ui, FontRole::mono_small, {rect.x + bar_w + ui.px(6), y - ui.px(7), ui.px(34), ui.px(14)},
            ui[Color::muted], text, Align::left);
  }
}

}  // namespace attn::viz
