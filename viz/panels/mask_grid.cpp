#include "viz/panels/mask_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// Dots, as an unwritten slot has them, where a decode row has no keys: others of the batch are longer.
/// Neither masked nor a pad.
void draw_no_keys(const Ui& ui, const MaskDrawing& d) {
  const float step = std::max(3.0F, ui.px(6));
  const float dot = std::max(1.0F, ui.px(1));
  const Rect area = d.grid.area();
  const ImU32 color = rgba(ui[Color::unwritten]);
  for (std::size_t i = 0; i < d.rows.size(); ++i) {
    const Rect beyond =
        mask_span(d.grid, static_cast<int>(i), d.rows[i].attended, d.num_cols + d.grid.col_step);
    if (beyond.w <= 0.0F) continue;  // the last group of columns may end behind the longest row too
    fill(ui, beyond, ui[Color::panel]);
    // On one lattice for all rows: rows of a few pixels still make an even ground.
    for (float y = area.y + step * std::ceil((beyond.y - area.y) / step); y < beyond.bottom(); y += step) {
      for (float x = area.x + step * std::ceil((beyond.x + dot - area.x) / step); x + dot < beyond.right();
           x += step)
        ui.draw->AddRectFilled({x, y}, {x + dot, y + dot}, color);
    }
  }
}

/// Grid lines, the staircase on the frontier, and the ring on each query's own key.
void draw_lines(const Ui& ui, const MaskDrawing& d) {
  const GridLayout& grid = d.grid;
  const Rect area = grid.area();
  const bool fine = !grid.grouped() && std::min(grid.cell_w, grid.cell_h) >= 6.0F;
  for (int c = 1; fine && c < grid.cells_x; ++c) {
    const float x = grid.cell(0, c).x;
    line(ui, x, area.y, x, area.bottom(), ui[Color::panel]);
  }
  // Decode rows are different sequences: parted as long as a line leaves most of the row to be seen.
  const bool parted = fine || (!d.prefill && grid.cell_h >= 4.0F);
  for (int r = 1; parted && r < grid.cells_y; ++r) {
    const float y = grid.cell(r, 0).y;
    line(ui, area.x, y, area.right(), y, ui[Color::panel]);
  }
  outline(ui, area, ui[Color::stroke]);
  const float thick = std::max(1.0F, ui.px(2));
  float previous_x = -1.0F;
  for (std::size_t i = 0; d.prefill && i < d.rows.size(); ++i) {
    const Rect seen = mask_span(grid, static_cast<int>(i), 0, d.rows[i].visible);
    if (previous_x >= 0.0F && previous_x != seen.right())
      line(ui, previous_x, seen.y, seen.right(), seen.y, ui[Color::text], thick);
    line(ui, seen.right(), seen.y, seen.right(), seen.bottom(), ui[Color::text], thick);
    previous_x = seen.right();
  }
  if (grid.grouped() || grid.cell_w < ui.px(7)) return;
  for (std::size_t i = 0; i < d.rows.size(); ++i) {
    const int own = d.rows[i].own_key();
    if (own < grid.col0 || own >= std::min(d.rows[i].k_len, grid.col0 + grid.cells_x)) continue;
    const Rect cell = grid.cell(static_cast<int>(i), grid.cell_col(own));
    if (cell.h < ui.px(5)) {  // no room for a ring
      fill(ui, {cell.x, cell.y, cell.w, std::max(1.0F, cell.h)}, ui[Color::text]);
      continue;
    }
    const float radius = std::max(2.0F, std::min({cell.w, cell.h, ui.px(26)}) * 0.28F);
    ui.draw->AddCircle({cell.x + cell.w * 0.5F, cell.y + cell.h * 0.5F}, radius, rgba(ui[Color::text]), 0,
                       std::max(1.0F, ui.px(1.5F)));
  }
}

void add_cell_family(Ui& ui, const MaskDrawing& d, const std::string& source) {
  ui.marks.add_family("mask/cell/", [d, source](std::string_view rest) -> std::optional<Mark> {
    int r = -1;
    int c = -1;
    if (std::sscanf(std::string(rest).c_str(), "%d,%d", &r, &c) != 2) return std::nullopt;
    if (r < d.grid.row0 || c < d.grid.col0) return std::nullopt;
    const int cell_row = d.grid.cell_row(r);
    const int cell_col = d.grid.cell_col(c);
    if (cell_row >= static_cast<int>(d.rows.size()) || cell_col >= d.grid.cells_x) return std::nullopt;
    const MaskRow& row = d.rows[static_cast<std::size_t>(cell_row)];
    if (c >= row.attended) return std::nullopt;
    return Mark{fmt::format("mask/cell/{},{}", r, c), d.grid.cell(cell_row, cell_col),
                mask_cell_text(row, d.prefill ? r : 0, c, d.prefill, d.mask), source};
  });
}

void touch_cells(Ui& ui, const MaskDrawing& d, bool dragged) {
  const GridLayout& grid = d.grid;
  const std::string source =
      "visible_keys of kernels/common/mask.h; lengths from cu_seqlens_q, cu_seqlens_k I32";
  add_cell_family(ui, d, source);
  if (dragged || !touch(ui, grid.area()).hovered) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int cell_row = grid.cell_row(grid.row_at(mouse.y));
  const int k = grid.col_at(mouse.x);
  if (cell_row >= static_cast<int>(d.rows.size())) return;
  const MaskRow& row = d.rows[static_cast<std::size_t>(cell_row)];
  if (k >= row.attended) {
    if (!d.prefill)
      tooltip(ui, fmt::format("{} has {} keys: no key {}", seq_letter(row.seq), row.attended, k), source);
    return;
  }
  tooltip(ui, mask_cell_text(row, row.q_row, k, d.prefill, d.mask), source);
  ui.view.next_hover.seq = row.seq;
  ui.view.next_hover.q_row = row.q_row;
  ui.view.next_hover.k_col = k;
  if (!d.prefill) ui.view.next_hover.name = "context_lens";
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    select(ui, [&](Selection& s) {
      s.seq = row.seq;
      s.q_row = row.q_row;
      s.k_col = k;
    });
  }
}

void draw_rings(Ui& ui, const MaskDrawing& d) {
  const auto row_of = [&](int seq, int q) {
    if (d.prefill) return seq == d.batch.seq ? q : -1;
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
      if (d.rows[i].seq == seq) return static_cast<int>(i);
    }
    return -1;
  };
  highlight_cell(ui, d.grid, row_of(ui.view.hover.seq, ui.view.hover.q_row), ui.view.hover.k_col, false);
  const Selection& chosen = ui.selection;
  if (chosen.q_row < 0 && chosen.k_col < 0) return;  // a decode row would be ringed for its sequence alone
  const int q = chosen.k_col >= 0 ? focus_q_row(d.batch, chosen) : chosen.q_row;
  highlight_cell(ui, d.grid, row_of(focus_seq(ui.frame, chosen), q), chosen.k_col, true);
}

}  // namespace

void draw_cached_bracket(Ui& ui, const MaskDrawing& d) {
  const int cached = d.batch.cached();
  if (!d.prefill || cached <= d.grid.col0) return;
  const Rect area = d.grid.area();
  const Rect span = mask_span(d.grid, 0, 0, cached);
  const float y = area.bottom() + ui.px(5);
  line(ui, span.x, y, span.right(), y, ui[Color::accent], ui.px(2));
  line(ui, span.x, y - ui.px(4), span.x, y, ui[Color::accent], ui.px(2));
  line(ui, span.right(), y - ui.px(4), span.right(), y, ui[Color::accent], ui.px(2));
  const std::string text = fmt::format("cached_len {}", cached);
  const float w = std::min(area.w, std::max(span.w, text_width(ui, FontRole::small, text) + 1.0F));
  text_in(ui, FontRole::small, {span.x, y + ui.px(1), w, line_step(FontRole::small)}, ui[Color::text], text,
          Align::center);
}

void draw_mask_cells(Ui& ui, const MaskDrawing& d, bool dragged) {
  const GridLayout& grid = d.grid;
  const Rect area = grid.area();
  hatch(ui, area, ui[Color::masked], ui.px(6));
  for (std::size_t i = 0; i < d.rows.size(); ++i) draw_mask_row(ui, grid, d.rows[i], static_cast<int>(i));
  draw_lines(ui, d);
  if (!d.prefill) {
    draw_no_keys(ui, d);
    outline(ui, area, ui[Color::stroke]);
  }
  for (std::size_t i = 0; i < d.rows.size(); ++i) {
    if (d.mask.preview()) draw_changes(ui, grid, d.rows[i], static_cast<int>(i));
    draw_pad_label(ui, grid, d.rows[i], static_cast<int>(i));
  }
  keep_whole(ui, area, "mask/cells");
  ui.marks.add("mask/cells", visible_part(ui, area));
  touch_cells(ui, d, dragged);
  draw_rings(ui, d);
}

}  // namespace attn::viz
