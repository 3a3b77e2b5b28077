#include "viz/panels/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "kernels/common/mask.h"
#include "viz/layout/grid_layout.h"
#include "viz/lookup.h"
#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kMaxDecodeRows = 64;

/// One row of the drawing: a query, or a group of them.
struct MaskRow {
  int seq = 0;
  int q_row = 0;  // first query of the group, within its sequence
  int q_len = 1;
  int k_len = 0;
  int attended = 0;     // k_len + zero pads
  int visible_low = 0;  // keys seen by the first query of the group
  int visible = 0;      // keys seen by its last
};

std::vector<MaskRow> prefill_rows(const Frame& frame, const BatchRows& rows, int row_step) {
  std::vector<MaskRow> out;
  const MaskAlignment mask = mask_in_force(*frame.step);
  for (int i = 0; i < rows.q_len; i += row_step) {
    const int last = std::min(i + row_step, rows.q_len) - 1;
    out.push_back({rows.seq, i, rows.q_len, rows.k_len, rows.k_len,
                   visible_keys(mask, i, rows.q_len, rows.k_len),
                   visible_keys(mask, last, rows.q_len, rows.k_len)});
  }
  return out;
}

std::vector<MaskRow> decode_rows(const Frame& frame) {
  std::vector<MaskRow> out;
  const MaskAlignment mask = mask_in_force(*frame.step);
  for (int b = 0; b < std::min(frame.step->num_scheduled, kMaxDecodeRows) &&
                  static_cast<std::size_t>(b) < frame.step->seqs.size();
       ++b) {
    const BatchRows rows = batch_rows(frame, frame.step->seqs[static_cast<std::size_t>(b)].id);
    if (rows.batch < 0) continue;
    // The kernel sees a row of `attended` keys; pads are keys to it.
    const int seen = visible_keys(mask, 0, 1, rows.attended);
    out.push_back({rows.seq, 0, 1, rows.k_len, rows.attended, seen, seen});
  }
  return out;
}

long long count_allowed(MaskAlignment mask, const BatchRows& rows) {
  long long count = 0;
  for (int i = 0; i < rows.q_len; ++i) count += visible_keys(mask, i, rows.q_len, rows.k_len);
  return count;
}

/// Columns [from, to) of a row as a rectangle; ends of a group of columns are drawn to scale.
Rect span(const GridLayout& grid, int row, int from, int to) {
  const float per_key = grid.cell_w / static_cast<float>(grid.col_step);
  return {grid.x + per_key * static_cast<float>(from), grid.y + grid.cell_h * static_cast<float>(row),
          per_key * static_cast<float>(to - from), grid.cell_h};
}

void draw_row(const Ui& ui, const GridLayout& grid, const MaskRow& row, int index) {
  const int cached = row.k_len - row.q_len;
  const int real = std::min(row.visible, row.k_len);
  const int band = std::min(cached, row.visible_low);
  fill(ui, span(grid, index, 0, real), ui[Color::panel]);
  if (band > 0) fill(ui, span(grid, index, 0, band), ui[Color::cached_band]);
  const int sure = std::min(row.visible_low, row.k_len);
  if (sure > std::max(band, 0)) fill(ui, span(grid, index, std::max(band, 0), sure), ui[Color::allowed]);
  // Within a group some queries see these keys and some do not.
  if (real > sure) fill(ui, span(grid, index, sure, real), ui[Color::allowed], 0.55F);
  if (row.attended > row.k_len) {
    const Rect pads = span(grid, index, row.k_len, row.attended);
    fill(ui, pads, ui[Color::panel]);
    cross_hatch(ui, pads, ui[Color::pad], ui.px(7));
    if (pads.w > ui.px(30)) {
      const float w = text_width(ui, FontRole::mono_small, "PAD") + ui.px(6);
      const Rect label{pads.x + (pads.w - w) * 0.5F, pads.y + (pads.h - ui.px(14)) * 0.5F, w, ui.px(14)};
      fill(ui, label, ui[Color::panel]);
      text_in(ui, FontRole::mono_small, label, ui[Color::pad], "PAD", Align::center);
    }
  }
}

/// Grid lines, the staircase on the frontier, and the ring on each query's own key.
void draw_lines(const Ui& ui, const GridLayout& grid, const std::vector<MaskRow>& rows, bool prefill) {
  const Rect area = grid.area();
  if (!grid.grouped() && std::min(grid.cell_w, grid.cell_h) >= 6.0F) {
    for (int c = 1; c < grid.cells_x; ++c)
      line(ui, grid.x + grid.cell_w * static_cast<float>(c), area.y,
           grid.x + grid.cell_w * static_cast<float>(c), area.bottom(), ui[Color::panel]);
    for (int r = 1; r < grid.cells_y; ++r)
      line(ui, area.x, grid.y + grid.cell_h * static_cast<float>(r), area.right(),
           grid.y + grid.cell_h * static_cast<float>(r), ui[Color::panel]);
  }
  outline(ui, area, ui[Color::stroke]);
  const float thick = std::max(1.0F, ui.px(2));
  float previous_x = -1.0F;
  for (std::size_t i = 0; prefill && i < rows.size(); ++i) {
    const Rect seen = span(grid, static_cast<int>(i), 0, rows[i].visible);
    if (previous_x >= 0.0F && previous_x != seen.right())
      line(ui, previous_x, seen.y, seen.right(), seen.y, ui[Color::text], thick);
    line(ui, seen.right(), seen.y, seen.right(), seen.bottom(), ui[Color::text], thick);
    previous_x = seen.right();
  }
  if (grid.grouped() || grid.cell_w < ui.px(7)) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int own = rows[i].k_len - rows[i].q_len + rows[i].q_row;
    if (own < 0 || own >= rows[i].k_len) continue;
    const Rect cell = grid.cell(static_cast<int>(i), own);
    const float radius = std::max(2.0F, std::min(cell.w, cell.h) * 0.28F);
    ui.draw->AddCircle({cell.x + cell.w * 0.5F, cell.y + cell.h * 0.5F}, radius, rgba(ui[Color::text]), 0,
                       std::max(1.0F, ui.px(1.5F)));
  }
}

std::string cell_text(const MaskRow& row, int q, int k, bool prefill, MaskAlignment mask) {
  const std::string who = fmt::format("{}: query {}, key {}", seq_letter(row.seq), q, k);
  if (k >= row.k_len) return fmt::format("{}: zero pad, attended", who);
  if (!prefill) return fmt::format("{}: {}", who, k < row.visible ? "allowed" : "masked");
  const int count = visible_keys(mask, q, row.q_len, row.k_len);
  const int shift = row.k_len - row.q_len;
  const std::string own = k == shift + q ? ", its own key" : "";
  if (mask == MaskAlignment::bottom_right) {
    return fmt::format("{}{}: {} {} {} + ({} \xE2\x88\x92 {}) \xE2\x86\x92 {}", who, own, k,
                       k < count ? "\xE2\x89\xA4" : ">", q, row.k_len, row.q_len,
                       k < count ? "allowed" : "masked");
  }
  return fmt::format("{}{}: {} ({} mask)", who, own, k < count ? "allowed" : "masked", mask_text(mask));
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
    return Mark{fmt::format("mask/cell/{},{}", r, c), grid.cell(r / grid.row_step, c / grid.col_step),
                cell_text(row, prefill ? r : 0, c, prefill, mask), source};
  });
  if (!touch(ui, area).hovered) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int cell_row = std::clamp(static_cast<int>((mouse.y - area.y) / grid.cell_h), 0, grid.cells_y - 1);
  const int cell_col = std::clamp(static_cast<int>((mouse.x - area.x) / grid.cell_w), 0, grid.cells_x - 1);
  const MaskRow& row = rows[static_cast<std::size_t>(cell_row)];
  const int k = cell_col * grid.col_step;
  if (k >= row.attended) return;
  tooltip(ui, cell_text(row, row.q_row, k, prefill, mask), source);
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
    draw_row(ui, grid, rows[i], static_cast<int>(i));
    if (!prefill &&
        rows[i].attended < grid.cells_x * grid.col_step) {  // columns this shorter row does not have
      fill(ui, span(grid, static_cast<int>(i), rows[i].attended, grid.cells_x * grid.col_step),
           ui[Color::panel]);
    }
  }
  draw_lines(ui, grid, rows, prefill);
  ui.marks.add("mask/cells", visible_part(ui, area));
  touch_cells(ui, grid, rows, prefill, mask);
  const auto lit_row = [&](int seq, int q) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].seq == seq && (!prefill || (q >= rows[i].q_row && q < rows[i].q_row + grid.row_step)))
        return static_cast<int>(i);
    }
    return -1;
  };
  highlight_cell(ui, grid, lit_row(ui.view.hover.seq, ui.view.hover.q_row), ui.view.hover.k_col, false);
  highlight_cell(ui, grid, lit_row(focus_seq(ui.frame, ui.selection), ui.selection.q_row), ui.selection.k_col,
                 true);
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
  const float foot = ui.px(22);
  const float axis_w = ui.px(34);
  const float axis_h = ui.px(18);
  const Rect box{ui.body.x + axis_w, ui.body.y + axis_h, ui.body.w - axis_w,
                 ui.body.h - axis_h - foot - ui.px(6)};
  int cols = batch.k_len;
  std::vector<MaskRow> rows = prefill ? std::vector<MaskRow>{} : decode_rows(ui.frame);
  for (const MaskRow& row : rows) cols = std::max(cols, row.attended);
  const GridLayout grid =
      layout_grid(box, prefill ? batch.q_len : static_cast<int>(rows.size()), cols, ui.px(30));
  if (grid.cells_x == 0 || grid.cells_y == 0) {
    end_panel(ui);
    return;
  }
  if (prefill) rows = prefill_rows(ui.frame, batch, grid.row_step);
  draw_cells(ui, rows, grid, prefill, mask);
  if (prefill) {
    draw_axes(ui, grid, batch.cached());
  } else {
    for (std::size_t i = 0; i < rows.size(); ++i) draw_row_letter(ui, grid, static_cast<int>(i), rows[i].seq);
    draw_column_numbers(ui, grid);
  }
  const Rect line_box{ui.body.x, ui.body.bottom() - foot, ui.body.w, foot};
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
  end_panel(ui);
}

}  // namespace attn::viz
