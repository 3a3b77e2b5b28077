#include "viz/panels/tables_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/lookup.h"
#include "viz/panels/pool_cards.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

// In px at scale 1.
constexpr float kCell = 22.0F;
constexpr float kRowGap = 4.0F;
constexpr float kLowCell = 16.0F;  // where rows of the other height have no room
constexpr float kLowGap = 3.0F;
constexpr float kMore = 30.0F;  // "+12" entries outside the window of columns
constexpr float kStackGap = 20.0F;
constexpr int kMostStacks = 3;

int common_prefix(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<int>(end - a.begin());
}

/// How many tables name the block at the moment that is shown.
int references(Ui& ui, int block) {
  const std::vector<trace::BlockState>& blocks = pool_shown(ui)->pool.blocks;
  return block >= 0 && static_cast<std::size_t>(block) < blocks.size()
             ? blocks[static_cast<std::size_t>(block)].ref_count
             : 0;
}

/// Where cells are drawn.
struct TableLook {
  float chip_x = 0, x0 = 0, top = 0, pitch = 0, cell_w = 0;
  int first = 0, end = 0;  // columns on screen
  int width = 0;           // of the batch's block_tables, -1 padded; 0: the step passes none
  int longest = 0;         // table
  float stack_w = 0;
  TableStacks stacks;

  std::size_t stack_of(std::size_t row) const { return row / stacks.per_stack; }
  float aside(std::size_t row) const { return stack_w * static_cast<float>(stack_of(row)); }
  /// The first row of its stack that is in sight.
  std::size_t first_with(std::size_t row) const { return stack_of(row) * stacks.per_stack + stacks.first; }
  bool in_sight(std::size_t row) const {
    return row >= first_with(row) && row < first_with(row) + stacks.seen;
  }
  Rect cell(std::size_t row, int column) const {
    return {x0 + aside(row) + pitch * static_cast<float>(column - first),
            top + stacks.row_h * static_cast<float>(row - first_with(row)), cell_w, stacks.cell_h};
  }
};

/// Columns: all that fit, else a window that holds the explained entry, the same for all rows.
TableLook look_of(const Ui& ui, const std::vector<TableRow>& rows, const Rect& list, int lit_index,
                  const TableStacks& stacks) {
  const trace::StepRecord& step = *ui.frame.step;
  TableLook look;
  look.stacks = stacks;
  look.cell_w =
      text_width(ui, FontRole::mono, std::to_string(std::max<std::size_t>(10, step.blocks.size()))) +
      ui.px(10);
  look.stack_w = std::floor((list.w + ui.px(kStackGap)) / static_cast<float>(stacks.stacks));
  look.pitch = look.cell_w + ui.px(3);
  look.chip_x = list.x;
  look.x0 = list.x + ui.px(30);
  look.top = list.y;
  if (step.block_tables)
    for (const auto& table : *step.block_tables)
      look.width = std::max(look.width, static_cast<int>(table.size()));
  look.longest = look.width;
  for (const TableRow& row : rows)
    look.longest = std::max(look.longest, static_cast<int>(row.seq->block_table.size()));
  const float right = list.x + look.stack_w - ui.px(kStackGap);
  const auto fitting = [&](float sides) {
    return std::max(1, static_cast<int>((right - look.x0 - sides) / look.pitch));
  };
  int room = fitting(0.0F);
  if (look.longest > room) {
    room = fitting(2.0F * ui.px(kMore + 4));
    look.first = std::clamp((lit_index >= 0 ? lit_index : look.longest) - room + 1, 0, look.longest - room);
    look.x0 += ui.px(kMore + 4);
  }
  look.end = std::min(look.longest, look.first + room);
  return look;
}

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

/// What of an entry's cell is in sight: several rows high where neighbours have it in common.
struct Cell {
  Rect box;
  bool drawn = true;                  // here, not by the row above
  bool shared = false;                // with a row of the list, in sight or not
  std::size_t last = 0;               // row that it ends in, in sight or not
  bool above = false, below = false;  // goes on in rows that are out of sight
};

Cell cell_at(const std::vector<TableRow>& rows, std::size_t r, int i, const TableLook& look) {
  Cell cell{.box = look.cell(r, i)};
  const bool continues = i < rows[r].common;
  cell.above = continues && r == look.first_with(r);
  cell.drawn = !continues || cell.above;
  cell.last = r;
  while (cell.last + 1 < rows.size() && rows[cell.last + 1].common > i) ++cell.last;
  cell.shared = continues || cell.last > r;
  const std::size_t last_seen = look.first_with(r) + look.stacks.seen - 1;
  cell.below = cell.last > last_seen;
  cell.box.h = look.cell(std::min(cell.last, last_seen), i).bottom() - cell.box.y;
  return cell;
}

/// Where a cell goes on out of sight, its borders are open.
void draw_cell(Ui& ui, const Cell& cell, int seq, int block, bool lit_cell) {
  const Rect& box = cell.box;
  const bool twice = cell.shared || references(ui, block) > 1;
  const float beyond = ui.px(8);
  const Rect whole{box.x, box.y - (cell.above ? beyond : 0.0F), box.w,
                   box.h + (cell.above ? beyond : 0.0F) + (cell.below ? beyond : 0.0F)};
  ui.draw->PushClipRect({box.x, box.y}, {box.right(), box.bottom()}, true);
  fill(ui, whole, cell.shared ? ui[Color::raised] : tint_of(ui, seq), 1.0F, ui.px(2));
  outline(ui, whole, twice ? ui[Color::text] : hue_of(ui, seq), 1.0F, ui.px(2));
  if (twice) outline(ui, {whole.x + 2, whole.y + 2, whole.w - 4, whole.h - 4}, ui[Color::text], 1.0F);
  const bool selected = block == ui.selection.block;
  if (selected || lit_cell || block == ui.view.hover.block)
    outline(ui, whole, ui[selected ? Color::selection : Color::accent], ui.px(2), ui.px(2));
  ui.draw->PopClipRect();
  text_in(ui, FontRole::mono, box, ui[Color::text], std::to_string(block), Align::center);
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

/// What stands beside the cells: the letter, and how many entries are outside the window of columns.
void draw_row_ends(const Ui& ui, const trace::SeqState& seq, std::size_t r, const TableLook& look) {
  const int count = static_cast<int>(seq.block_table.size());
  const Rect head = look.cell(r, look.first);
  letter_chip(ui, {look.chip_x + look.aside(r), head.y, ui.px(24), head.h}, seq.id);
  if (count == 0)
    text_in(ui, FontRole::small, {head.x, head.y, ui.px(80), head.h}, ui[Color::muted], "no blocks",
            Align::left);
  const auto more = [&](float x, int entries, Align align) {
    if (entries > 0)
      text_in(ui, FontRole::mono_small, {x, head.y, ui.px(kMore), head.h}, ui[Color::muted],
              fmt::format("+{}", entries), align);
  };
  more(head.x - ui.px(kMore + 4), std::min(count, look.first), Align::right);
  more(look.cell(r, look.end).x, count - look.end, Align::left);
}

void draw_row(Ui& ui, const std::vector<TableRow>& rows, std::size_t r, const TableLook& look,
              const TableFocus& focus) {
  const trace::SeqState& seq = *rows[r].seq;
  const auto explained = [&](const Cell& cell, int index) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(r);
    return index == focus.index &&
           std::any_of(first, rows.begin() + static_cast<std::ptrdiff_t>(cell.last + 1),
                       [&](const TableRow& row) { return row.seq->id == focus.seq; });
  };
  const int count = static_cast<int>(seq.block_table.size());
  draw_row_ends(ui, seq, r, look);
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
    if (const Cell cell = cell_at(rows, r, i, look); cell.drawn)
      draw_cell(ui, cell, seq.id, block, explained(cell, i));
    const bool fresh = std::find(changed.begin(), changed.end(), i) != changed.end();
    if (fresh) change_dot(ui, own.right() - 1.0F, own.y + 1.0F);
    answer_cell(ui, own, seq, i, fresh);
  }
}

/// The entry that an arrow leads from: of the block under the mouse, of the selected one, or the explained
/// one.
int meant_entry(const Ui& ui, const trace::SeqState& seq, int lit_index) {
  for (const int block : {ui.view.hover.block, ui.selection.block}) {
    const auto at = std::ranges::find(seq.block_table, block);
    if (block >= 0 && at != seq.block_table.end()) return static_cast<int>(at - seq.block_table.begin());
  }
  return lit_index;
}

/// From the entry up, between rows to the right of its stack, and above all rows: no text is there.
ArrowStart arrow_from(const Ui& ui, const std::vector<TableRow>& rows, std::size_t r, const TableLook& look,
                      int lit_index) {
  const trace::SeqState& seq = *rows[r].seq;
  const int i = meant_entry(ui, seq, lit_index);
  if (i < look.first || i >= look.end || i >= static_cast<int>(seq.block_table.size())) return {};
  std::size_t row = r;
  while (!cell_at(rows, row, i, look).drawn) --row;
  const Rect box = look.cell(row, i);
  const float x = std::round(box.x + box.w * 0.5F);
  const float above = std::round(look.top - ui.px(3));
  ArrowStart start{seq.id, i, seq.block_table[static_cast<std::size_t>(i)], {}};
  if (row == look.first_with(row)) {
    start.way = {{x, box.y}, {x, above}};
    return start;
  }
  const bool last_stack = look.stack_of(row) + 1 >= static_cast<std::size_t>(look.stacks.stacks);
  const float stack_end = look.chip_x + look.stack_w * static_cast<float>(look.stack_of(row) + 1);
  const float side = last_stack ? arrow_gutter(ui) : std::round(stack_end - ui.px(kStackGap) * 0.5F);
  const float between = std::round(box.y - (look.stacks.row_h - look.stacks.cell_h) * 0.5F);
  start.way = {{x, box.y}, {x, between}, {side, between}, {side, above}};
  return start;
}

/// Brings the row of the focused sequence into sight when the focus or what is in sight changes; the wheel
/// still scrolls then.
std::size_t scrolled_to(Ui& ui, const std::vector<TableRow>& rows, const Rect& list,
                        const TableStacks& stacks, int focus) {
  ListViews& lists = ui.view.data.lists;
  const float most = static_cast<float>(stacks.per_stack - std::min(stacks.per_stack, stacks.seen));
  const bool moved = lists.tables_seq != focus || lists.tables_seen != stacks.seen;
  lists.tables_seq = focus;
  lists.tables_seen = stacks.seen;
  if (moved) {
    const auto at =
        std::ranges::find_if(rows, [&](const TableRow& row) { return row.seq->id == focus; }) - rows.begin();
    const auto row = static_cast<float>(static_cast<std::size_t>(at) % stacks.per_stack);
    const float last = lists.tables_top + static_cast<float>(stacks.seen) - 1.0F;
    if (row < lists.tables_top || row > last)
      lists.tables_top = row - std::floor(static_cast<float>(stacks.seen - 1) * 0.5F);
  }
  if (touch(ui, list).hovered) lists.tables_top -= ImGui::GetIO().MouseWheel;
  lists.tables_top = std::clamp(lists.tables_top, 0.0F, most);
  return static_cast<std::size_t>(std::lround(lists.tables_top));
}

/// "2 more rows below": a button that goes there; returns where the next has room.
float tell_rows(Ui& ui, const Rect& line, std::size_t count, bool below, std::size_t seen) {
  if (count == 0) return line.x;
  const std::string words =
      fmt::format("{} more row{} {}", count, count == 1 ? "" : "s", below ? "below" : "above");
  const float side = ui.px(8), gap = ui.px(5);
  const Rect box{line.x, line.y, side + gap + text_width(ui, FontRole::small, words) + 1.0F, line.h};
  const Hit hit = mark(ui, below ? "tables/more" : "tables/above", box, words,
                       ui.view.picture.still ? "" : "click to go there");
  const float y = box.y + std::round((box.h - side * 0.85F) * 0.5F) + ui.px(1);
  if (below)
    triangle_down(ui, box.x, y, side, ui[Color::accent]);
  else
    triangle_up(ui, box.x, y, side, ui[Color::accent]);
  text_in(ui, FontRole::small, {box.x + side + gap, box.y, box.w - side - gap, box.h},
          ui[hit.hovered ? Color::text : Color::muted], words, Align::left);
  if (hit.clicked) ui.view.data.lists.tables_top += static_cast<float>(seen) * (below ? 1.0F : -1.0F);
  return box.right() + ui.px(16);
}

}  // namespace

std::vector<TableRow> table_rows(const Frame& frame) {
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

TableStacks stack_tables(const Ui& ui, const std::vector<TableRow>& rows, const Rect& list) {
  const auto of = [&](int stacks, float cell, float gap) {
    TableStacks out;
    out.stacks = stacks;
    out.per_stack = std::max<std::size_t>(
        1, (rows.size() + static_cast<std::size_t>(stacks) - 1) / static_cast<std::size_t>(stacks));
    out.cell_h = cell;
    out.row_h = cell + ui.px(gap);
    const auto fitting = [&](float height) {
      return static_cast<std::size_t>(std::max(1.0F, std::floor((height + ui.px(gap)) / out.row_h)));
    };
    out.seen = fitting(list.h);
    if (!out.all()) out.seen = fitting(list.h - fold_note_height(ui));
    out.seen = std::min(out.seen, out.per_stack);
    return out;
  };
  const TableLook alone = look_of(ui, rows, list, -1, of(1, ui.px(kCell), kRowGap));
  const float stack_w = alone.x0 - list.x + alone.pitch * static_cast<float>(alone.longest);
  const int most = std::clamp(static_cast<int>((list.w + ui.px(kStackGap)) / (stack_w + ui.px(kStackGap))), 1,
                              kMostStacks);
  for (int stacks = 1; stacks <= most; ++stacks)
    if (const TableStacks out = of(stacks, ui.px(kCell), kRowGap); out.all()) return out;
  return of(most, std::max(ui.px(kLowCell), font_pixels(FontRole::mono) + 2.0F), kLowGap);
}

ArrowStart draw_table_rows(Ui& ui, std::vector<TableRow> rows, const Rect& list, const TableStacks& stacks,
                           const TableFocus& focus) {
  TableStacks shown = stacks;
  for (std::size_t r = 0; r < rows.size(); r += shown.per_stack) rows[r].common = 0;  // none above it
  shown.first = scrolled_to(ui, rows, list, shown, focus.seq);
  const TableLook look = look_of(ui, rows, list, focus.index, shown);
  ArrowStart start;
  std::size_t above = 0, below = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!look.in_sight(r)) {
      ++(r < look.first_with(r) ? above : below);
      continue;
    }
    draw_row(ui, rows, r, look, focus);
    if (focus.arrow && rows[r].seq->id == focus.seq) start = arrow_from(ui, rows, r, look, focus.index);
  }
  Rect line{list.x, list.bottom() - fold_note_height(ui), list.w, fold_note_height(ui)};
  line.x = tell_rows(ui, line, above, false, shown.seen);
  tell_rows(ui, line, below, true, shown.seen);
  return start;
}

ArrowStart draw_table_row(Ui& ui, const TableRow& row, const Rect& area, const TableFocus& focus,
                          float& height) {
  const TableStacks stacks{.cell_h = ui.px(kCell), .row_h = ui.px(kCell) + ui.px(kRowGap)};
  const std::vector<TableRow> rows = {{row.seq, 0}};
  const TableLook look = look_of(ui, rows, area, focus.index, stacks);
  draw_row(ui, rows, 0, look, focus);
  height = stacks.row_h;
  return focus.arrow ? arrow_from(ui, rows, 0, look, focus.index) : ArrowStart{};
}

}  // namespace attn::viz
