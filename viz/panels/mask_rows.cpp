#include "viz/panels/mask_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kMaskThumbCells = 24;  // per side

}  // namespace

std::vector<MaskRow> prefill_mask_rows(MaskPair mask, const BatchRows& rows, Span span, int row_step) {
  std::vector<MaskRow> out;
  for (int i = span.from; i < span.to; i += row_step) {
    const int last = std::min(i + row_step, span.to) - 1;
    out.push_back({rows.seq, i, rows.q_len, rows.k_len, rows.k_len,
                   visible_keys(mask.shown, i, rows.q_len, rows.k_len),
                   visible_keys(mask.shown, last, rows.q_len, rows.k_len),
                   visible_keys(mask.engine, last, rows.q_len, rows.k_len)});
  }
  return out;
}

std::vector<MaskRow> decode_mask_rows(const Frame& frame, MaskPair mask, int limit) {
  std::vector<MaskRow> out;
  for (int b = 0; b < std::min(frame.step->num_scheduled, limit) &&
                  static_cast<std::size_t>(b) < frame.step->seqs.size();
       ++b) {
    const BatchRows rows = batch_rows(frame, frame.step->seqs[static_cast<std::size_t>(b)].id);
    if (rows.batch < 0) continue;
    // The kernel sees a row of `attended` keys; pads are keys to it.
    const int seen = visible_keys(mask.shown, 0, 1, rows.attended);
    out.push_back({rows.seq, 0, 1, rows.k_len, rows.attended, seen, seen,
                   visible_keys(mask.engine, 0, 1, rows.attended)});
  }
  return out;
}

long long count_allowed(MaskAlignment mask, const BatchRows& rows) {
  long long count = 0;
  for (int i = 0; i < rows.q_len; ++i) count += visible_keys(mask, i, rows.q_len, rows.k_len);
  return count;
}

Rect mask_span(const GridLayout& grid, int row, int from, int to) {
  const float per_key = grid.cell_w / static_cast<float>(grid.col_step);
  const float end = grid.area().right();
  const float x0 = std::clamp(grid.x + per_key * static_cast<float>(from - grid.col0), grid.x, end);
  const float x1 = std::clamp(grid.x + per_key * static_cast<float>(to - grid.col0), grid.x, end);
  return {x0, grid.y + grid.cell_h * static_cast<float>(row), x1 - x0, grid.cell_h};
}

void draw_mask_row(const Ui& ui, const GridLayout& grid, const MaskRow& row, int index) {
  const int cached = row.k_len - row.q_len;
  const int real = std::min(row.visible, row.k_len);
  const int band = std::min(cached, row.visible_low);
  fill(ui, mask_span(grid, index, 0, real), ui[Color::panel]);
  if (band > 0) fill(ui, mask_span(grid, index, 0, band), ui[Color::cached_band]);
  const int sure = std::min(row.visible_low, row.k_len);
  if (sure > std::max(band, 0)) fill(ui, mask_span(grid, index, std::max(band, 0), sure), ui[Color::allowed]);
  // Within a group some queries see these keys and some do not.
  if (real > sure) fill(ui, mask_span(grid, index, sure, real), ui[Color::allowed], 0.55F);
  if (row.attended > row.k_len) {
    const Rect pads = mask_span(grid, index, row.k_len, row.attended);
    fill(ui, pads, ui[Color::panel]);
    cross_hatch(ui, pads, ui[Color::pad], ui.px(7));
  }
}

void draw_changes(const Ui& ui, const GridLayout& grid, const MaskRow& row, int index) {
  const int from = std::min(row.visible, row.engine_visible);
  const int to = std::max(row.visible, row.engine_visible);
  if (from >= to) return;
  const bool more = row.visible > row.engine_visible;
  const float side = std::min({grid.cell_w, grid.cell_h, ui.px(18)}) * 0.45F;
  if (grid.grouped() || side < 3.0F) {
    outline(ui, mask_span(grid, index, from, to), ui[Color::warning], std::max(1.0F, ui.px(1)));
    return;
  }
  for (int k = std::max(from, grid.col0); k < std::min(to, grid.col0 + grid.cells_x); ++k) {
    const Rect cell = grid.cell(index, grid.cell_col(k));
    const ImVec2 corner{cell.right() - 1.0F, cell.y + 1.0F};
    const ImVec2 left{corner.x - side, corner.y};
    const ImVec2 down{corner.x, corner.y + side};
    if (more)
      ui.draw->AddTriangleFilled(left, corner, down, rgba(ui[Color::warning]));
    else
      ui.draw->AddTriangle(left, corner, down, rgba(ui[Color::warning]), std::max(1.0F, ui.px(1.5F)));
  }
}

void draw_pad_label(const Ui& ui, const GridLayout& grid, const MaskRow& row, int index) {
  if (row.attended <= row.k_len) return;
  const Rect pads = mask_span(grid, index, row.k_len, row.attended);
  const float w = text_width(ui, FontRole::mono_small, "PAD") + ui.px(6);
  const float h = std::min(ui.px(14), pads.h);
  if (pads.w <= w || pads.h < ui.px(11)) return;
  const Rect label{std::round(pads.x + (pads.w - w) * 0.5F), std::round(pads.y + (pads.h - h) * 0.5F), w, h};
  fill(ui, label, ui[Color::panel]);
  text_in(ui, FontRole::mono_small, label, ui[Color::pad], "PAD", Align::center);
}

std::string mask_cell_text(const MaskRow& row, int q, int k, bool prefill, MaskPair mask) {
  const std::string who = fmt::format("{}: query {}, key {}", seq_letter(row.seq), q, k);
  if (k >= row.k_len) return fmt::format("{}: zero pad, attended", who);
  const int keys = prefill ? row.k_len : row.attended;
  const int count = visible_keys(mask.shown, q, row.q_len, keys);
  const int shift = row.k_len - row.q_len;
  const char* verdict = k < count ? "allowed" : "masked";
  std::string text = who + (prefill && k == shift + q ? ", its own key" : "");
  if (prefill && mask.shown == MaskAlignment::bottom_right) {
    text += fmt::format(": {} {} {} + ({} \xE2\x88\x92 {}) \xE2\x86\x92 {}", k,
                        k < count ? "\xE2\x89\xA4" : ">", q, row.k_len, row.q_len, verdict);
  } else if (mask.shown == MaskAlignment::top_left) {
    text += fmt::format(": {} {} {} \xE2\x86\x92 {} (top-left mask)", k, k < count ? "\xE2\x89\xA4" : ">", q,
                        verdict);
  } else {
    text += fmt::format(": {}", verdict);
  }
  if (!mask.preview()) return text;
  const bool engine = k < visible_keys(mask.engine, q, row.q_len, keys);
  return text + fmt::format("\npreview; the engine's {} mask: {}", mask_text(mask.engine),
                            engine ? "allowed" : "masked");
}

void draw_mask_thumbs(Ui& ui, const Rect& area, MaskPair mask) {
  const trace::StepRecord& step = *ui.frame.step;
  const float label_h = ui.px(18);
  const float side = std::min(ui.px(96), area.h - label_h - ui.px(20));
  if (side < ui.px(36) || step.num_scheduled < 2) return;
  text_in(ui, FontRole::small, {area.x, area.y, area.w, ui.px(16)}, ui[Color::muted],
          "all masks of the batch", Align::left);
  float x = area.x;
  const float y = area.y + ui.px(20);
  for (int b = 0; b < step.num_scheduled && static_cast<std::size_t>(b) < step.seqs.size(); ++b) {
    const BatchRows rows = batch_rows(ui.frame, step.seqs[static_cast<std::size_t>(b)].id);
    if (rows.batch < 0) continue;
    const GridLayout grid =
        layout_grid({x, y + label_h, side, side}, rows.q_len, rows.k_len, ui.px(8), kMaskThumbCells);
    const Rect frame_box{x, y, std::max(grid.area().w, ui.px(26)), label_h + grid.area().h};
    if (frame_box.right() > area.right()) break;
    letter_chip(ui, {x, y, ui.px(20), ui.px(15)}, rows.seq);
    hatch(ui, grid.area(), ui[Color::masked], ui.px(4));
    const std::vector<MaskRow> lines = prefill_mask_rows(mask, rows, {0, rows.q_len}, grid.row_step);
    for (std::size_t i = 0; i < lines.size(); ++i) draw_mask_row(ui, grid, lines[i], static_cast<int>(i));
    const bool focused = rows.seq == focus_seq(ui.frame, ui.selection);
    outline(ui, grid.area(), ui[focused ? Color::selection : Color::stroke], focused ? ui.px(2) : 1.0F);
    const Hit hit =
        mark(ui, fmt::format("mask/seq/{}", rows.seq), frame_box,
             fmt::format("{}: {} queries over {} keys", seq_letter(rows.seq), rows.q_len, rows.k_len),
             "cu_seqlens_q, cu_seqlens_k I32");
    if (hit.hovered) ui.view.next_hover.seq = rows.seq;
    if (hit.clicked) select(ui, [&](Selection& s) { s.seq = rows.seq; });
    x = frame_box.right() + ui.px(12);
  }
}

}  // namespace attn::viz
