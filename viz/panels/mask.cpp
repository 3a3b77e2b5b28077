#include "viz/panels/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/layout/grid_layout.h"
#include "viz/lookup.h"
#include "viz/panels/mask_rows.h"
#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kMaxDecodeRows = 64;
constexpr float kFoot = 42.0F;  // count and legend

/// Grid lines, the staircase on the frontier, and the ring on each query's own key.
void draw_lines(const Ui& ui, const GridLayout& grid, const std::vector<MaskRow>& rows, bool prefill) {
  const Rect area = grid.area();
  const bool fine = !grid.grouped() && std::min(grid.cell_w, grid.cell_h) >= 6.0F;
  for (int c = 1; fine && c < grid.cells_x; ++c) {
    const float x = grid.cell(0, c).x;
    line(ui, x, area.y, x, area.bottom(), ui[Color::panel]);
  }
  for (int r = 1; (fine || !prefill) && r < grid.cells_y; ++r) {  // decode rows are different sequences
    const float y = grid.cell(r, 0).y;
    line(ui, area.x, y, area.right(), y, ui[Color::panel]);
  }
  outline(ui, area, ui[Color::stroke]);
  const float thick = std::max(1.0F, ui.px(2));
  float previous_x = -1.0F;
  for (std::size_t i = 0; prefill && i < rows.size(); ++i) {
    const Rect seen = mask_span(grid, static_cast<int>(i), 0, rows[i].visible);
    if (previous_x >= 0.0F && previous_x != seen.right())
      line(ui, previous_x, seen.y, seen.right(), seen.y, ui[Color::text], thick);
    line(ui, seen.right(), seen.y, seen.right(), seen.bottom(), ui[Color::text], thick);
    previous_x = seen.right();
  }
  if (grid.grouped() || grid.cell_w < ui.px(7)) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int own = rows[i].own_key();
    if (own < 0 || own >= rows[i].k_len) continue;
    const Rect cell = grid.cell(static_cast<int>(i), own);
    const float radius = std::max(2.0F, std::min(cell.w, cell.h) * 0.28F);
    ui.draw->AddCircle({cell.x + cell.w * 0.5F, cell.y + cell.h * 0.5F}, radius, rgba(ui[Color::text]), 0,
                       std::max(1.0F, ui.px(1.5F)));
  }
}

void touch_cells(Ui& ui, const GridLayout& grid, const std::vector<MaskRow>& rows, bool prefill,
                 MaskAlignment mask) {
  const Rect area = grid.area();
  const std::string source =
      "visible_keys of kernels/common/mask.h; lengths from cu_seqlens_q, cu_seqlens_k I32";
  ui.marks.add_family("mask/cell/", [=](std::string_view rest) -> std::optional<Mark> {
    int r = -1;
    int c = -1;
    if (std::sscanf(std::string(rest).c_str(), "%d,%d", &r, &c) != 2) return std::nullopt;
    if (r < 0 || c < 0 || r / grid.row_step >= grid.cells_y || c / grid.col_step >= grid.cells_x)
      return std::nullopt;
    const MaskRow& row = rows[static_cast<std::size_t>(r / grid.row_step)];
    if (c >= row.attended) return std::nullopt;
    return Mark{fmt::format("mask/cell/{},{}", r, c), grid.cell(r / grid.row_step, c / grid.col_step),
                mask_cell_text(row, prefill ? r : 0, c, prefill, mask), source};
  });
  if (!touch(ui, area).hovered) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int cell_row = std::clamp(static_cast<int>((mouse.y - area.y) / grid.cell_h), 0, grid.cells_y - 1);
  const int cell_col = std::clamp(static_cast<int>((mouse.x - area.x) / grid.cell_w), 0, grid.cells_x - 1);
  const MaskRow& row = rows[static_cast<std::size_t>(cell_row)];
  const int k = cell_col * grid.col_step;
  if (k >= row.attended) return;
  tooltip(ui, mask_cell_text(row, row.q_row, k, prefill, mask), source);
  ui.view.next_hover = {row.seq, row.q_row, k, -1};
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    select(ui, [&](Selection& s) {
      s.seq = row.seq;
      s.q_row = row.q_row;
      s.k_col = k;
    });
  }
}

void draw_cells(Ui& ui, const std::vector<MaskRow>& rows, const GridLayout& grid, bool prefill,
                MaskAlignment mask) {
  const Rect area = grid.area();
  hatch(ui, area, ui[Color::masked], ui.px(6));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    draw_mask_row(ui, grid, rows[i], static_cast<int>(i));
    if (!prefill &&
        rows[i].attended < grid.cells_x * grid.col_step) {  // columns this shorter row does not have
      fill(ui, mask_span(grid, static_cast<int>(i), rows[i].attended, grid.cells_x * grid.col_step),
           ui[Color::panel]);
    }
  }
  draw_lines(ui, grid, rows, prefill);
  for (std::size_t i = 0; i < rows.size(); ++i) draw_pad_label(ui, grid, rows[i], static_cast<int>(i));
  ui.marks.add("mask/cells", visible_part(ui, area));
  touch_cells(ui, grid, rows, prefill, mask);
  const auto lit_row = [&](int seq, int q) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].seq == seq && (!prefill || (q >= rows[i].q_row && q < rows[i].q_row + grid.row_step)))
        return static_cast<int>(i);
    }
    return -1;
  };
  const auto matrix_row = [&](int index) { return index < 0 ? -1 : index * grid.row_step; };
  highlight_cell(ui, grid, matrix_row(lit_row(ui.view.hover.seq, ui.view.hover.q_row)), ui.view.hover.k_col,
                 false);
  highlight_cell(ui, grid, matrix_row(lit_row(focus_seq(ui.frame, ui.selection), ui.selection.q_row)),
                 ui.selection.k_col, true);
}

void draw_legend(const Ui& ui, const Rect& line_box, bool prefill) {
  struct Entry {
    const char* text;
    Color color;
    char pattern;
  };
  const Entry entries[] = {
      {"cached", Color::cached_band, 'f'},
      {"new", Color::allowed, 'f'},
      {prefill ? "masked" : "pad", prefill ? Color::masked : Color::pad, prefill ? '/' : 'x'},
      {"own key", Color::text, 'o'}};
  const float side = ui.px(12);
  float x = line_box.x;
  for (const Entry& entry : entries) {
    const float w = side + ui.px(6) + text_width(ui, FontRole::small, entry.text);
    if (x + w > line_box.right()) return;
    const Rect box{x, line_box.y + std::floor((line_box.h - side) * 0.5F), side, side};
    if (entry.pattern == 'f') fill(ui, box, ui[entry.color]);
    if (entry.pattern == '/') hatch(ui, box, ui[entry.color], ui.px(4));
    if (entry.pattern == 'x') cross_hatch(ui, box, ui[entry.color], ui.px(4));
    if (entry.pattern == 'o')
      ui.draw->AddCircle({box.x + side * 0.5F, box.y + side * 0.5F}, side * 0.36F, rgba(ui[entry.color]), 0,
                         std::max(1.0F, ui.px(1.5F)));
    text_in(ui, FontRole::small, {box.right() + ui.px(5), line_box.y, w, line_box.h}, ui[Color::muted],
            entry.text, Align::left);
    x += w + ui.px(14);
  }
}

/// The count, the legend, and in prefill the miniatures of the other masks, right under the grid.
void draw_foot(Ui& ui, const GridLayout& grid, const BatchRows& batch, bool prefill, MaskAlignment mask) {
  const int seq = batch.seq;
  const float foot_y = std::min(grid.area().bottom() + ui.px(8), ui.body.bottom() - ui.px(kFoot));
  const Rect line_box{ui.body.x, foot_y, ui.body.w, ui.px(20)};
  std::string text;
  if (prefill) {
    text = fmt::format("{} of {} allowed", count_allowed(mask, batch),
                       static_cast<long long>(batch.q_len) * batch.k_len);
    if (batch.cached() > 0) text += fmt::format("  \xC2\xB7  cached_len {}", batch.cached());
  } else {
    text = batch.batch < 0
               ? fmt::format("{} is not in this step", seq_letter(seq))
               : fmt::format("{}: {} keys{}", seq_letter(seq), batch.k_len,
                             batch.pads() > 0 ? fmt::format(" + {} zero pads attended", batch.pads()) : "");
  }
  if (grid.grouped())
    text += fmt::format("  \xC2\xB7  a cell is {} \xC3\x97 {}", grid.row_step, grid.col_step);
  text_in(ui, FontRole::strong, line_box, ui[Color::text], text, Align::left);
  mark(ui, "mask/allowed", line_box, text, "counted with visible_keys of kernels/common/mask.h");
  draw_legend(ui, {ui.body.x, line_box.bottom() + ui.px(2), ui.body.w, ui.px(18)}, prefill);
  const float thumbs_y = line_box.bottom() + ui.px(34);
  if (prefill) draw_mask_thumbs(ui, {ui.body.x, thumbs_y, ui.body.w, ui.body.bottom() - thumbs_y});
}

}  // namespace

void draw_mask(Ui& ui, const Rect& rect) {
  const int seq = focus_seq(ui.frame, ui.selection);
  const BatchRows batch = batch_rows(ui.frame, seq);
  const trace::StepRecord* step = ui.frame.step.get();
  const bool prefill = step == nullptr || is_prefill(*step);
  const MaskAlignment mask = step == nullptr ? MaskAlignment::bottom_right : mask_in_force(*step);
  const std::string title = prefill && seq >= 0 ? fmt::format("Mask of {}", seq_letter(seq)) : "Mask";
  const std::string caption = prefill                           ? std::string(mask_text(mask))
                              : mask == MaskAlignment::top_left ? "top-left (wrong corner)"
                                                                : "not causal: one query sees its whole row";
  if (!begin_panel(ui, "mask", rect, title, caption)) return;
  const bool identity = step != nullptr && step->path == trace::AttentionPath::identity;
  if (step == nullptr || identity || (prefill && batch.batch < 0)) {
    empty_note(ui, step == nullptr ? "Which keys each query may see appears here."
                   : identity ? "No attention in this step: without context or cache the output is q itself."
                              : fmt::format("{} has no rows in this step.", seq_letter(seq)));
    end_panel(ui);
    return;
  }
  const float foot = ui.px(kFoot);
  const float axis_w = ui.px(34);
  const float axis_h = ui.px(18);
  const Rect box{ui.body.x + axis_w, ui.body.y + axis_h, ui.body.w - axis_w,
                 ui.body.h - axis_h - foot - ui.px(6)};
  int cols = batch.k_len;
  std::vector<MaskRow> rows = prefill ? std::vector<MaskRow>{} : decode_mask_rows(ui.frame, kMaxDecodeRows);
  for (const MaskRow& row : rows) cols = std::max(cols, row.attended);
  const GridLayout grid = layout_grid(box, prefill ? batch.q_len : static_cast<int>(rows.size()), cols,
                                      ui.px(prefill ? 30 : 22), kMaxHeatCells, !prefill);
  if (grid.cells_x == 0 || grid.cells_y == 0) {
    end_panel(ui);
    return;
  }
  if (prefill) rows = prefill_mask_rows(ui.frame, batch, grid.row_step);
  draw_cells(ui, rows, grid, prefill, mask);
  if (prefill) {
    draw_axes(ui, grid, batch.cached());
  } else {
    for (std::size_t i = 0; i < rows.size(); ++i) draw_row_letter(ui, grid, static_cast<int>(i), rows[i].seq);
    draw_column_numbers(ui, grid);
  }
  draw_foot(ui, grid, batch, prefill, mask);
  end_panel(ui);
}

}  // namespace attn::viz
