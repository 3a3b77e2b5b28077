#include "viz/panels/weights_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/layout/grid_layout.h"
#include "viz/palette.h"
#include "viz/panels/head_thumbs.h"
#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

// Cell width, px at scale 1, from which cells print their number with two and with three digits.
constexpr float kTwoDigits = 22.0F;
constexpr float kThreeDigits = 28.0F;

const HeatMap& heat_of(Ui& ui, const BatchRows& rows) {
  const int cols = std::min(rows.attended, ui.frame.attention->max_k);
  if (!ui.view.attention.matrix.heat.matches(ui.frame.attention, ui.selection.head, rows.q0, rows.q_len,
                                             cols)) {
    ui.view.attention.matrix.heat =
        make_heat_map(ui.frame.attention, ui.selection.head, rows.q0, rows.q_len, cols);
  }
  return ui.view.attention.matrix.heat;
}

void draw_cells(const Ui& ui, const GridLayout& grid, const HeatMap& heat) {
  hatch(ui, grid.area(), ui[Color::masked], ui.px(6));
  const bool numbers = !grid.grouped() && grid.cell_w >= ui.px(kTwoDigits) && grid.cell_h >= ui.px(18);
  const float inset = !grid.grouped() && std::min(grid.cell_w, grid.cell_h) >= 10.0F ? 1.0F : 0.0F;
  for (int r = 0; r < heat.cell_rows; ++r) {
    int looked = heat.cell_cols;  // columns up to the last that the kernel looked at; they cover the hatch
    while (looked > 0 && std::isnan(heat.cell(r, looked - 1))) --looked;
    const Rect first = grid.cell(r, 0);
    fill(ui, {first.x, first.y, grid.cell_w * static_cast<float>(looked), first.h}, ui[Color::panel]);
    for (int c = 0; c < looked; ++c) {
      const float weight = heat.cell(r, c);
      if (std::isnan(weight)) continue;
      const Rect cell = grid.cell(r, c);
      const Rgb color = cividis(weight_position(weight, (ui.view.weight_scale == WeightScale::log10)));
      fill(ui, {cell.x, cell.y, cell.w - inset, cell.h - inset}, color);
      if (!numbers) continue;
      const std::string text = fmt::format("{:.{}f}", weight, grid.cell_w >= ui.px(kThreeDigits) ? 3 : 2);
      const std::string_view digits(text);
      const bool whole = digits.front() != '0';  // 1.00: one leading digit fits only without the last
      text_in(ui, FontRole::mono_small, cell, ink_on(color),
              whole ? digits.substr(0, digits.size() - 1) : digits.substr(1), Align::center);
    }
  }
  outline(ui, grid.area(), ui[Color::stroke]);
}

/// Sums at the right of every row; each must read 1.000.
void draw_row_sums(Ui& ui, const GridLayout& grid, const HeatMap& heat, const BatchRows& rows) {
  const float w = ui.px(44);
  const float x = grid.area().right() + ui.px(8);
  text_in(ui, FontRole::small, {x, grid.y - ui.px(17), w, ui.px(16)}, ui[Color::muted], "row \xCE\xA3",
          Align::right);
  const int step = std::max(1, static_cast<int>(std::ceil(ui.px(13) / grid.cell_h)));
  for (int r = 0; r < heat.cell_rows; ++r) {
    const float sum = heat.row_sum[static_cast<std::size_t>(r)];
    const bool good = std::abs(sum - 1.0F) < 1e-3F || sum == 0.0F;  // 0: a row without a visible key
    if (r % step != 0 && good) continue;
    const Rect cell = grid.cell(r, 0);
    const Rect box{x, cell.y, w, cell.h};
    text_in(ui, FontRole::mono, box, ui[good ? Color::text : Color::error], fmt::format("{:.3f}", sum),
            Align::right);
    mark(ui, fmt::format("weights/row_sum/{}", r * heat.row_step), box,
         fmt::format("row {} sums to {:.6f}", r * heat.row_step, sum),
         fmt::format("sum of weights[{}, {}, :] F32, {}", heat.head, rows.q0 + r * heat.row_step,
                     ui.frame.attention->kernel));
  }
}

Mark cell_mark(const std::shared_ptr<const trace::AttentionView>& view, const GridLayout& grid, int head,
               const BatchRows& rows, int r, int c) {
  Mark out;
  out.name = fmt::format("weights/cell/{},{}", r, c);
  out.rect = grid.cell(r / grid.row_step, c / grid.col_step);
  const float weight = view->weight(head, rows.q0 + r, c);
  const float score = view->scores.size() == view->weights.size() ? view->score(head, rows.q0 + r, c) : NAN;
  out.value = std::isnan(weight)
                  ? fmt::format("query {}, key {}: masked, the kernel does not look", r, c)
                  : fmt::format("query {}, key {}: weight {:.6f}, score {:.4f}", r, c, weight, score);
  out.source = weight_source(*view, head, rows.q0 + r, c);
  return out;
}

void touch_cells(Ui& ui, const GridLayout& grid, const HeatMap& heat, const BatchRows& rows) {
  const Rect area = grid.area();
  ui.marks.add("weights/cells", visible_part(ui, area),
               fmt::format("{} x {} weights", heat.num_rows, heat.num_cols),
               fmt::format("weights[{}, {}..{}, :] F32, {}", heat.head, rows.q0, rows.q0 + rows.q_len - 1,
                           ui.frame.attention->kernel));
  const int num_cols = heat.num_cols;
  ui.marks.add_family("weights/cell/",
                      [view = ui.frame.attention, grid, head = heat.head, rows,
                       num_cols](std::string_view rest) -> std::optional<Mark> {
                        int r = -1;
                        int c = -1;
                        if (std::sscanf(std::string(rest).c_str(), "%d,%d", &r, &c) != 2) return std::nullopt;
                        if (r < 0 || c < 0 || r >= rows.q_len || c >= num_cols) return std::nullopt;
                        return cell_mark(view, grid, head, rows, r, c);
                      });
  if (!touch(ui, area).hovered) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int r =
      std::clamp(static_cast<int>((mouse.y - area.y) / grid.cell_h) * grid.row_step, 0, rows.q_len - 1);
  const int c =
      std::clamp(static_cast<int>((mouse.x - area.x) / grid.cell_w) * grid.col_step, 0, num_cols - 1);
  const Mark cell = cell_mark(ui.frame.attention, grid, heat.head, rows, r, c);
  const std::string group = grid.grouped()
                                ? fmt::format("\nlargest of {} x {} weights: {:.6f}", grid.row_step,
                                              grid.col_step, heat.cell(r / grid.row_step, c / grid.col_step))
                                : "";
  tooltip(ui, cell.value + group, cell.source);
  ui.view.next_hover = {
      rows.seq, r, c,
      block_of(*find_seq(ui.frame.step->seqs, rows.seq), c, ui.frame.step->config.block_size)};
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    select(ui, [&](Selection& s) {
      s.seq = rows.seq;
      s.q_row = r;
      s.k_col = c;
    });
  }
}

/// Two lines under the matrix: the scale, and the selected cell with its token and its number, which can be
/// read without a mouse.
void draw_foot(Ui& ui, const Rect& box, const GridLayout& grid, const BatchRows& rows, int cols) {
  std::string text =
      (ui.view.weight_scale == WeightScale::log10) ? "colour: log10, floor 1e-6" : "colour: linear, 0 to 1";
  if (grid.grouped()) {
    text += fmt::format("  \xC2\xB7  a cell is the largest of {} \xC3\x97 {} weights", grid.row_step,
                        grid.col_step);
  }
  const float h = ui.px(20);
  const int r = ui.selection.q_row;
  const int c = ui.selection.k_col;
  if (ui.selection.seq == rows.seq && r >= 0 && r < rows.q_len && c >= 0 && c < cols) {
    const trace::SeqState& seq = *find_seq(ui.frame.step->seqs, rows.seq);
    const Mark cell = cell_mark(ui.frame.attention, grid, ui.selection.head, rows, r, c);
    const auto at = static_cast<std::size_t>(c);
    const std::string token = at < seq.token_ids.size() ? token_label(ui.frame, seq.token_ids[at]) : "?";
    text_in(ui, FontRole::strong, {box.x, box.y, box.w, h}, ui[Color::text],
            fmt::format("{}  ({})", cell.value, token), Align::left);
    mark(ui, "weights/selected", {box.x, box.y, box.w, h}, cell.value, cell.source);
  } else {
    text_in(ui, FontRole::small, {box.x, box.y, box.w, h}, ui[Color::muted],
            "click a cell to keep its number here", Align::left);
  }
  text_in(ui, FontRole::small, {box.x, box.y + h, box.w, h}, ui[Color::muted], text, Align::left);
}

}  // namespace

void draw_weights_matrix(Ui& ui, const BatchRows& rows) {
  const HeatMap& heat = heat_of(ui, rows);
  const float foot = ui.px(42);
  const float bar_w = ui.px(58);
  const float sums_w = ui.px(60);
  const Rect box{ui.body.x + ui.px(34), ui.body.y + ui.px(18), ui.body.w - ui.px(34) - bar_w - sums_w,
                 ui.body.h - ui.px(24) - foot};
  const GridLayout grid = layout_grid(box, heat.num_rows, heat.num_cols, ui.px(44), kMaxHeatCells);
  if (grid.cells_x == 0 || heat.cell_rows == 0) {
    empty_note(ui, "The panel is too small for the weights of this sequence.");
    return;
  }
  draw_cells(ui, grid, heat);
  draw_axes(ui, grid, rows.cached());
  draw_row_sums(ui, grid, heat, rows);
  const Rect bar{grid.area().right() + sums_w + ui.px(2), box.y, bar_w,
                 std::clamp(grid.area().h, ui.px(60), ui.px(240))};
  draw_color_bar(ui, bar, (ui.view.weight_scale == WeightScale::log10));
  if (mark(ui, "weights/scale", bar,
           (ui.view.weight_scale == WeightScale::log10) ? "logarithmic; click for linear (L)"
                                                        : "linear; click for logarithmic (L)",
           "cividis")
          .clicked) {
    ui.view.weight_scale = next_scale(ui.view.weight_scale);
  }
  touch_cells(ui, grid, heat, rows);
  const auto row_of = [&](int q) { return q < 0 ? -1 : q / grid.row_step; };
  if (ui.view.hover.seq == rows.seq)
    highlight_cell(ui, grid, row_of(ui.view.hover.q_row), ui.view.hover.k_col, false);
  highlight_cell(ui, grid, row_of(ui.selection.q_row), ui.selection.k_col, true);
  const float foot_y = std::min(grid.area().bottom() + ui.px(8), ui.body.bottom() - foot);
  draw_foot(ui, {ui.body.x, foot_y, ui.body.w, foot}, grid, rows, heat.num_cols);
  const float thumbs_y = foot_y + foot + ui.px(12);
  draw_head_thumbs(ui, {ui.body.x, thumbs_y, ui.body.w, ui.body.bottom() - thumbs_y}, rows);
}

}  // namespace attn::viz
