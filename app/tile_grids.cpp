#include "app/tile_grids.h"

#include <algorithm>
#include <cmath>

namespace attn::app {

trace::TileGrid tile_grid(const trace::StepRecord& step, const trace::AttentionView& view,
                          const viz::Selection& selection) {
  if (view.k_tile <= 0 || view.num_tiles <= 0 || step.num_scheduled <= 0) return {};
  const int row = packed_row(step, {.seq = selection.seq, .row = selection.q_row});
  if (row < 0 || !view.has_row(row)) return {};
  const auto batch = std::ranges::upper_bound(step.cu_seqlens_q, row) - step.cu_seqlens_q.begin() - 1;
  const int head = std::clamp(selection.head, 0, view.num_heads - 1);
  // The kernel leaves the tiles behind the row's last visible key out: the probe shows which.
  int tiles = view.num_tiles;
  while (tiles > 0 && std::isnan(view.tile_m[view.tile_at(head, row, tiles - 1)])) --tiles;
  return {.k_tile = view.k_tile,
          .num_keys = std::min(tiles * view.k_tile, view.attended[static_cast<std::size_t>(batch)])};
}

trace::TileGrid KnownTileGrids::grid_of(int index, int layer) {
  const InspectorThread::Answer answer =
      inspector_.get(InspectorThread::Place{index, layer, {selection_.seq, selection_.q_row}});
  if (answer.pending) incomplete_ = true;
  return answer.view ? tile_grid(*store_.step(index), *answer.view, selection_) : trace::TileGrid{};
}

}  // namespace attn::app
