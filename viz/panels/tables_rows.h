// The rows of the block tables: which sequence stands where, how high, and which are in sight.
#pragma once

#include <cstddef>
#include <vector>

#include "viz/panels/block_arrows.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Sequences with a common beginning stand next to each other.
struct TableRow {
  const trace::SeqState* seq = nullptr;
  int common = 0;  // leading entries that are also those of the row above
};
std::vector<TableRow> table_rows(const Frame& frame);

/// How the tables stand in a list: side by side where not all have room below each other.
struct TableStacks {
  int stacks = 1;
  std::size_t per_stack = 1;  // tables below each other
  std::size_t first = 0;      // of them the one that is seen first
  std::size_t seen = 1;       // below each other
  float cell_h = 0.0F, row_h = 0.0F;
  bool all() const { return seen >= per_stack; }
};
/// Rows as high as they like to be, in as few stacks as they fit in; else low rows in as many stacks as have
/// the width, and of those as many as have the height above a line that tells of the others.
TableStacks stack_tables(const Ui& ui, const std::vector<TableRow>& rows, const Rect& list);

/// What is explained: an entry of the focused sequence's table, and whether an arrow leads from it to its
/// block.
struct TableFocus {
  int seq = -1;
  int index = -1;
  bool arrow = false;
};
/// Rows in whole, and how many more there are above and below; the wheel goes there. Entries that neighbours
/// have in common are drawn once, over as many rows as are in sight. Marks "tables/cell/2/0", "tables/more",
/// "tables/above". Returns the beginning of the arrow.
ArrowStart draw_table_rows(Ui& ui, std::vector<TableRow> rows, const Rect& list, const TableStacks& stacks,
                           const TableFocus& focus);
/// The row of the focused sequence alone, at the top of `area`; `height` is set to what it takes.
ArrowStart draw_table_row(Ui& ui, const TableRow& row, const Rect& area, const TableFocus& focus,
                          float& height);

}  // namespace attn::viz
