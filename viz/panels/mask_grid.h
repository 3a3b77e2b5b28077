// The grid of the mask drawing: cells, staircase, own keys, changes of a preview, and what the mouse does on
// it.
#pragma once

#include <vector>

#include "viz/panels/mask_rows.h"

namespace attn::viz {

/// What the parts of the drawing share.
struct MaskDrawing {
  BatchRows batch;  // of the sequence in focus
  MaskPair mask;
  bool prefill = true;
  GridLayout grid;
  std::vector<MaskRow> rows;
  int num_rows = 0, num_cols = 0;  // of the whole matrix
};

/// Cells with their hatches, lines, rings and marks. `dragged`: the mouse moves the picture, nothing is
/// selected.
void draw_mask_cells(Ui& ui, const MaskDrawing& drawing, bool dragged);
/// Bracket under the cached columns: "cached_len 8".
void draw_cached_bracket(Ui& ui, const MaskDrawing& drawing);

}  // namespace attn::viz
