#include "viz/panels/weights_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/trace/number_text.h"
#include "viz/layout/grid_layout.h"
#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {
namespace {

// Cell width, px at scale 1, from which cells print their number with two and with three digits.
constexpr float kTwoDigits = 22.0F;
constexpr float kThreeDigits = 28.0F;
constexpr float kSums = 54.0F;  // right of the cells
constexpr float kLegend = 36.0F;
constexpr float kNotes = 28.0F;   // one line below it, where something has to be said or zoomed
constexpr float kWindow = 20.0F;  // and one that says which rows of a large prefill are held

/// What the drawing's parts share.
struct Matrix {
  const WeightsInput& in;
  MatrixView& view;
  HeatPart part;  // shown
  GridLayout grid;
  bool textured = false;
  bool good_sum(float sum) const { return std::abs(sum - 1.0F) < 1e-3F || sum == 0.0F; }  // 0: sees no key
};

/// Where a weight stands between the ends of the palette.
float position_of(const Ui& ui, const MatrixView& view, float weight) {
  if (ui.view.weight_scale == WeightScale::rank) return view.ranks.rank(weight);
  return weight_position(weight, ui.view.weight_scale == WeightScale::log10);
}

HeatPart shown_part(const WeightsInput& in, const MatrixView& view) {
  HeatPart part = in.part();
  const Span rows = shown_span(view.rows, part.rows);
  const Span cols = shown_span(view.cols, part.cols);
  part.row0 += rows.from;
  part.rows = rows.size();
  part.col0 += cols.from;
  part.cols = cols.size();
  return part;
}

/// Maps and ranks are made again only when what they were made from is another one.
void prepare(const Ui& ui, Matrix& m) {
  const int limit_rows = std::max(1, m.grid.cells_y);
  const int limit_cols = std::max(1, m.grid.cells_x);
  if (!m.view.heat.matches(m.in.view, m.part, limit_rows, limit_cols))
    m.view.heat = make_heat_map(m.in.view, m.part, limit_rows, limit_cols);
  if (ui.view.weight_scale == WeightScale::rank && !m.view.ranks.built_from(m.in.view, m.part))
    m.view.ranks.build(m.in.view, m.part);
}

void draw_cell(const Ui& ui, const Matrix& m, int r, int c, float inset, bool numbers) {
  const float weight = m.view.heat.cell(r, c);
  const Rect cell = m.grid.cell(r, c);
  const Rect box{cell.x, cell.y, cell.w - inset, cell.h - inset};
  if (std::isinf(weight)) {
    fill(ui, box, ui[Color::error]);
    const float real = m.in.view->weight(m.in.head, m.part.q0 + m.part.row0 + r * m.grid.row_step,
                                         m.part.col0 + c * m.grid.col_step);
    if (numbers)
      text_in(ui, FontRole::mono_small, box, ink_on(ui[Color::error]), fmt::format("{}", num(real)),
              Align::center);
    return;
  }
  const Rgb color = palette_color(palette_of(ui), position_of(ui, m.view, weight));
  fill(ui, box, color);
  if (!numbers) return;
  const std::string text = fmt::format("{:.{}f}", num(weight), m.grid.cell_w >= ui.px(kThreeDigits) ? 3 : 2);
  const std::string_view digits(text);
  const bool whole = digits.front() != '0';  // 1.00: one leading digit fits only without the last
  const std::string_view shown = whole ? digits.substr(0, digits.size() - 1) : digits.substr(1);
  if (text_width(ui, FontRole::mono_small, shown) <= box.w)
    text_in(ui, FontRole::mono_small, box, ink_on(color), shown, Align::center);
}

void draw_quads(const Ui& ui, const Matrix& m) {
  const GridLayout& grid = m.grid;
  const HeatMap& heat = m.view.heat;
  hatch(ui, grid.area(), ui[Color::masked], ui.px(6));
  const bool numbers = !grid.grouped() && grid.cell_w >= ui.px(kTwoDigits) && grid.cell_h >= ui.px(14);
  const float inset = !grid.grouped() && std::min(grid.cell_w, grid.cell_h) >= 10.0F ? 1.0F : 0.0F;
  for (int r = 0; r < heat.cell_rows; ++r) {
    int looked = heat.cell_cols;  // columns up to the last that the kernel looked at; they cover the hatch
    while (looked > 0 && std::isnan(heat.cell(r, looked - 1))) --looked;
    const Rect first = grid.cell(r, 0);
    fill(ui, {first.x, first.y, grid.cell_w * static_cast<float>(looked), first.h}, ui[Color::panel]);
    for (int c = 0; c < looked; ++c) {
      if (!std::isnan(heat.cell(r, c))) draw_cell(ui, m, r, c, inset, numbers);
    }
  }
}

/// False: there is no painter, or it cannot.
bool draw_texture(Ui& ui, const Matrix& m) {
  HeatImage image;
  const HeatMap& heat = m.view.heat;
  image.key = heat.key * static_cast<std::uint64_t>(kNumWeightScales);
  image.data = heat.cells.data();
  image.rows = heat.cell_rows;
  image.cols = heat.cell_cols;
  image.row_stride = heat.cell_cols;
  image.palette = palette_of(ui);
  image.log10 = ui.view.weight_scale == WeightScale::log10;
  image.ground = ui[Color::panel];
  image.masked = ui[Color::masked];
  image.error = ui[Color::error];
  image.hatch_spacing = ui.px(6);
  if (ui.view.weight_scale == WeightScale::rank) {
    if (m.view.ranked_key != heat.key) {
      m.view.ranked = heat.cells;
      for (float& cell : m.view.ranked) {
        if (std::isfinite(cell)) cell = m.view.ranks.rank(cell);
      }
      m.view.ranked_key = heat.key;
    }
    image.key += 1;
    image.data = m.view.ranked.data();
  }
  return ui.view.heat_painter->draw(*ui.draw, image, m.grid.area());
}

/// Sums at the right of every row; each must read 1.000.
void draw_row_sums(Ui& ui, const Matrix& m) {
  const float w = ui.px(44);
  const float x = m.grid.area().right() + ui.px(8);
  text_in(ui, FontRole::small, {x, m.grid.y - ui.px(17), w, ui.px(16)}, ui[Color::muted], "row \xCE\xA3",
          Align::right);
  const int step = std::max(1, static_cast<int>(std::ceil(ui.px(13) / m.grid.cell_h)));
  float free_from = m.grid.y;
  for (int r = 0; r < m.view.heat.cell_rows; ++r) {
    const float sum = m.view.heat.row_sum[static_cast<std::size_t>(r)];
    const bool good = m.good_sum(sum);
    const Rect cell = m.grid.cell(r, 0);
    const float h = std::max(cell.h, ui.px(13));
    if ((r % step != 0 && good) || cell.y < free_from || cell.y + h > m.grid.area().bottom() + ui.px(6))
      continue;
    free_from = cell.y + h - 1.0F;
    const Rect box{x, cell.y, w, h};
    const std::string text = fmt::format("{:.3f}", num(sum));
    text_in(ui, FontRole::mono, box, ui[good ? Color::text : Color::error], text, Align::right);
    const int row = m.part.row0 + r * m.view.heat.row_step;
    mark(ui, fmt::format("{}/row_sum/{}", m.in.prefix, row), box,
         fmt::format("row {} sums to {:.6f}", row, num(sum)),
         fmt::format("sum of weights[{}, {}, :] F32, {}", m.in.head, m.part.q0 + row, m.in.view->kernel));
  }
}

Mark cell_mark(const WeightsInput& in, const GridLayout& grid, int r, int c) {
  Mark out;
  out.name = fmt::format("{}/cell/{},{}", in.prefix, r, c);
  out.rect = grid.cell(grid.cell_row(r), grid.cell_col(c));
  const trace::AttentionView& view = *in.view;
  const int row = in.rows.q0 + r;
  const float weight = view.weight(in.head, row, c);
  const float score = view.scores.size() == view.weights.size() ? view.score(in.head, row, c) : NAN;
  const bool looked = c < in.part().looked(r);
  if (!looked)
    out.value = fmt::format("query {}, key {}: masked, the kernel does not look", r, c);
  else
    out.value = fmt::format("query {}, key {}: weight {:.6f}, score {:.4f}", r, c, num(weight), num(score));
  out.source = weight_source(view, in.head, row, c);
  return out;
}

void add_cell_family(Ui& ui, const Matrix& m) {
  ui.marks.add_family(
      m.in.prefix + "/cell/",
      [in = m.in, part = m.part, grid = m.grid](std::string_view rest) -> std::optional<Mark> {
        int r = -1;
        int c = -1;
        if (std::sscanf(std::string(rest).c_str(), "%d,%d", &r, &c) != 2) return std::nullopt;
        if (r < part.row0 || c < part.col0 || r >= part.row0 + part.rows || c >= part.col0 + part.cols)
          return std::nullopt;
        return cell_mark(in, grid, r, c);
      });
}

void touch_cells(Ui& ui, const Matrix& m, bool dragged) {
  const Rect area = m.grid.area();
  keep_whole(ui, area, m.in.prefix + "/cells");
  ui.marks.add(m.in.prefix + "/cells", visible_part(ui, area),
               fmt::format("{} x {} weights", m.part.rows, m.part.cols),
               fmt::format("weights[{}, {}..{}, :] F32, {}", m.in.head, m.part.q0 + m.part.row0,
                           m.part.q0 + m.part.row0 + m.part.rows - 1, m.in.view->kernel));
  add_cell_family(ui, m);
  if (dragged || !touch(ui, area).hovered) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int r = std::min(m.grid.row_at(mouse.y), m.part.row0 + m.part.rows - 1);
  const int c = std::min(m.grid.col_at(mouse.x), m.part.col0 + m.part.cols - 1);
  const Mark cell = cell_mark(m.in, m.grid, r, c);
  std::string group;
  if (m.grid.grouped()) {
    const float most = m.view.heat.cell(m.grid.cell_row(r), m.grid.cell_col(c));
    group = fmt::format("\nqueries {} to {}, keys {} to {}: ", r, r + m.grid.row_step - 1, c,
                        c + m.grid.col_step - 1);
    group +=
        std::isinf(most) ? "a weight is NaN or infinite" : fmt::format("largest weight {:.6f}", num(most));
  }
  tooltip(ui, cell.value + group, cell.source);
  ui.view.next_hover.seq = m.in.rows.seq;
  ui.view.next_hover.q_row = r;
  ui.view.next_hover.k_col = c;
  ui.view.next_hover.name = "scores";
  if (const trace::SeqState* seq = find_seq(ui.frame.step->seqs, m.in.rows.seq))
    ui.view.next_hover.block = block_of(*seq, c, ui.frame.step->config.block_size);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    select(ui, [&](Selection& s) {
      s.seq = m.in.rows.seq;
      s.q_row = r;
      s.k_col = c;
    });
  }
}

void draw_rings(Ui& ui, const Matrix& m) {
  if (ui.view.hover.seq == m.in.rows.seq)
    highlight_cell(ui, m.grid, ui.view.hover.q_row, ui.view.hover.k_col, false);
  const Selection& chosen = ui.selection;
  const int q =
      chosen.k_col >= 0 ? focus_q_row(m.in.rows, chosen) : chosen.q_row;  // where the cell cursor walks
  highlight_cell(ui, m.grid, q, chosen.k_col, true);
}

/// "queries 960-1023 are inspected, of 0-2047": a window of a large prefill; "" when all are.
std::string window_note(const WeightsInput& in) {
  if (in.part().rows >= in.rows.q_len) return {};
  return fmt::format("queries {}-{} are inspected, of 0-{}", in.row_from, in.row_to - 1, in.rows.q_len - 1);
}

/// What is not at its own size: groups, a zoomed part, bad numbers.
std::string notes_of(const Ui& ui, const Matrix& m) {
  std::string text;
  const auto add = [&](const std::string& note) { text += (text.empty() ? "" : "  \xC2\xB7  ") + note; };
  if (m.view.heat.bad > 0) add(fmt::format("{} weights are NaN or infinite", m.view.heat.bad));
  if (const std::string dark = dark_note(ui, m.view.heat.max); !dark.empty()) add(dark);
  if (m.grid.grouped())
    add(fmt::format("a cell is the largest of {} \xC3\x97 {} weights", m.grid.row_step, m.grid.col_step));
  const HeatPart whole = m.in.part();
  if (m.part.rows < whole.rows || m.part.cols < whole.cols)
    add(fmt::format("queries {}-{}, keys {}-{}", m.part.row0, m.part.row0 + m.part.rows - 1, m.part.col0,
                    m.part.col0 + m.part.cols - 1));
  return text;
}

void draw_foot(Ui& ui, const Matrix& m, const Rect& box) {
  draw_scale_legend(ui, m.in.prefix, {box.x, box.y, box.w, ui.px(kLegend)});
  if (box.h < ui.px(kLegend + kNotes)) return;
  Rect line_box{box.x, box.y + ui.px(kLegend), box.w, ui.px(24)};
  const HeatPart whole = m.in.part();
  const ZoomAxes axes{&m.view.cols, &m.view.rows, std::min(1.0, 8.0 / whole.cols),
                      std::min(1.0, 8.0 / whole.rows)};
  if (m.grid.grouped() || m.textured || !axes.whole())
    line_box.w -= zoom_buttons(ui, m.in.prefix, line_box, axes);
  if (const std::string window = window_note(m.in); !window.empty()) {
    const Rect below{box.x, line_box.bottom() + ui.px(2), box.w, ui.px(kWindow) - ui.px(2)};
    text_in(ui, FontRole::small, below, ui[Color::warning], window, Align::left);
    mark(ui, m.in.prefix + "/window", below, window,
         "the view holds no other rows: select one to inspect it");
  }
  const std::string text = notes_of(ui, m);
  if (text.empty()) return;
  text_in(ui, FontRole::small, line_box, ui[m.view.heat.bad > 0 ? Color::error : Color::muted],
          whole_parts(ui, FontRole::small, line_box.w, text), Align::left);
  mark(ui, m.in.prefix + "/notes", line_box, text);
}

/// What axes, sums and foot leave to the cells.
Rect cells_box(const Ui& ui, const Rect& rect, float foot) {
  const float axis_w = ui.px(34);
  const float sums_w = ui.px(kSums);
  return {rect.x + axis_w, rect.y + ui.px(18), rect.w - axis_w - sums_w, rect.h - ui.px(26) - foot};
}

/// The grid and the map of its cells; as a texture with a cell per few pixels, else 64 x 64 at most.
void lay_out(const Ui& ui, Matrix& m, const Rect& box, bool textured) {
  m.textured = textured;
  m.grid = layout_grid(box, m.part.rows, m.part.cols, ui.px(64) * ui.view.picture.cells,
                       textured ? 0 : kMaxHeatCells);
  m.grid.row0 = m.part.row0;
  m.grid.col0 = m.part.col0;
  if (textured && std::max(m.grid.cells_x, m.grid.cells_y) > ui.view.heat_painter->max_side()) {
    lay_out(ui, m, box, false);
    return;
  }
  prepare(ui, m);
}

}  // namespace

float matrix_foot_height(const Ui& ui, const WeightsInput& in, const MatrixView& view) {
  const HeatPart whole = in.part();
  const bool notes = std::max(whole.rows, whole.cols) > kMaxHeatCells || !view.rows.whole() ||
                     !view.cols.whole() || whole.rows < in.rows.q_len || view.heat.bad > 0 ||
                     !dark_note(ui, view.heat.max).empty();
  return ui.px(kLegend) + (notes ? ui.px(kNotes) : 0.0F) + (window_note(in).empty() ? 0.0F : ui.px(kWindow));
}

void draw_weights_matrix(Ui& ui, const WeightsInput& input, MatrixView& view, const Rect& rect,
                         const Rect* foot_box) {
  Matrix m{input, view, shown_part(input, view), {}, false};
  const float foot = foot_box != nullptr ? 0.0F : matrix_foot_height(ui, input, view);
  const Rect box = cells_box(ui, rect, foot);
  if (m.part.rows < 1 || m.part.cols < 1 || box.w < ui.px(40) || box.h < ui.px(20)) {
    text_wrapped(ui, FontRole::small, rect, ui[Color::muted], "too small for the weights");
    return;
  }
  lay_out(ui, m, box, ui.view.heat_painter != nullptr && std::max(m.part.rows, m.part.cols) > kMaxHeatCells);
  if (m.view.heat.cell_rows == 0) return;
  if (m.textured && !draw_texture(ui, m)) lay_out(ui, m, box, false);
  if (!m.textured) draw_quads(ui, m);
  outline(ui, m.grid.area(), ui[Color::stroke]);
  draw_axes(ui, m.grid, input.rows.cached());
  draw_row_sums(ui, m);
  const HeatPart whole = input.part();
  const bool dragged = zoom_by_mouse(
      ui, m.grid.area(),
      {&view.cols, &view.rows, std::min(1.0, 8.0 / whole.cols), std::min(1.0, 8.0 / whole.rows)});
  touch_cells(ui, m, dragged);
  draw_rings(ui, m);
  if (foot_box != nullptr) return draw_foot(ui, m, *foot_box);
  const float foot_y = std::min(m.grid.area().bottom() + ui.px(8), rect.bottom() - foot);
  draw_foot(ui, m, {rect.x, foot_y, rect.w, foot});
}

Rect matrix_cells(const Ui& ui, const WeightsInput& input, const MatrixView& view, const Rect& rect,
                  bool foot_below) {
  const HeatPart part = shown_part(input, view);
  const bool textured = ui.view.heat_painter != nullptr && std::max(part.rows, part.cols) > kMaxHeatCells;
  const float foot = foot_below ? matrix_foot_height(ui, input, view) : 0.0F;
  return layout_grid(cells_box(ui, rect, foot), part.rows, part.cols, ui.px(64) * ui.view.picture.cells,
                     textured ? 0 : kMaxHeatCells)
      .area();
}

float matrix_sums_width(const Ui& ui) { return ui.px(kSums); }

}  // namespace attn::viz
