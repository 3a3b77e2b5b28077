// The rows of the mask drawing: which keys each query of a sequence sees, from the same visible_keys the
// kernels use, and what a cell of it means in words.
#pragma once

#include <string>
#include <vector>

#include "kernels/common/mask.h"
#include "viz/layout/grid_layout.h"
#include "viz/lookup.h"
#include "viz/widgets/ui.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {

/// The alignment drawn, and the one the engine's kernel was launched with: they differ in a preview.
struct MaskPair {
  MaskAlignment shown = MaskAlignment::bottom_right;
  MaskAlignment engine = MaskAlignment::bottom_right;
  bool preview() const { return shown != engine; }
};

/// One row of the drawing: a query, or a group of them.
struct MaskRow {
  int seq = 0;
  int q_row = 0;  // first query of the group, within its sequence
  int q_len = 1;
  int k_len = 0;
  int attended = 0;        // k_len + zero pads
  int visible_low = 0;     // keys seen by the first query of the group
  int visible = 0;         // keys seen by its last
  int engine_visible = 0;  // the same under the engine's alignment
  int own_key() const { return k_len - q_len + q_row; }
};

/// Queries `span` of one sequence, `row_step` per row.
std::vector<MaskRow> prefill_mask_rows(MaskPair mask, const BatchRows& rows, Span span, int row_step);
/// One row per sequence of the batch, at most `limit`.
std::vector<MaskRow> decode_mask_rows(const Frame& frame, MaskPair mask, int limit);
/// Visible (query, key) pairs of one sequence.
long long count_allowed(MaskAlignment mask, const BatchRows& rows);
std::string mask_cell_text(const MaskRow& row, int q, int k, bool prefill, MaskPair mask);

/// Columns [from, to) of a row, to scale also within a group of columns, cut to what is shown.
Rect mask_span(const GridLayout& grid, int row, int from, int to);
/// Surface of one row over a hatched ground: cached band, new keys, pads.
void draw_mask_row(const Ui& ui, const GridLayout& grid, const MaskRow& row, int index);
/// Corner marks on the cells that a preview changes: filled where it shows more, hollow where it hides.
void draw_changes(const Ui& ui, const GridLayout& grid, const MaskRow& row, int index);
/// "PAD" over the pads of a row, above the grid lines.
void draw_pad_label(const Ui& ui, const GridLayout& grid, const MaskRow& row, int index);
/// Miniature masks of the batch's sequences, for as many as fit; clicking one selects it.
void draw_mask_thumbs(Ui& ui, const Rect& area, MaskPair mask);

}  // namespace attn::viz
