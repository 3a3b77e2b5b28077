#include "viz/panels/block_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/paged_kv.h"
#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// Position whose slot is explained: the hovered or selected key of the sequence, else the newest token that
/// this step stores.
int position_of(const Ui& ui, const trace::SeqState& seq) {
  if (ui.view.hover.seq == seq.id && ui.view.hover.k_col >= 0) return ui.view.hover.k_col;
  if (ui.selection.seq == seq.id && ui.selection.k_col >= 0) return ui.selection.k_col;
  return seq.num_cached_tokens + std::max(1, seq.num_scheduled_tokens) - 1;
}

bool shared(const trace::StepRecord& step, int block) {
  return block >= 0 && static_cast<std::size_t>(block) < step.blocks.size() &&
         step.blocks[static_cast<std::size_t>(block)].ref_count > 1;
}

void draw_formula(Ui& ui, const Rect& box, const trace::SeqState& seq) {
  const int bs = std::max(1, ui.frame.step->config.block_size);
  const int pos = position_of(ui, seq);
  const int block = block_of(seq, pos, bs);
  const float h = ui.px(19);
  text_in(ui, FontRole::mono, {box.x, box.y, box.w, h}, ui[Color::muted],
          fmt::format("slot = table[pos / {0}] \xC3\x97 {0} + pos % {0}", bs), Align::left);
  const Rect live{box.x, box.y + h, box.w, h};
  if (block < 0) {
    text_in(ui, FontRole::mono, live, ui[Color::muted],
            fmt::format("{}: position {} has no block", seq_letter(seq.id), pos), Align::left);
    return;
  }
  const PagedKv kv{.num_blocks = static_cast<int>(ui.frame.step->blocks.size()), .block_size = bs};
  const std::int64_t slot = kv.slot(seq.block_table.data(), pos);
  const std::string text =
      fmt::format("{}: pos {} \xE2\x86\x92 table[{}] \xC3\x97 {} + {} = {} \xC3\x97 {} + {} = {}",
                  seq_letter(seq.id), pos, pos / bs, bs, pos % bs, block, bs, pos % bs, slot);
  text_in(ui, FontRole::mono, live, ui[Color::text], text, Align::left);
  mark(ui, "tables/slot", live, fmt::format("slot {}", slot),
       fmt::format("block_table of {} [{}] I32; PagedKv::slot", seq_letter(seq.id), pos / bs));
}

void draw_cell(Ui& ui, const Rect& box, const trace::SeqState& seq, int index, int lit_index) {
  const trace::StepRecord& step = *ui.frame.step;
  const int block = seq.block_table[static_cast<std::size_t>(index)];
  if (block < 0) {
    dotted(ui, box, ui[Color::unwritten]);
    return;
  }
  const bool twice = shared(step, block);
  fill(ui, box, tint_of(ui, seq.id), 1.0F, ui.px(2));
  outline(ui, box, twice ? ui[Color::text] : hue_of(ui, seq.id), 1.0F, ui.px(2));
  if (twice) outline(ui, {box.x + 2, box.y + 2, box.w - 4, box.h - 4}, ui[Color::text], 1.0F, ui.px(2));
  text_in(ui, FontRole::mono, box, ui[Color::text], std::to_string(block), Align::center);
  const bool selected = block == ui.selection.block;
  if (selected || index == lit_index || block == ui.view.hover.block)
    outline(ui, box, ui[selected ? Color::selection : Color::accent], ui.px(2), ui.px(2));
  const int refs = static_cast<std::size_t>(block) < step.blocks.size()
                       ? step.blocks[static_cast<std::size_t>(block)].ref_count
                       : 0;
  const Hit hit =
      mark(ui, fmt::format("tables/cell/{}/{}", seq.id, index), box,
           fmt::format("{}: logical block {} \xE2\x86\x92 physical block {}{}", seq_letter(seq.id), index,
                       block, refs > 1 ? fmt::format(", shared \xC3\x97{}", refs) : ""),
           fmt::format("block_table of sequence {} [{}] I32, when step {} ran", seq.id, index, step.step));
  if (hit.hovered) ui.view.next_hover.block = block;
  if (hit.clicked) {
    select(ui, [&](Selection& s) {
      s.seq = seq.id;
      s.block = block;
    });
  }
}

/// One sequence; long tables show what is around the explained block.
void draw_row(Ui& ui, const Rect& box, const trace::SeqState& seq, float cell_w, bool focused) {
  letter_chip(ui, {box.x, box.y, ui.px(24), box.h}, seq.id);
  const float x0 = box.x + ui.px(30);
  const float pitch = cell_w + ui.px(3);
  const int count = static_cast<int>(seq.block_table.size());
  const int room = std::max(1, static_cast<int>((box.right() - x0 - (count > 0 ? ui.px(30) : 0.0F)) / pitch));
  const int lit = focused ? position_of(ui, seq) / std::max(1, ui.frame.step->config.block_size) : -1;
  const int first = count <= room ? 0 : std::clamp((lit >= 0 ? lit : count) - room + 1, 0, count - room);
  if (count == 0) {
    text_in(ui, FontRole::small, {x0, box.y, box.right() - x0, box.h}, ui[Color::muted], "no blocks",
            Align::left);
    return;
  }
  float x = x0;
  for (int i = first; i < std::min(count, first + room); ++i, x += pitch)
    draw_cell(ui, {x, box.y, cell_w, box.h}, seq, i, lit);
  if (count > room)
    text_in(ui, FontRole::mono_small, {x, box.y, ui.px(34), box.h}, ui[Color::muted],
            fmt::format("/{}", count), Align::left);
}

}  // namespace

void draw_block_tables(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  if (!begin_panel(ui, "tables", rect, "Block tables",
                   step == nullptr ? "" : fmt::format("block_size {}", step->config.block_size)))
    return;
  const int focus = focus_seq(ui.frame, ui.selection);
  if (focus < 0) {
    empty_note(ui, "Each sequence's block table appears here, with the slot of the selected token.");
    end_panel(ui);
    return;
  }
  const float formula_h = ui.px(42);
  const Rect list{ui.body.x, ui.body.y, ui.body.w, std::max(ui.px(22), ui.body.h - formula_h)};
  const float top = begin_scroll(ui, "tables/list", list);
  const float cell_w =
      text_width(ui, FontRole::mono, std::to_string(std::max<std::size_t>(10, step->blocks.size()))) +
      ui.px(10);
  const float h = ui.px(22);
  float y = top;
  for (const int id : alive_seqs(ui.frame)) {
    const Rect row{list.x, y, list.w - ui.px(10), h};
    if (visible_part(ui, row).w > 0.0F) draw_row(ui, row, *find_seq(step->seqs, id), cell_w, id == focus);
    y += h + ui.px(4);
  }
  end_scroll(ui, y);
  if (ui.body.h > formula_h + ui.px(20))
    draw_formula(ui, {ui.body.x, ui.body.bottom() - formula_h + ui.px(4), ui.body.w, formula_h},
                 *find_seq(step->seqs, focus));
  end_panel(ui);
}

}  // namespace attn::viz
