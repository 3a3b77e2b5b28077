#include "viz/panels/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "viz/layout/grid_layout.h"
#include "viz/lookup.h"
#include "viz/panels/dot_product.h"
#include "viz/panels/mask_rows.h"
#include "viz/panels/weights.h"
#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {
namespace {

constexpr int kMaxDecodeRows = 64;

/// What the drawing's parts share.
struct Drawing {
  BatchRows batch;  // of the sequence in focus
  MaskPair mask;
  bool prefill = true;
  GridLayout grid;
  std::vector<MaskRow> rows;
  int num_rows = 0, num_cols = 0;  // of the whole matrix
};

/// Grid lines, the staircase on the frontier, and the ring on each query's own key.
void draw_lines(const Ui& ui, const Drawing& d) {
  const GridLayout& grid = d.grid;
  const Rect area = grid.area();
  const bool fine = !grid.grouped() && std::min(grid.cell_w, grid.cell_h) >= 6.0F;
  for (int c = 1; fine && c < grid.cells_x; ++c) {
    const float x = grid.cell(0, c).x;
    line(ui, x, area.y, x, area.bottom(), ui[Color::panel]);
  }
  for (int r = 1; (fine || !d.prefill) && r < grid.cells_y; ++r) {  // decode rows are different sequences
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
    const float radius = std::max(2.0F, std::min({cell.w, cell.h, ui.px(26)}) * 0.28F);
    ui.draw->AddCircle({cell.x + cell.w * 0.5F, cell.y + cell.h * 0.5F}, radius, rgba(ui[Color::text]), 0,
                       std::max(1.0F, ui.px(1.5F)));
  }
}

/// Bracket under the cached columns: "cached_len 8".
void draw_cached_bracket(Ui& ui, const Drawing& d) {
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
  text_in(ui, FontRole::small, {span.x, y + ui.px(1), w, ui.px(17)}, ui[Color::text], text, Align::center);
}

void add_cell_family(Ui& ui, const Drawing& d, const std::string& source) {
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

void touch_cells(Ui& ui, const Drawing& d, bool dragged) {
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
  if (k >= row.attended) return;
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

void draw_rings(Ui& ui, const Drawing& d) {
  const auto row_of = [&](int seq, int q) {
    if (d.prefill) return seq == d.batch.seq ? q : -1;
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
      if (d.rows[i].seq == seq) return static_cast<int>(i);
    }
    return -1;
  };
  highlight_cell(ui, d.grid, row_of(ui.view.hover.seq, ui.view.hover.q_row), ui.view.hover.k_col, false);
  highlight_cell(ui, d.grid, row_of(focus_seq(ui.frame, ui.selection), ui.selection.q_row),
                 ui.selection.k_col, true);
}

void draw_cells(Ui& ui, const Drawing& d, bool dragged) {
  const GridLayout& grid = d.grid;
  const Rect area = grid.area();
  hatch(ui, area, ui[Color::masked], ui.px(6));
  for (std::size_t i = 0; i < d.rows.size(); ++i) {
    draw_mask_row(ui, grid, d.rows[i], static_cast<int>(i));
    if (!d.prefill) {  // columns this shorter row does not have
      const Rect beyond =
          mask_span(grid, static_cast<int>(i), d.rows[i].attended, d.num_cols + grid.col_step);
      fill(ui, beyond, ui[Color::panel]);
    }
  }
  draw_lines(ui, d);
  for (std::size_t i = 0; i < d.rows.size(); ++i) {
    if (d.mask.preview()) draw_changes(ui, grid, d.rows[i], static_cast<int>(i));
    draw_pad_label(ui, grid, d.rows[i], static_cast<int>(i));
  }
  ui.marks.add("mask/cells", visible_part(ui, area));
  touch_cells(ui, d, dragged);
  draw_rings(ui, d);
}

/// Buttons for the three alignments; another than the engine's is a preview.
void draw_toggle(Ui& ui, const Rect& row, MaskPair mask) {
  struct Choice {
    MaskAlignment mask;
    const char* name;
    const char* label;
  };
  static constexpr std::array<Choice, 3> kChoices = {
      {{MaskAlignment::bottom_right, "bottom_right", "bottom-right"},
       {MaskAlignment::top_left, "top_left", "top-left"},
       {MaskAlignment::none, "none", "none"}}};
  float x = row.x;
  for (const Choice& choice : kChoices) {
    const float w = text_width(ui, FontRole::strong, choice.label) + ui.px(16);
    if (x + w > row.right()) return;
    const bool engine = choice.mask == mask.engine;
    if (button(ui, std::string("mask/align/") + choice.name, {x, row.y, w, row.h}, choice.label,
               engine ? "the engine's mask in this step" : "preview: what would change with this mask", true,
               choice.mask == mask.shown)) {
      ui.view.attention.mask_preview.reset();
      if (!engine) ui.view.attention.mask_preview = choice.mask;
    }
    x += w + ui.px(4);
  }
}

void draw_legend(const Ui& ui, const Rect& line_box, const Drawing& d) {
  struct Entry {
    const char* text;
    Color color;
    char pattern;
  };
  const Entry entries[] = {
      {"cached", Color::cached_band, 'f'},
      {"new", Color::allowed, 'f'},
      {d.prefill ? "masked" : "pad", d.prefill ? Color::masked : Color::pad, d.prefill ? '/' : 'x'},
      {"own key", Color::text, 'o'},
      {"changes", Color::warning, 'c'}};
  const float side = ui.px(12);
  float x = line_box.x;
  for (const Entry& entry : entries) {
    const float w = side + ui.px(6) + text_width(ui, FontRole::small, entry.text);
    if (x + w > line_box.right() || (entry.pattern == 'c' && !d.mask.preview())) return;
    const Rect box{x, line_box.y + std::floor((line_box.h - side) * 0.5F), side, side};
    if (entry.pattern == 'f') fill(ui, box, ui[entry.color]);
    if (entry.pattern == '/') hatch(ui, box, ui[entry.color], ui.px(4));
    if (entry.pattern == 'x') cross_hatch(ui, box, ui[entry.color], ui.px(4));
    if (entry.pattern == 'c')
      ui.draw->AddTriangleFilled({box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()},
                                 rgba(ui[entry.color]));
    if (entry.pattern == 'o')
      ui.draw->AddCircle({box.x + side * 0.5F, box.y + side * 0.5F}, side * 0.36F, rgba(ui[entry.color]), 0,
                         std::max(1.0F, ui.px(1.5F)));
    text_in(ui, FontRole::small, {box.right() + ui.px(5), line_box.y, w, line_box.h}, ui[Color::muted],
            entry.text, Align::left);
    x += w + ui.px(14);
  }
}

std::string count_text(const Drawing& d) {
  std::string text;
  if (!d.prefill) {
    const BatchRows& b = d.batch;
    text = b.batch < 0 ? fmt::format("{} is not in this step", seq_letter(b.seq))
                       : fmt::format("{}: {} keys{}", seq_letter(b.seq), b.k_len,
                                     b.pads() > 0 ? fmt::format(" + {} zero pads attended", b.pads()) : "");
    if (d.mask.preview() && b.batch >= 0)
      text = fmt::format("preview: {} of {} keys, engine: {}", visible_keys(d.mask.shown, 0, 1, b.attended),
                         b.attended, visible_keys(d.mask.engine, 0, 1, b.attended));
  } else {
    const long long all = static_cast<long long>(d.batch.q_len) * d.batch.k_len;
    text = fmt::format("{} of {} allowed", count_allowed(d.mask.shown, d.batch), all);
    if (d.mask.preview())
      text = fmt::format("preview: {}, engine: {}", text, count_allowed(d.mask.engine, d.batch));
    else if (d.batch.cached() > 0)
      text += fmt::format("  \xC2\xB7  cached_len {}", d.batch.cached());
  }
  if (d.grid.grouped())
    text += fmt::format("  \xC2\xB7  a cell is {} \xC3\x97 {}", d.grid.row_step, d.grid.col_step);
  return text;
}

/// The rule with this sequence's numbers, and with the cell that is hovered or selected.
std::string rule_text(const Ui& ui, const Drawing& d) {
  const BatchRows& b = d.batch;
  if (!d.prefill) {
    return d.mask.shown == MaskAlignment::top_left ? "j \xE2\x89\xA4 i: the one query, i = 0, sees key 0 only"
                                                   : "one query: it sees its whole row";
  }
  if (d.mask.shown == MaskAlignment::none) return "every query sees every key";
  const bool corner = d.mask.shown == MaskAlignment::bottom_right;
  const bool hover = ui.view.hover.seq == b.seq && ui.view.hover.q_row >= 0 && ui.view.hover.k_col >= 0;
  const bool locked = ui.selection.q_row >= 0 && ui.selection.q_row < b.q_len && ui.selection.k_col >= 0 &&
                      ui.selection.k_col < b.k_len;
  const int shift = corner ? b.cached() : 0;
  if (!hover && !locked) {
    return corner ? fmt::format("j \xE2\x89\xA4 i + (kv \xE2\x88\x92 q) = i + ({} \xE2\x88\x92 {}) = i + {}",
                                b.k_len, b.q_len, shift)
                  : "j \xE2\x89\xA4 i: the cached prefix is not in it";
  }
  const int i = hover ? ui.view.hover.q_row : ui.selection.q_row;
  const int j = hover ? ui.view.hover.k_col : ui.selection.k_col;
  const bool allowed = j < visible_keys(d.mask.shown, i, b.q_len, b.k_len);
  return fmt::format("j = {} {} {} = i{} \xE2\x86\x92 {}", j, allowed ? "\xE2\x89\xA4" : ">", i + shift,
                     corner ? fmt::format(" + ({} \xE2\x88\x92 {})", b.k_len, b.q_len) : "",
                     allowed ? "allowed" : "masked");
}

/// Count, rule and legend right under the grid; in prefill the miniatures of the other masks below.
void draw_foot(Ui& ui, const Drawing& d, const Rect& foot) {
  const float line_h = ui.px(20);
  Rect line_box{foot.x, foot.y, foot.w, line_h};
  const std::string text = count_text(d);
  const bool large =
      d.grid.grouped() || !ui.view.attention.mask_cols.whole() || !ui.view.attention.mask_rows.whole();
  Rect count_box = line_box;
  if (large) {
    const ZoomAxes axes{&ui.view.attention.mask_cols, d.prefill ? &ui.view.attention.mask_rows : nullptr,
                        std::min(1.0, 8.0 / d.num_cols), std::min(1.0, 8.0 / d.num_rows)};
    count_box.w -= zoom_buttons(ui, "mask", line_box, axes);
  }
  text_in(ui, FontRole::strong, count_box, ui[d.mask.preview() ? Color::warning : Color::text], text,
          Align::left);
  mark(ui, "mask/allowed", count_box, text, "counted with visible_keys of kernels/common/mask.h");
  line_box.y += line_h + ui.px(2);
  const std::string rule = rule_text(ui, d);
  text_in(ui, FontRole::mono, line_box, ui[Color::text], rule, Align::left);
  mark(ui, "mask/rule", line_box, rule, "lengths from cu_seqlens_q, cu_seqlens_k I32");
  line_box.y += line_h;
  draw_legend(ui, line_box, d);
  const float thumbs_y = line_box.bottom() + ui.px(8);
  if (d.prefill) draw_mask_thumbs(ui, {foot.x, thumbs_y, foot.w, foot.bottom() - thumbs_y}, d.mask);
}

Drawing drawing_of(const Ui& ui, const BatchRows& batch, MaskPair mask, bool prefill, const Rect& box) {
  Drawing d{batch, mask, prefill, {}, {}, 0, 0};
  if (!prefill) d.rows = decode_mask_rows(ui.frame, mask, kMaxDecodeRows);
  d.num_cols = batch.k_len;
  for (const MaskRow& row : d.rows) d.num_cols = std::max(d.num_cols, row.attended);
  d.num_rows = prefill ? batch.q_len : static_cast<int>(d.rows.size());
  const Span cols = shown_span(ui.view.attention.mask_cols, d.num_cols);
  const Span rows = prefill ? shown_span(ui.view.attention.mask_rows, d.num_rows) : Span{0, d.num_rows};
  d.grid = layout_grid(box, rows.size(), cols.size(), ui.px(prefill ? 44 : 28), kMaxHeatCells, !prefill);
  d.grid.row0 = rows.from;
  d.grid.col0 = cols.from;
  if (prefill && d.grid.cells_y > 0) d.rows = prefill_mask_rows(mask, batch, rows, d.grid.row_step);
  return d;
}

/// In decode the grid is low; the room below shows where a bar's height comes from.
void draw_score(Ui& ui, int seq, MaskAlignment engine, const Rect& area) {
  const WeightsInput in = weights_input(ui.frame, ui.frame.attention, seq, ui.selection.head, engine);
  if (weights_missing(ui.frame, in).empty())
    draw_dot_product(ui, in, {area.x, area.y, area.w, std::min(area.h, ui.px(180))});
}

void draw_body(Ui& ui, const BatchRows& batch, MaskPair mask, bool prefill) {
  const Rect body = ui.body;
  const bool roomy = body.h >= ui.px(170);
  const float toggle_h = roomy ? ui.px(24) : 0.0F;
  const float axis_h = ui.px(18);
  const float bracket_h = prefill && batch.cached() > 0 ? ui.px(24) : ui.px(8);
  const bool thumbs = prefill && ui.frame.step->num_scheduled > 1 && body.h >= ui.px(330);
  const float foot_h = ui.px(62) + (thumbs ? ui.px(100) : 0.0F);
  const float top = body.y + toggle_h + (roomy ? ui.px(6) : 0.0F) + axis_h;
  const float axis_w = ui.px(34);
  const Rect box{body.x + axis_w, top, body.w - axis_w, body.bottom() - top - bracket_h - foot_h};
  const Drawing d = drawing_of(ui, batch, mask, prefill, box);
  if (d.grid.cells_x == 0 || d.grid.cells_y == 0 || box.h < ui.px(16)) return;
  if (roomy) draw_toggle(ui, {body.x, body.y, body.w, toggle_h}, mask);
  const ZoomAxes axes{&ui.view.attention.mask_cols, prefill ? &ui.view.attention.mask_rows : nullptr,
                      std::min(1.0, 8.0 / d.num_cols), std::min(1.0, 8.0 / d.num_rows)};
  draw_cells(ui, d, zoom_by_mouse(ui, d.grid.area(), axes));
  if (prefill) {
    draw_axes(ui, d.grid, batch.cached());
    draw_cached_bracket(ui, d);
  } else {
    for (std::size_t i = 0; i < d.rows.size(); ++i)
      draw_row_letter(ui, d.grid, static_cast<int>(i), d.rows[i].seq);
    draw_column_numbers(ui, d.grid);
  }
  const float foot_y = d.grid.area().bottom() + bracket_h;
  draw_foot(ui, d, {body.x, foot_y, body.w, body.bottom() - foot_y});
  if (!prefill)
    draw_score(ui, batch.seq, mask.engine,
               {body.x, foot_y + ui.px(74), body.w, body.bottom() - foot_y - ui.px(74)});
}

}  // namespace

void draw_mask(Ui& ui, const Rect& rect) {
  const int seq = focus_seq(ui.frame, ui.selection);
  const BatchRows batch = batch_rows(ui.frame, seq);
  const trace::StepRecord* step = ui.frame.step.get();
  const bool prefill = step == nullptr || is_prefill(*step);
  MaskPair mask;
  if (step != nullptr) mask.engine = mask_in_force(*step);
  mask.shown = ui.view.attention.mask_preview.value_or(mask.engine);
  const std::string title = prefill && seq >= 0 ? fmt::format("Mask of {}", seq_letter(seq)) : "Mask";
  std::string caption = prefill ? fmt::format("engine: {}", mask_text(mask.engine))
                        : mask.engine == MaskAlignment::top_left ? "engine: top-left (wrong corner)"
                                                                 : "not causal: one query sees its whole row";
  if (mask.preview()) caption = fmt::format("preview, engine: {}", mask_text(mask.engine));
  if (!begin_panel(ui, "mask", rect, title, caption)) return;
  const bool identity = step != nullptr && step->path == trace::AttentionPath::identity;
  if (step == nullptr || identity || (prefill && batch.batch < 0)) {
    empty_note(ui, step == nullptr ? "Which keys each query may see appears here."
                   : identity ? "No attention in this step: without context or cache the output is q itself."
                              : fmt::format("{} has no rows in this step.", seq_letter(seq)));
  } else {
    draw_body(ui, batch, mask, prefill);
  }
  end_panel(ui);
}

}  // namespace attn::viz
