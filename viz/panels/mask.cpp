#include "viz/panels/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/lookup.h"
#include "viz/panels/dot_product.h"
#include "viz/panels/mask_grid.h"
#include "viz/panels/weights.h"
#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/tall_body.h"
#include "viz/widgets/veil.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {
namespace {

constexpr int kMaxDecodeRows = 64;

/// Buttons for the three alignments; another than the engine's is a preview. In a still the one shown in
/// words.
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
  if (ui.view.picture.still) {
    text_in(ui, FontRole::small, row, ui[Color::muted], fmt::format("mask: {}", mask_text(mask.shown)),
            Align::left);
    return;
  }
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

struct LegendEntry {
  const char* text;
  Color color;
  char pattern;
};

std::vector<LegendEntry> legend_of(const MaskDrawing& d) {
  // Of a decode batch: rows that are filled up with zeros, or rows that end earlier than others.
  const auto any = [&](const auto& is) { return !d.prefill && std::ranges::any_of(d.rows, is); };
  const bool shorter = any([&](const MaskRow& row) { return row.attended < d.num_cols; });
  std::vector<LegendEntry> out = {{"cached", Color::cached_band, 'f'}, {"new", Color::allowed, 'f'}};
  out.push_back(d.prefill ? LegendEntry{"masked", Color::masked, '/'}
                : shorter ? LegendEntry{"no key", Color::unwritten, '.'}
                          : LegendEntry{"pad", Color::pad, 'x'});
  // Under an alignment that is wrong for decode.
  if (!d.prefill &&
      std::ranges::any_of(d.rows, [](const MaskRow& row) { return row.visible < row.attended; }))
    out.push_back({"masked", Color::masked, '/'});
  out.push_back({"own key", Color::text, 'o'});
  if (d.mask.preview()) out.push_back({"changes", Color::warning, 'c'});
  return out;
}

void draw_pattern(const Ui& ui, const LegendEntry& entry, const Rect& box) {
  if (entry.pattern == 'f') fill(ui, box, ui[entry.color]);
  if (entry.pattern == '/') hatch(ui, box, ui[entry.color], ui.px(4));
  if (entry.pattern == '.') dotted(ui, box, ui[entry.color]);
  if (entry.pattern == 'x') cross_hatch(ui, box, ui[entry.color], ui.px(4));
  if (entry.pattern == 'c')
    ui.draw->AddTriangleFilled({box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()},
                               rgba(ui[entry.color]));
  if (entry.pattern == 'o')
    ui.draw->AddCircle({box.x + box.w * 0.5F, box.y + box.w * 0.5F}, box.w * 0.36F, rgba(ui[entry.color]), 0,
                       std::max(1.0F, ui.px(1.5F)));
}

/// As many in a line as fit; returns the lines used. Without `draw` it only counts.
int flow_legend(const Ui& ui, const std::vector<LegendEntry>& entries, const Rect& first_line, bool draw) {
  const float side = ui.px(12);
  Rect at = first_line;
  int lines = 1;
  for (const LegendEntry& entry : entries) {
    const float w = side + ui.px(6) + text_width(ui, FontRole::small, entry.text);
    if (at.x > first_line.x && at.x + w > first_line.right()) {
      at.x = first_line.x;
      at.y += at.h;
      ++lines;
    }
    if (draw) {
      const Rect box{at.x, at.y + std::floor((at.h - side) * 0.5F), side, side};
      draw_pattern(ui, entry, box);
      text_in(ui, FontRole::small, {box.right() + ui.px(5), at.y, w, at.h}, ui[Color::muted], entry.text,
              Align::left);
    }
    at.x += w + ui.px(14);
  }
  return lines;
}

std::string count_text(const MaskDrawing& d) {
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
  }
  return text;
}

/// The rule with this sequence's numbers, and with the cell that is hovered or selected.
std::string rule_text(const Ui& ui, const MaskDrawing& d) {
  const BatchRows& b = d.batch;
  if (!d.prefill) {
    return d.mask.shown == MaskAlignment::top_left ? "j \xE2\x89\xA4 i: the one query, i = 0, sees key 0 only"
                                                   : "one query: it sees its whole row";
  }
  if (d.mask.shown == MaskAlignment::none) return "every query sees every key";
  const bool corner = d.mask.shown == MaskAlignment::bottom_right;
  const bool hover = ui.view.hover.seq == b.seq && ui.view.hover.q_row >= 0 && ui.view.hover.k_col >= 0;
  const bool locked = ui.selection.k_col >= 0 && ui.selection.k_col < b.k_len;
  const int shift = corner ? b.cached() : 0;
  if (!hover && !locked) {
    return corner ? fmt::format("j \xE2\x89\xA4 i + (kv \xE2\x88\x92 q) = i + ({} \xE2\x88\x92 {}) = i + {}",
                                b.k_len, b.q_len, shift)
                  : "j \xE2\x89\xA4 i: the cached prefix is not in it";
  }
  const int i = hover ? ui.view.hover.q_row : focus_q_row(b, ui.selection);
  const int j = hover ? ui.view.hover.k_col : ui.selection.k_col;
  const bool allowed = j < visible_keys(d.mask.shown, i, b.q_len, b.k_len);
  return fmt::format("j = {} {} {} = i{} \xE2\x86\x92 {}", j, allowed ? "\xE2\x89\xA4" : ">", i + shift,
                     corner ? fmt::format(" + ({} \xE2\x88\x92 {})", b.k_len, b.q_len) : "",
                     allowed ? "allowed" : "masked");
}

std::string group_text(const MaskDrawing& d) {
  return fmt::format("a cell is {} \xC3\x97 {}", d.grid.row_step, d.grid.col_step);
}

ZoomAxes axes_of(Ui& ui, const MaskDrawing& d) {
  return {&ui.view.attention.mask_cols, d.prefill ? &ui.view.attention.mask_rows : nullptr,
          std::min(1.0, 8.0 / d.num_cols), std::min(1.0, 8.0 / d.num_rows)};
}

/// Whether there is more than cells of their own can show, or a part is looked at.
bool zooms(const Ui& ui, int rows, int cols) {
  return std::max(rows, cols) > kMaxHeatCells || !ui.view.attention.mask_rows.whole() ||
         !ui.view.attention.mask_cols.whole();
}

void draw_zoom(Ui& ui, const MaskDrawing& d, Rect box) {
  box.w -= zoom_buttons(ui, "mask", box, axes_of(ui, d));
  if (d.grid.grouped()) text_in(ui, FontRole::small, box, ui[Color::muted], group_text(d), Align::left);
}

void draw_count(Ui& ui, const MaskDrawing& d, const Rect& box) {
  const std::string text = count_text(d);
  std::string value = text;
  if (d.prefill && d.batch.cached() > 0) value += fmt::format("  \xC2\xB7  cached_len {}", d.batch.cached());
  if (d.grid.grouped()) value += "  \xC2\xB7  " + group_text(d);
  text_wrapped(ui, FontRole::strong, box, ui[d.mask.preview() ? Color::warning : Color::text], text);
  mark(ui, "mask/allowed", box, std::move(value), "counted with visible_keys of kernels/common/mask.h");
}

void draw_rule(Ui& ui, const MaskDrawing& d, const Rect& box) {
  const std::string rule = rule_text(ui, d);
  text_wrapped(ui, FontRole::mono, box, ui[Color::text], rule);
  mark(ui, "mask/rule", box, rule, "lengths from cu_seqlens_q, cu_seqlens_k I32");
}

/// Lines of what is said about the mask in a width; those of the rule are enough for its longest form, so
/// that nothing moves while the mouse does.
struct MaskLines {
  int count = 1;
  int rule = 1;
  int legend = 1;
  int all() const { return count + rule + legend; }
};

MaskLines lines_of(const Ui& ui, const MaskDrawing& d, float width) {
  const auto lines = [&](FontRole role, std::string_view text) {
    return static_cast<int>(std::lround(wrapped_height(ui, role, width, text) / line_step(role)));
  };
  MaskLines out;
  out.count = lines(FontRole::strong, count_text(d));
  const BatchRows& b = d.batch;
  out.rule = lines(FontRole::mono, rule_text(ui, d));
  if (d.prefill && d.mask.shown == MaskAlignment::bottom_right) {
    for (const std::string& text :
         {fmt::format("j = {0} \xE2\x89\xA4 {0} = i + ({0} \xE2\x88\x92 {1}) \xE2\x86\x92 allowed", b.k_len,
                      b.q_len),
          fmt::format("j \xE2\x89\xA4 i + (kv \xE2\x88\x92 q) = i + ({} \xE2\x88\x92 {}) = i + {}", b.k_len,
                      b.q_len, b.cached())})
      out.rule = std::max(out.rule, lines(FontRole::mono, text));
  }
  out.legend = flow_legend(ui, legend_of(d), {0.0F, 0.0F, width, 1.0F}, false);
  return out;
}

/// Count, rule and legend from the top of a box; returns where they end.
float draw_words(Ui& ui, const MaskDrawing& d, const Rect& box) {
  const MaskLines lines = lines_of(ui, d, box.w);
  const float line_h = line_step(FontRole::text);
  Rect at{box.x, box.y, box.w, line_h * static_cast<float>(lines.count)};
  draw_count(ui, d, at);
  at.y = at.bottom() + ui.px(2);
  at.h = line_h * static_cast<float>(lines.rule);
  draw_rule(ui, d, at);
  at.y = at.bottom();
  at.h = line_h;
  flow_legend(ui, legend_of(d), at, true);
  return at.y + line_h * static_cast<float>(lines.legend);
}

/// What is said of the mask right under the grid; in prefill the miniatures of the other masks below.
void draw_foot(Ui& ui, const MaskDrawing& d, const Rect& foot) {
  float y = draw_words(ui, d, foot);
  if (zooms(ui, d.num_rows, d.num_cols)) {
    draw_zoom(ui, d, {foot.x, y + ui.px(2), foot.w, ui.px(24)});
    y += ui.px(28);
  }
  y += ui.px(8);
  if (d.prefill) draw_mask_thumbs(ui, {foot.x, y, foot.w, foot.bottom() - y}, d.mask);
}

/// The same at the right of the grid, for low panels.
void draw_beside(Ui& ui, const MaskDrawing& d, const Rect& column) {
  float y = column.y;
  if (zooms(ui, d.num_rows, d.num_cols)) {
    draw_zoom(ui, d, {column.x, y, column.w, ui.px(24)});
    y += ui.px(28);
  }
  draw_words(ui, d, {column.x, y, column.w, column.bottom() - y});
}

MaskDrawing drawing_of(const Ui& ui, const BatchRows& batch, MaskPair mask, bool prefill, const Rect& box) {
  MaskDrawing d{batch, mask, prefill, {}, {}, 0, 0};
  if (!prefill) d.rows = decode_mask_rows(ui.frame, mask, kMaxDecodeRows);
  d.num_cols = batch.k_len;
  for (const MaskRow& row : d.rows) d.num_cols = std::max(d.num_cols, row.attended);
  d.num_rows = prefill ? batch.q_len : static_cast<int>(d.rows.size());
  const Span cols = shown_span(ui.view.attention.mask_cols, d.num_cols);
  const Span rows = prefill ? shown_span(ui.view.attention.mask_rows, d.num_rows) : Span{0, d.num_rows};
  d.grid = layout_grid(box, rows.size(), cols.size(), ui.px(prefill ? 56 : 44) * ui.view.picture.cells,
                       kMaxHeatCells, !prefill);
  d.grid.row0 = rows.from;
  d.grid.col0 = cols.from;
  if (prefill && d.grid.cells_y > 0) d.rows = prefill_mask_rows(mask, batch, rows, d.grid.row_step);
  return d;
}

constexpr float kToggle = 24.0F;  // px at scale 1
constexpr float kAboveGrid = kToggle + 6.0F + 18.0F;
constexpr float kLeastGrid = 80.0F;
constexpr float kLeastMaskScore = 112.0F;

/// In decode the grid is low; the room below shows where a bar's height comes from.
void draw_score(Ui& ui, int seq, MaskAlignment engine, const Rect& area) {
  const WeightsInput in = weights_input(ui.frame, ui.frame.attention, seq, ui.selection.head, engine);
  if (!weights_missing(ui.frame, in).empty()) return;
  Rect score{area.x, area.y, area.w, std::min(area.h, ui.px(300))};
  const bool to_come = before_attention(ui);
  if (to_come) {  // of the mask the lengths tell, of the score only attention
    const float line_h = line_step(FontRole::small);
    text_in(ui, FontRole::small, {score.x, score.y, score.w, line_h}, ui[Color::muted], "not run yet",
            Align::left);
    score.y += line_h;
    score.h -= line_h;
  }
  draw_dot_product(ui, in, score);
  if (to_come) draw_veil(ui, score);
}

/// Heights of what surrounds the grid.
struct MaskHeights {
  float bracket = 0.0F;  // below it
  float foot = 0.0F;     // count, rule, legend, zoom
  float column = 0.0F;   // the same beside it
  float score = 0.0F;
};

float beside_width(const Ui& ui) { return 12.0F * font_pixels(FontRole::text) + ui.px(12); }

MaskHeights mask_heights(const Ui& ui, const MaskDrawing& d) {
  MaskHeights out;
  const float line_h = line_step(FontRole::text);
  const float zoom_h = zooms(ui, d.prefill ? d.num_rows : 1, d.num_cols) ? ui.px(28) : 0.0F;
  const auto words = [&](float width) {
    return static_cast<float>(lines_of(ui, d, width).all()) * line_h + ui.px(4) + zoom_h;
  };
  out.bracket = d.prefill && d.batch.cached() > 0 ? line_step(FontRole::small) + ui.px(7) : ui.px(8);
  out.foot = words(ui.body.w - ui.px(5));  // the same with a scroll bar
  out.column = words(beside_width(ui) - ui.px(12));
  out.score = d.prefill
                  ? 0.0F
                  : ui.px(kLeastMaskScore + 10) + (before_attention(ui) ? line_step(FontRole::small) : 0.0F);
  return out;
}

/// Height from which every part has room, in the arrangement that needs less.
float least_mask_height(const Ui& ui, const MaskHeights& h, bool prefill) {
  const float below = ui.px(kLeastGrid) + h.bracket + h.foot + h.score;
  const bool wide = prefill && ui.body.w >= beside_width(ui) + ui.px(34 + 200);
  return ui.px(kAboveGrid) +
         (wide ? std::min(below, std::max(h.column, ui.px(kLeastGrid) + h.bracket)) : below);
}

/// Grid with what surrounds it, in the arrangement that gives the larger cells.
void draw_body(Ui& ui, const BatchRows& batch, MaskPair mask, bool prefill) {
  const MaskHeights h = mask_heights(ui, drawing_of(ui, batch, mask, prefill, ui.body));
  const TallBody tall(ui, "mask/parts", least_mask_height(ui, h, prefill));
  const Rect body = ui.body;
  const float top = body.y + ui.px(kAboveGrid);
  const float bracket_h = h.bracket;
  const bool thumbs = prefill && ui.frame.step->num_scheduled > 1 && body.h >= ui.px(330);
  const float foot_h = h.foot + h.score + (thumbs ? ui.px(100) : 0.0F);
  const float axis_w = ui.px(34);
  const float room_h = body.bottom() - top - bracket_h;
  const MaskDrawing below =
      drawing_of(ui, batch, mask, prefill, {body.x + axis_w, top, body.w - axis_w, room_h - foot_h});
  const MaskDrawing beside = drawing_of(ui, batch, mask, prefill,
                                        {body.x + axis_w, top, body.w - axis_w - beside_width(ui), room_h});
  const auto size_of = [](const MaskDrawing& d) { return d.grid.area().w * d.grid.area().h; };
  const bool at_right = prefill && size_of(beside) > size_of(below) && body.bottom() - top >= h.column;
  const MaskDrawing& d = at_right ? beside : below;
  if (d.grid.cells_x == 0 || d.grid.cells_y == 0 || d.grid.area().h < ui.px(12)) return;
  draw_toggle(ui, {body.x, body.y, body.w, ui.px(kToggle)}, mask);
  draw_mask_cells(ui, d, zoom_by_mouse(ui, d.grid.area(), axes_of(ui, d)));
  if (prefill) {
    draw_axes(ui, d.grid, batch.cached());
    draw_cached_bracket(ui, d);
  } else {
    std::vector<int> seqs;
    for (const MaskRow& row : d.rows) seqs.push_back(row.seq);
    const auto focus = std::find(seqs.begin(), seqs.end(), batch.seq);
    draw_row_letters(ui, d.grid, seqs, focus == seqs.end() ? -1 : static_cast<int>(focus - seqs.begin()));
    draw_column_numbers(ui, d.grid);
  }
  const float foot_y = d.grid.area().bottom() + bracket_h;
  if (at_right) {
    const float x = d.grid.area().right() + ui.px(12);
    draw_beside(ui, d, {x, top, body.right() - x, body.bottom() - top});
    return;
  }
  draw_foot(ui, d, {body.x, foot_y, body.w, body.bottom() - foot_y});
  const float score_y = foot_y + h.foot + ui.px(10);
  if (!prefill) draw_score(ui, batch.seq, mask.engine, {body.x, score_y, body.w, body.bottom() - score_y});
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
                                                                 : "engine: not causal";
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
