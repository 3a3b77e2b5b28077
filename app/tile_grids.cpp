#include "app/tile_grids.h"

#include <algorithm>
#include <cmath>

namespace attn::app {

trace::TileGrid tile_grid(const trace::StepRecord& step, const trace::AttentionView& view,
                          const viz::Selection& selection) {
  if (view.k_tile <= 0 || view.num_tiles <= 0 || step.num_scheduled <= 0) return {};
  int batch = 0;
  for (int b = 0; b < step.num_scheduled; ++b) {
    if (step.seqs[static_cast<std::size_t>(b)].id == selection.seq) batch = b;
  }
  const auto at = static_cast<std::size_t>(batch);
  const int q0 = step.cu_seqlens_q[at], q1 = step.cu_seqlens_q[at + 1];
  const int row = selection.q_row >= 0 ? std::min(q0 + selection.q_row, q1 - 1) : q1 - 1;
  if (row < 0 || !view.has_row(row)) return {};
  const int head = std::clamp(selection.head, 0, view.num_heads - 1);
  // The kernel leaves the tiles behind the row's last visible key out: the probe shows which.
  int tiles = view.num_tiles;
  while (tiles > 0 && std::isnan(view.tile_m[view.tile_at(head, row, tiles - 1)])) --tiles;
  return {.k_tile = view.k_tile, .num_keys = std::min(tiles * view.k_tile, view.attended[at])};
}

trace::TileGrid KnownTileGrids::grid_of(int index, int layer) {
  const InspectorThread::Answer answer = inspector_.get(index, layer);
  if (answer.pending) incomplete_ = true;
  return answer.view ? tile_grid(*store_.step(index), *answer.view, selection_) : trace::TileGrid{};
}

}  // namespace attn::app
