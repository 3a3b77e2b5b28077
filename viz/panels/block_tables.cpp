#include "viz/panels/block_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/paged_kv.h"
#include "viz/lookup.h"
#include "viz/panels/tables_map.h"
#include "viz/panels/tables_rows.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kFormulaLine = 19.0F;  // px at scale 1

/// Position whose slot is explained: the hovered or selected key of the sequence, else the newest token that
/// this step stores.
int position_of(const Ui& ui, const trace::SeqState& seq) {
  if (ui.view.hover.seq == seq.id && ui.view.hover.k_col >= 0) return ui.view.hover.k_col;
  if (ui.selection.seq == seq.id && ui.selection.k_col >= 0) return ui.selection.k_col;
  return seq.num_cached_tokens + std::max(1, seq.num_scheduled_tokens) - 1;
}

/// The rule and, below it, the rule with numbers; in one line's room only the latter.
void draw_formula(Ui& ui, const Rect& box, const trace::SeqState& seq) {
  const int bs = std::max(1, ui.frame.step->config.block_size);
  const int pos = position_of(ui, seq);
  const int block = block_of(seq, pos, bs);
  const float h = ui.px(kFormulaLine);
  const bool rule = box.h >= 2.0F * h;
  if (rule)
    text_in(ui, FontRole::mono, {box.x, box.y, box.w, h}, ui[Color::muted],
            fmt::format("slot = table[pos / {0}] \xC3\x97 {0} + pos % {0}", bs), Align::left);
  const Rect live{box.x, rule ? box.y + h : box.y, box.w, h};
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
  const std::string middle = fmt::format("{}: pos {} \xE2\x86\x92 {} \xC3\x97 {} + {} = {}",
                                         seq_letter(seq.id), pos, block, bs, pos % bs, slot);
  const std::string brief = fmt::format("pos {} \xE2\x86\x92 slot {}", pos, slot);
  const std::string_view shown = first_fitting(ui, FontRole::mono, live.w, {text, middle, brief});
  const float shown_w = text_in(ui, FontRole::mono, live, ui[Color::text], shown, Align::left);
  name_tag(ui, {live.x - ui.px(3), live.y, shown_w + ui.px(6), live.h}, "slot_mapping");
  mark(ui, "tables/slot", live, fmt::format("slot {}", slot),
       fmt::format("block_table of {} [{}] I32; PagedKv::slot", seq_letter(seq.id), pos / bs));
}

constexpr std::size_t kMostListed = 8;  // tables of more sequences that do not fit are drawn as lines

/// The table of the focused sequence in cells, all tables as lines below.
ArrowStart draw_many(Ui& ui, const std::vector<TableRow>& rows, const Rect& area, const TableFocus& focus) {
  std::vector<const trace::SeqState*> seqs;
  for (const TableRow& row : rows) seqs.push_back(row.seq);
  const auto own = std::ranges::find_if(rows, [&](const TableRow& row) { return row.seq->id == focus.seq; });
  if (own == rows.end()) return {};
  float row_h = 0.0F;
  ArrowStart start = draw_table_row(ui, *own, area, focus, row_h);
  const float y = area.y + row_h + ui.px(2);
  draw_tables_map(ui, seqs, {area.x + ui.px(2), y, area.w - ui.px(4), area.bottom() - y - ui.px(2)},
                  focus.seq);
  return start;
}

/// Tables stay as scheduling left them until commit, which takes those of finished sequences away.
std::string when_text(const Ui& ui) {
  const std::string when = moment_text(ui.frame, ui.selection, ui.view.grain);
  if (when.empty()) return when;
  const bool after = moment_shown(ui.frame, ui.selection, ui.view.grain).committed;
  return (after ? "as the step ran" : when) + "  \xC2\xB7  ";
}

ArrowStart draw_tables(Ui& ui, int focus) {
  const trace::StepRecord& step = *ui.frame.step;
  const trace::SeqState& focused = *find_seq(step.seqs, focus);
  const TableFocus meant{focus, position_of(ui, focused) / std::max(1, step.config.block_size),
                         focus == ui.selection.seq};
  const std::vector<TableRow> rows = table_rows(ui.frame);
  // Tables come first: where not all fit, the rule yields to one more of them.
  const float all_h = ui.px(26) * static_cast<float>(rows.size()) - ui.px(4);
  const float formula_h = ui.px(kFormulaLine * (ui.body.h >= all_h + ui.px(42) ? 2.0F : 1.0F) + 4.0F);
  const Rect list{ui.body.x, ui.body.y, ui.body.w, std::max(ui.px(22), ui.body.h - formula_h)};
  const TableStacks stacks = stack_tables(ui, rows, list);
  ArrowStart start = rows.size() > kMostListed && !stacks.all()
                         ? draw_many(ui, rows, list, meant)
                         : draw_table_rows(ui, rows, list, stacks, meant);
  draw_formula(ui, {ui.body.x, ui.body.bottom() - formula_h + ui.px(4), ui.body.w, formula_h - ui.px(4)},
               focused);
  return start;
}

}  // namespace

ArrowStart draw_block_tables(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  const bool packed =
      step != nullptr && ui.frame.manifest && ui.frame.manifest->is_tensor_case() && step->blocks.empty();
  if (!begin_panel(ui, "tables", rect, "Block tables",
                   step == nullptr || packed
                       ? ""
                       : fmt::format("{}logical \xE2\x86\x92 physical  \xC2\xB7  block_size {}",
                                     when_text(ui), step->config.block_size)))
    return {};
  const int focus = focus_seq(ui.frame, ui.selection);
  ArrowStart start;
  if (focus < 0 || packed) {
    empty_note(ui, packed ? "Packed keys need no block tables."
                          : "Each sequence's block table appears here, with the slot of the selected token.");
  } else {
    if (lit(ui, "block_tables")) outline(ui, rect, ui[Color::accent], ui.px(2), ui.px(4));
    start = draw_tables(ui, focus);
  }
  end_panel(ui);
  return start;
}

}  // namespace attn::viz
