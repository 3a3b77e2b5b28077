#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/layout/label_spread.h"
#include "viz/lookup.h"
#include "viz/panels/compare_parts.h"
#include "viz/panels/weights.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kMostColumns = 64;
constexpr float kDiffHeading = 24.0F;  // px at scale 1: the sentence and its gap
constexpr float kDiffFoot = 16.0F;     // names of the columns
constexpr float kDiffBar = 26.0F;      // colours with their numbers
constexpr float kDiffBarWidth = 120.0F;

/// Whether the colours stand at the right of the cells, else they stand below.
bool bar_beside(const Ui& ui, float width) { return width >= ui.px(330); }

/// Query rows that the grid shows as columns: of the focus sequence in prefill, of all sequences in decode.
struct DiffGrid {
  const trace::CompareView& compare;
  bool decode = false;
  int row0 = 0;   // packed
  int count = 0;  // rows
  int step = 1;   // rows per column
  int columns() const { return (count + step - 1) / step; }
  float at(int head, int row) const { return compare.max_abs_diff_o[compare.a.view->at(head, row, 1, 0)]; }
  /// Row of a column with the largest difference; a NaN is larger than any.
  int worst_row(int head, int column) const {
    const int first = row0 + column * step, end = std::min(first + step, row0 + count);
    int worst = first;
    for (int row = first; row < end; ++row) {
      if (!(at(head, row) <= at(head, worst))) worst = row;
    }
    return worst;
  }
};

DiffGrid grid_of(const Ui& ui, const trace::CompareView& compare) {
  const trace::AttentionView& view = *compare.a.view;
  DiffGrid grid{.compare = compare, .decode = !is_prefill(*ui.frame.step)};
  grid.row0 = view.first_row;
  grid.count = view.num_q;
  if (!grid.decode) {
    const BatchRows rows = batch_rows(ui.frame, focus_seq(ui.frame, ui.selection));
    const int end = std::min(rows.q0 + rows.q_len, view.first_row + view.num_q);
    grid.row0 = std::max(rows.q0, view.first_row);
    grid.count = rows.batch < 0 ? 0 : std::max(0, end - grid.row0);
  }
  grid.step = std::max(1, (grid.count + kMostColumns - 1) / kMostColumns);
  return grid;
}

std::string row_name(const Ui& ui, const DiffGrid& grid, int row) {
  const trace::StepRecord& step = *ui.frame.step;
  const auto next = std::upper_bound(step.cu_seqlens_q.begin(), step.cu_seqlens_q.end(), row);
  const auto b = static_cast<std::size_t>(next - step.cu_seqlens_q.begin()) - 1;
  const std::string letter = b < step.seqs.size() ? seq_letter(step.seqs[b].id) : "?";
  return grid.decode ? letter : fmt::format("{} query {}", letter, row - step.cu_seqlens_q[b]);
}

std::string number(double value) {
  if (value == 0.0) return "0";
  return value >= 1e-3 ? fmt::format("{:.4f}", num(value)) : fmt::format("{:.1e}", num(value));
}

void draw_bar(Ui& ui, const Rect& rect, double worst) {
  const Palette palette = palette_of(ui);
  const float bar_h = std::min(ui.px(10), rect.h * 0.5F);
  constexpr int kSteps = 24;
  for (int i = 0; i < kSteps; ++i) {
    const float x0 = std::round(rect.x + rect.w * static_cast<float>(i) / kSteps);
    const float x1 = std::round(rect.x + rect.w * static_cast<float>(i + 1) / kSteps);
    fill(ui, {x0, rect.y, x1 - x0, bar_h},
         palette_color(palette, (static_cast<float>(i) + 0.5F) / static_cast<float>(kSteps)));
  }
  outline(ui, {rect.x, rect.y, rect.w, bar_h}, ui[Color::stroke]);
  const Rect ticks{rect.x, rect.y + bar_h, rect.w, rect.h - bar_h};
  text_in(ui, FontRole::small, ticks, ui[Color::muted], "0", Align::left);
  text_in(ui, FontRole::small, ticks, ui[Color::muted], number(worst), Align::right);
  mark(ui, "compare/diff/colors", rect, fmt::format("max |A - B| of o over head_dim: 0 to {}", number(worst)),
       "magnitude, linear");
}

void draw_cell(Ui& ui, const DiffGrid& grid, const Rect& box, int head, int column) {
  const int row = grid.worst_row(head, column);
  const float value = grid.at(head, row);
  if (std::isnan(value)) {
    fill(ui, box, ui[Color::error]);
    return;
  }
  const double worst = grid.compare.worst;
  fill(ui, box, palette_color(palette_of(ui), worst > 0.0 ? static_cast<float>(value / worst) : 0.0F));
}

void draw_labels(Ui& ui, const DiffGrid& grid, const Rect& cells, float cell_w, float cell_h) {
  const int heads = grid.compare.a.view->num_heads;
  const int every = std::max(1, static_cast<int>(std::ceil(ui.px(15) / cell_h)));
  for (int head = 0; head < heads; head += every) {
    const Rect label{cells.x - ui.px(30), cells.y + cell_h * static_cast<float>(head) - ui.px(2), ui.px(26),
                     std::max(cell_h + ui.px(4), ui.px(14))};
    text_in(ui, FontRole::small, label, ui[head == ui.selection.head ? Color::text : Color::muted],
            fmt::format("h{}", head), Align::right);
  }
  const int first = grid.decode ? 0 : batch_rows(ui.frame, focus_seq(ui.frame, ui.selection)).q0;
  const auto name_of = [&](int column) {
    const int row = grid.row0 + column * grid.step;
    return grid.decode ? row_name(ui, grid, row) : std::to_string(row - first);
  };
  float widest = 0.0F;
  for (int column = 0; column < grid.columns(); ++column)
    widest = std::max(widest, text_width(ui, FontRole::small, name_of(column)));
  const int step = label_step(cell_w, widest + ui.px(8));
  for (int column = 0; column < grid.columns(); column += step) {
    const Rect label{cells.x + cell_w * (static_cast<float>(column) + 0.5F) - ui.px(20), cells.bottom(),
                     ui.px(40), ui.px(15)};
    text_in(ui, FontRole::small, label, ui[Color::muted], name_of(column), Align::center);
  }
}

/// Selects head and query (and in decode the sequence) of a cell.
void select_cell(Ui& ui, const DiffGrid& grid, int head, int row) {
  const trace::StepRecord& step = *ui.frame.step;
  select(ui, [&](Selection& s) {
    s.head = head;
    const auto next = std::upper_bound(step.cu_seqlens_q.begin(), step.cu_seqlens_q.end(), row);
    const auto b = static_cast<std::size_t>(next - step.cu_seqlens_q.begin()) - 1;
    if (b < step.seqs.size()) s.seq = step.seqs[b].id;
    s.q_row = grid.decode ? 0 : row - step.cu_seqlens_q[b];
  });
}

void draw_cells(Ui& ui, const DiffGrid& grid, const Rect& cells, float cell_w, float cell_h) {
  const trace::CompareView& compare = grid.compare;
  for (int head = 0; head < compare.a.view->num_heads; ++head) {
    for (int column = 0; column < grid.columns(); ++column) {
      const float x0 = std::round(cells.x + cell_w * static_cast<float>(column));
      const float y0 = std::round(cells.y + cell_h * static_cast<float>(head));
      const float gap = std::min(cell_w, cell_h) >= ui.px(8) ? 1.0F : 0.0F;
      const Rect box{x0, y0, std::round(cells.x + cell_w * static_cast<float>(column + 1)) - x0 - gap,
                     std::round(cells.y + cell_h * static_cast<float>(head + 1)) - y0 - gap};
      draw_cell(ui, grid, box, head, column);
      const int row = grid.worst_row(head, column);
      const Hit hit = touch(ui, box);
      if (!hit.hovered) continue;
      outline(ui, box, ui[Color::selection], ui.px(2));
      mark(ui, "compare/diff/hovered", box,
           fmt::format("head {}, {}: max |A - B| {}", head, row_name(ui, grid, row),
                       number(grid.at(head, row))),
           fmt::format("o of both launches, row {}, head {}", row, head));
      ui.view.next_hover.head = head;
      if (hit.clicked) select_cell(ui, grid, head, row);
    }
  }
  outline(ui, {cells.x - 1.0F, cells.y - 1.0F, cells.w + 2.0F, cells.h + 2.0F}, ui[Color::stroke]);
  if (ui.selection.head >= 0 && ui.selection.head < compare.a.view->num_heads) {
    outline(ui,
            {cells.x - ui.px(1), std::round(cells.y + cell_h * static_cast<float>(ui.selection.head)) - 1.0F,
             cells.w + ui.px(2), cell_h + 1.0F},
            ui[Color::accent], 1.0F);
  }
}

/// Ring and number of the worst place, when the grid shows it.
void ring_worst(Ui& ui, const DiffGrid& grid, const Rect& cells, float cell_w, float cell_h) {
  const trace::CompareView& compare = grid.compare;
  const int column = (compare.worst_row - grid.row0) / grid.step;
  if (compare.worst <= 0.0 || compare.worst_row < grid.row0 || column >= grid.columns()) return;
  const float cx = cells.x + cell_w * (static_cast<float>(column) + 0.5F);
  const float cy = cells.y + cell_h * (static_cast<float>(compare.worst_head) + 0.5F);
  const float w = std::max(cell_w, ui.px(10)) + ui.px(4), h = std::max(cell_h, ui.px(10)) + ui.px(4);
  const Rect ring{std::round(cx - w / 2.0F), std::round(cy - h / 2.0F), w, h};
  outline(ui, {ring.x - 1.0F, ring.y - 1.0F, ring.w + 2.0F, ring.h + 2.0F}, ui[Color::panel], ui.px(4),
          ui.px(3));
  outline(ui, ring, ui[Color::error], ui.px(2), ui.px(3));
  mark(ui, "compare/diff/worst", ring,
       fmt::format("worst: head {}, {}: {}", compare.worst_head, row_name(ui, grid, compare.worst_row),
                   number(compare.worst)),
       "largest max |A - B| of o");
  const std::string text = number(compare.worst);
  const float text_w = text_width(ui, FontRole::strong, text) + ui.px(8);
  const bool right = ring.right() + text_w < cells.right() + ui.px(2);
  const Rect label{right ? ring.right() + ui.px(2) : ring.x - text_w - ui.px(2),
                   std::clamp(cy - ui.px(9), cells.y, std::max(cells.y, cells.bottom() - ui.px(18))), text_w,
                   ui.px(18)};
  if (label.x < cells.x) return;
  fill(ui, label, ui[Color::panel], 1.0F, ui.px(3));
  outline(ui, label, ui[Color::error], 1.0F, ui.px(3));
  text_in(ui, FontRole::strong, label, ui[Color::text], text, Align::center);
}

}  // namespace

std::string difference_text(const Frame& frame, const trace::CompareView& compare) {
  const bool any_nan = std::any_of(compare.max_abs_diff_o.begin(), compare.max_abs_diff_o.end(),
                                   [](float value) { return std::isnan(value); });
  if (any_nan) return "NaN in o of one side (error colour)";
  if (compare.worst == 0.0) return "o of A and B is equal to the bit";
  const double scale = compare.a.view->max_abs_o;
  if (scale > 0.0 && compare.worst < 1e-5 * scale)
    return fmt::format("o is the same up to rounding: max |A \xE2\x88\x92 B| {}", number(compare.worst));
  const trace::StepRecord& step = *frame.step;
  const auto next = std::upper_bound(step.cu_seqlens_q.begin(), step.cu_seqlens_q.end(), compare.worst_row);
  const auto b = static_cast<std::size_t>(next - step.cu_seqlens_q.begin()) - 1;
  return fmt::format("o differs: max |A \xE2\x88\x92 B| {} in head {} of sequence {}", number(compare.worst),
                     compare.worst_head, b < step.seqs.size() ? seq_letter(step.seqs[b].id) : "?");
}

float difference_height(const Ui& ui, const trace::CompareView& compare, float width, float cell) {
  const float below = bar_beside(ui, width) ? 0.0F : ui.px(kDiffBar + 4);
  return ui.px(kDiffHeading) + cell * static_cast<float>(std::max(1, compare.a.view->num_heads)) +
         ui.px(kDiffFoot) + below;
}

void draw_difference_text(Ui& ui, const trace::CompareView& compare, const Rect& heading) {
  const std::string text = difference_text(ui.frame, compare);
  const std::string_view brief = std::string_view(text).substr(0, text.find(" in head "));
  text_in(ui, FontRole::strong, heading, ui[Color::text],
          first_fitting(ui, FontRole::strong, heading.w,
                        {text, brief, brief.substr(std::min(brief.find("max"), brief.size()))}),
          Align::left);
  name_tag(ui, {heading.x, heading.y, text_width(ui, FontRole::strong, "o"), heading.h}, "o");
  mark(ui, "compare/diff/text", heading, text, "o of both launches");
}

void draw_difference(Ui& ui, const trace::CompareView& compare, const Rect& rect) {
  const Rect heading{rect.x, rect.y, rect.w, ui.px(20)};
  draw_difference_text(ui, compare, heading);
  const DiffGrid grid = grid_of(ui, compare);
  const int heads = compare.a.view->num_heads;
  const float label_w = ui.px(32), foot = ui.px(kDiffFoot);
  const float top = rect.y + ui.px(kDiffHeading);
  const bool beside = bar_beside(ui, rect.w);
  const float bar_w = beside ? ui.px(kDiffBarWidth) : std::min(ui.px(220), rect.w - label_w);
  const float height = rect.bottom() - top - foot - (beside ? 0.0F : ui.px(kDiffBar + 4));
  if (grid.count <= 0 || heads <= 0 || height < ui.px(24) || rect.w < ui.px(120)) return;
  const float cell_h = std::min(height / static_cast<float>(heads), ui.px(22));
  const float most = grid.decode ? ui.px(64) : ui.px(22);
  const float room = rect.w - label_w - ui.px(2) - (beside ? bar_w + ui.px(16) : 0.0F);
  const float cell_w = std::min(room / static_cast<float>(grid.columns()), most);
  const Rect cells{rect.x + label_w, top, cell_w * static_cast<float>(grid.columns()),
                   cell_h * static_cast<float>(heads)};
  keep_whole(ui, cells, "compare/diff");
  draw_labels(ui, grid, cells, cell_w, cell_h);
  draw_cells(ui, grid, cells, cell_w, cell_h);
  ring_worst(ui, grid, cells, cell_w, cell_h);
  draw_bar(ui,
           beside ? Rect{cells.right() + ui.px(16), top, bar_w, ui.px(kDiffBar)}
                  : Rect{cells.x, cells.bottom() + foot + ui.px(4), bar_w, ui.px(kDiffBar)},
           compare.worst);
  const auto shown = [view = compare.a.view, grid_at = cells, cell_w, cell_h, row0 = grid.row0,
                      step = grid.step, columns = grid.columns(), heads,
                      values = compare.max_abs_diff_o](std::string_view rest) -> std::optional<Mark> {
    const auto comma = rest.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const int head = std::atoi(std::string(rest.substr(0, comma)).c_str());
    const int column = std::atoi(std::string(rest.substr(comma + 1)).c_str());
    if (head < 0 || head >= heads || column < 0 || column >= columns) return std::nullopt;
    const float value = values[view->at(head, row0 + column * step, 1, 0)];
    return Mark{fmt::format("compare/diff/{},{}", head, column),
                {grid_at.x + cell_w * static_cast<float>(column),
                 grid_at.y + cell_h * static_cast<float>(head), cell_w, cell_h},
                number(value),
                "max |A - B| of o"};
  };
  ui.marks.add_family("compare/diff/", shown);
}

}  // namespace attn::viz
