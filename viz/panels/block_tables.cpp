#include "viz/panels/block_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernels/common/paged_kv.h"
#include "viz/lookup.h"
#include "viz/panels/pool_cards.h"
#include "viz/panels/tables_map.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kRowGap = 4.0F;
constexpr float kCell = 22.0F;
constexpr float kLowCell = 16.0F;      // where rows of the other height have no room
constexpr float kFormulaLine = 19.0F;  // px at scale 1

/// Position whose slot is explained: the hovered or selected key of the sequence, else the newest token that
/// this step stores.
int position_of(const Ui& ui, const trace::SeqState& seq) {
  if (ui.view.hover.seq == seq.id && ui.view.hover.k_col >= 0) return ui.view.hover.k_col;
  if (ui.selection.seq == seq.id && ui.selection.k_col >= 0) return ui.selection.k_col;
  return seq.num_cached_tokens + std::max(1, seq.num_scheduled_tokens) - 1;
}

/// How many tables name the block at the moment that is shown.
int references(Ui& ui, int block) {
  const std::vector<trace::BlockState>& blocks = pool_shown(ui)->pool.blocks;
  return block >= 0 && static_cast<std::size_t>(block) < blocks.size()
             ? blocks[static_cast<std::size_t>(block)].ref_count
             : 0;
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

/// Rows of the panel: sequences with a common beginning next to each other.
struct TableRow {
  const trace::SeqState* seq = nullptr;
  int common = 0;  // leading entries that are also those of the row above
};

int common_prefix(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<int>(end - a.begin());
}

std::vector<TableRow> rows_of(const Frame& frame) {
  std::vector<const trace::SeqState*> order;
  for (const int id : alive_seqs(frame)) {
    const trace::SeqState* seq = find_seq(frame.step->seqs, id);
    std::size_t place = order.size();
    int best = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int common = common_prefix(order[i]->block_table, seq->block_table);
      if (common == 0 || common < best) continue;
      best = common;
      place = i + 1;
    }
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), seq);
  }
  std::vector<TableRow> rows;
  for (const trace::SeqState* seq : order)
    rows.push_back({seq, rows.empty() ? 0 : common_prefix(rows.back().seq->block_table, seq->block_table)});
  return rows;
}

// In px at scale 1.
constexpr float kMore = 30.0F;  // "+12" entries outside the window of columns
constexpr float kScrollBar = 12.0F;
constexpr float kStackGap = 20.0F;
constexpr int kMostStacks = 3;

/// How the tables stand in a list: side by side where not all have room below each other.
struct Arrangement {
  int stacks = 1;
  std::size_t per_stack = 1;  // tables below each other
  float row_h = 0.0F;
  float height = 0.0F;  // of the highest stack
};

struct TableLook {
  float chip_x = 0, x0 = 0, top = 0, pitch = 0, cell_w = 0, cell_h = 0, row_h = 0;
  int first = 0, end = 0;  // columns on screen
  int width = 0;           // of the batch's block_tables, -1 padded; 0: the step passes none
  int longest = 0;         // table
  std::size_t per_stack = 0;
  float stack_w = 0;
  float aside(std::size_t row) const { return stack_w * static_cast<float>(row / per_stack); }
  Rect cell(std::size_t row, int column) const {
    return {x0 + aside(row) + pitch * static_cast<float>(column - first),
            top + row_h * static_cast<float>(row % per_stack), cell_w, cell_h};
  }
};

/// Entries of a table that the step before did not have.
std::vector<int> changed_entries(const Frame& frame, int seq) {
  std::vector<int> entries;
  if (!frame.changes) return entries;
  const std::string where = fmt::format("seq {} block_table", seq);
  for (const trace::DiffEntry& entry : frame.changes->entries) {
    int index = -1;
    if (entry.where == where && std::sscanf(entry.what.c_str(), "entry %d", &index) == 1)
      entries.push_back(index);
  }
  return entries;
}

/// A cell, or, for an entry that rows below have too, one bracket over all of them.
void draw_cell(Ui& ui, const Rect& box, const trace::SeqState& seq, int block, bool spans, bool lit_cell) {
  const bool twice = spans || references(ui, block) > 1;
  fill(ui, box, spans ? ui[Color::raised] : tint_of(ui, seq.id), 1.0F, ui.px(2));
  outline(ui, box, twice ? ui[Color::text] : hue_of(ui, seq.id), 1.0F, ui.px(2));
  if (twice) outline(ui, {box.x + 2, box.y + 2, box.w - 4, box.h - 4}, ui[Color::text], 1.0F);
  text_in(ui, FontRole::mono, box, ui[Color::text], std::to_string(block), Align::center);
  const bool selected = block == ui.selection.block;
  if (selected || lit_cell || block == ui.view.hover.block)
    outline(ui, box, ui[selected ? Color::selection : Color::accent], ui.px(2), ui.px(2));
}

void answer_cell(Ui& ui, const Rect& box, const trace::SeqState& seq, int index, bool changed) {
  const trace::StepRecord& step = *ui.frame.step;
  const int block = seq.block_table[static_cast<std::size_t>(index)];
  const int refs = references(ui, block);
  const Hit hit =
      mark(ui, fmt::format("tables/cell/{}/{}", seq.id, index), box,
           fmt::format("{}: logical block {} \xE2\x86\x92 physical block {}{}{}", seq_letter(seq.id), index,
                       block, refs > 1 ? fmt::format(", shared \xC3\x97{}", refs) : "",
                       changed ? "\nnew since the step before" : ""),
           fmt::format("block_table of sequence {} [{}] I32, when step {} ran", seq.id, index, step.step));
  if (hit.hovered) {
    ui.view.next_hover.block = block;
    ui.view.next_hover.name = "block_tables";
  }
  if (hit.clicked) {
    select(ui, [&](Selection& s) {
      s.seq = seq.id;
      s.block = block;
    });
  }
}

void draw_row(Ui& ui, const std::vector<TableRow>& rows, std::size_t r, const TableLook& look,
              int lit_index) {
  const trace::SeqState& seq = *rows[r].seq;
  const int count = static_cast<int>(seq.block_table.size());
  const Rect head = look.cell(r, look.first);
  letter_chip(ui, {look.chip_x + look.aside(r), head.y, ui.px(24), look.cell_h}, seq.id);
  const std::vector<int> changed = changed_entries(ui.frame, seq.id);
  for (int i = look.first; i < look.end; ++i) {
    const Rect own = look.cell(r, i);
    const int block = i < count ? seq.block_table[static_cast<std::size_t>(i)] : -1;
    if (block < 0) {
      const bool pad = i < count || (i < look.width && batch_rows(ui.frame, seq.id).batch >= 0);
      if (!pad) continue;
      dotted(ui, own, ui[Color::unwritten]);
      text_in(ui, FontRole::mono_small, own, ui[Color::muted], "-1", Align::center);
      continue;
    }
    if (i >= rows[r].common) {  // else the row above drew it
      std::size_t last = r;
      while (last + 1 < rows.size() && rows[last + 1].common > i) ++last;
      Rect box = own;
      box.h = look.cell(last, i).bottom() - own.y;
      draw_cell(ui, box, seq, block, last > r, i == lit_index);
    }
    const bool fresh = std::find(changed.begin(), changed.end(), i) != changed.end();
    if (fresh) change_dot(ui, own.right() - 1.0F, own.y + 1.0F);
    answer_cell(ui, own, seq, i, fresh);
  }
  if (count == 0)
    text_in(ui, FontRole::small, {head.x, head.y, ui.px(80), look.cell_h}, ui[Color::muted], "no blocks",
            Align::left);
  const auto more = [&](float x, int entries, Align align) {
    if (entries > 0)
      text_in(ui, FontRole::mono_small, {x, head.y, ui.px(kMore), look.cell_h}, ui[Color::muted],
              fmt::format("+{}", entries), align);
  };
  more(head.x - ui.px(kMore + 4), std::min(count, look.first), Align::right);
  more(look.cell(r, look.end).x, count - look.end, Align::left);
}

/// Columns: all that fit, else a window that holds the explained entry, the same for all rows.
TableLook look_of(const Ui& ui, const std::vector<TableRow>& rows, const Rect& list, float top, int lit_index,
                  const Arrangement& arrangement) {
  const trace::StepRecord& step = *ui.frame.step;
  TableLook look;
  look.cell_w =
      text_width(ui, FontRole::mono, std::to_string(std::max<std::size_t>(10, step.blocks.size()))) +
      ui.px(10);
  look.row_h = arrangement.row_h;
  look.per_stack = arrangement.per_stack;
  look.stack_w =
      std::floor((list.w - ui.px(kScrollBar) + ui.px(kStackGap)) / static_cast<float>(arrangement.stacks));
  look.cell_h = look.row_h - ui.px(kRowGap);
  look.pitch = look.cell_w + ui.px(3);
  look.chip_x = list.x;
  look.x0 = list.x + ui.px(30);
  look.top = top;
  if (step.block_tables)
    for (const auto& table : *step.block_tables)
      look.width = std::max(look.width, static_cast<int>(table.size()));
  look.longest = look.width;
  for (const TableRow& row : rows)
    look.longest = std::max(look.longest, static_cast<int>(row.seq->block_table.size()));
  const int longest = look.longest;
  const float right = list.x + look.stack_w - ui.px(kStackGap);
  const auto fitting = [&](float sides) {
    return std::max(1, static_cast<int>((right - look.x0 - sides) / look.pitch));
  };
  int room = fitting(0.0F);
  if (longest > room) {
    room = fitting(2.0F * ui.px(kMore + 4));
    look.first = std::clamp((lit_index >= 0 ? lit_index : longest) - room + 1, 0, longest - room);
    look.x0 += ui.px(kMore + 4);
  }
  look.end = std::min(longest, look.first + room);
  return look;
}

/// Rows as high as they like to be, in as few stacks as they fit in; else low rows in as many stacks as have
/// the width.
Arrangement arrange(const Ui& ui, const std::vector<TableRow>& rows, const Rect& list) {
  const auto of = [&](int stacks, float cell) {
    Arrangement out;
    out.stacks = stacks;
    out.per_stack = std::max<std::size_t>(
        1, (rows.size() + static_cast<std::size_t>(stacks) - 1) / static_cast<std::size_t>(stacks));
    out.row_h = ui.px(cell) + ui.px(kRowGap);
    out.height = out.row_h * static_cast<float>(out.per_stack) - ui.px(kRowGap);
    return out;
  };
  const TableLook alone = look_of(ui, rows, list, 0.0F, -1, of(1, kCell));
  const float stack_w = alone.x0 - list.x + alone.pitch * static_cast<float>(alone.longest);
  const int most = std::clamp(
      static_cast<int>((list.w - ui.px(kScrollBar) + ui.px(kStackGap)) / (stack_w + ui.px(kStackGap))), 1,
      kMostStacks);
  for (int stacks = 1; stacks <= most; ++stacks)
    if (const Arrangement out = of(stacks, kCell); out.height <= list.h) return out;
  return of(most, std::max(kLowCell, (font_pixels(FontRole::mono) + 2.0F) / ui.scale));
}

/// Brings the row of the focused sequence into sight when the focus changes; the wheel still scrolls then.
void follow_focus(Ui& ui, const std::vector<TableRow>& rows, float row_h, float height, int focus,
                  std::size_t per_stack) {
  int& followed = ui.view.data.lists.tables_seq;
  if (followed == focus) return;
  followed = focus;
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const TableRow& r) { return r.seq->id == focus; });
  follow_row(ui, row_h, height, static_cast<int>(at - rows.begin()) % static_cast<int>(per_stack));
}

/// Rows of cells in a list that scrolls where a few do not fit.
void draw_list(Ui& ui, std::vector<TableRow> rows, Rect list, int focus, int lit_index,
               const Arrangement& arrangement) {
  const float row_h = arrangement.row_h;
  for (std::size_t r = 0; r < rows.size(); r += arrangement.per_stack) rows[r].common = 0;  // none above it
  // No row is cut; the last one needs no gap below it.
  list.h = std::max(row_h, std::floor((list.h + ui.px(kRowGap)) / row_h) * row_h) - ui.px(kRowGap);
  const float top = begin_scroll(ui, "tables/list", list);
  follow_focus(ui, rows, row_h, list.h + ui.px(kRowGap), focus, arrangement.per_stack);
  const TableLook look = look_of(ui, rows, list, top, lit_index, arrangement);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Rect row{list.x, look.cell(r, 0).y, list.w, look.row_h};
    // A bracket is drawn by its first row, which may be above what is shown.
    const bool seen = visible_part(ui, row).w > 0.0F || (r + 1 < rows.size() && rows[r + 1].common > 0);
    if (seen) draw_row(ui, rows, r, look, rows[r].seq->id == focus ? lit_index : -1);
  }
  end_scroll(ui, top + arrangement.height, row_h);
}

constexpr std::size_t kMostListed = 8;  // tables of more sequences that do not fit are drawn as lines

/// The table of the focused sequence in cells, all tables as lines below.
void draw_many(Ui& ui, const std::vector<TableRow>& rows, const Rect& area, int focus, int lit_index) {
  std::vector<const trace::SeqState*> seqs;
  for (const TableRow& row : rows) seqs.push_back(row.seq);
  const auto own = std::ranges::find_if(rows, [&](const TableRow& row) { return row.seq->id == focus; });
  if (own == rows.end()) return;
  const std::vector<TableRow> alone = {{own->seq, 0}};
  const TableLook look =
      look_of(ui, alone, area, area.y, lit_index, {.row_h = ui.px(kCell) + ui.px(kRowGap)});
  draw_row(ui, alone, 0, look, lit_index);
  const float y = area.y + look.row_h + ui.px(2);
  draw_tables_map(ui, seqs, {area.x + ui.px(2), y, area.w - ui.px(4), area.bottom() - y - ui.px(2)}, focus);
}

/// Tables stay as scheduling left them until commit, which takes those of finished sequences away.
std::string when_text(const Ui& ui) {
  const std::string when = moment_text(ui.frame, ui.selection, ui.view.grain);
  if (when.empty()) return when;
  const bool after = moment_shown(ui.frame, ui.selection, ui.view.grain).committed;
  return (after ? "as the step ran" : when) + "  \xC2\xB7  ";
}

void draw_tables(Ui& ui, int focus) {
  const trace::StepRecord& step = *ui.frame.step;
  const trace::SeqState& focused = *find_seq(step.seqs, focus);
  const int lit_index = position_of(ui, focused) / std::max(1, step.config.block_size);
  const std::vector<TableRow> rows = rows_of(ui.frame);
  // Tables come first: where not all fit, the rule yields to one more of them.
  const float all_h = ui.px(26) * static_cast<float>(rows.size()) - ui.px(kRowGap);
  const float formula_h = ui.px(kFormulaLine * (ui.body.h >= all_h + ui.px(42) ? 2.0F : 1.0F) + 4.0F);
  const Rect list{ui.body.x, ui.body.y, ui.body.w, std::max(ui.px(22), ui.body.h - formula_h)};
  const Arrangement arrangement = arrange(ui, rows, list);
  if (rows.size() > kMostListed && arrangement.height > list.h)
    draw_many(ui, rows, list, focus, lit_index);
  else
    draw_list(ui, rows, list, focus, lit_index, arrangement);
  draw_formula(ui, {ui.body.x, ui.body.bottom() - formula_h + ui.px(4), ui.body.w, formula_h - ui.px(4)},
               focused);
}

}  // namespace

void draw_block_tables(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  const bool packed =
      step != nullptr && ui.frame.manifest && ui.frame.manifest->is_tensor_case() && step->blocks.empty();
  if (!begin_panel(ui, "tables", rect, "Block tables",
                   step == nullptr || packed
                       ? ""
                       : fmt::format("{}logical \xE2\x86\x92 physical  \xC2\xB7  block_size {}",
                                     when_text(ui), step->config.block_size)))
    return;
  const int focus = focus_seq(ui.frame, ui.selection);
  if (focus < 0 || packed) {
    empty_note(ui, packed ? "Packed keys need no block tables."
                          : "Each sequence's block table appears here, with the slot of the selected token.");
    end_panel(ui);
    return;
  }
  if (lit(ui, "block_tables")) outline(ui, rect, ui[Color::accent], ui.px(2), ui.px(4));
  draw_tables(ui, focus);
  end_panel(ui);
}

}  // namespace attn::viz
