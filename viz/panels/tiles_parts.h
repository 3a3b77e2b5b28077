// The parts that the tile stepper is made of; each draws into the rectangle it is given.
#pragma once

#include <string>
#include <string_view>

#include "viz/layout/tile_layout.h"
#include "viz/panels/tiles_state.h"
#include "viz/widgets/paint.h"

namespace attn::viz {

/// Keys cut into tiles, the brackets of a split above them, and the tile cursor.
void draw_tile_strip(Ui& ui, const TileRow& row, const Rect& rect);
/// Signed scores of the tile at the cursor, with the running maximum before and after it.
void draw_tile_scores(Ui& ui, const TileRow& row, const Rect& rect);
/// m as a position, l and |o| as lengths: what was there shrinks, the tile is added. In a low rectangle their
/// numbers alone, in one or two columns.
void draw_tile_gauges(Ui& ui, const TileRow& row, const Rect& rect);
/// One line per tile.
void draw_tile_table(Ui& ui, const TileRow& row, const Rect& rect);
/// Weights exp(LSE_i - LSE) of the partials, in the order they are merged.
void draw_tile_merge(Ui& ui, const TileRow& row, const Rect& rect);
/// l * exp(m) = sum exp(s) at the cursor.
void draw_tile_invariant(Ui& ui, const TileRow& row, const Rect& rect);

/// "1.2034", "-∞", "3.1e+05".
std::string tile_number(double value);
/// "1.1353 · 0.1353 + 1.0498 = 1.2034": l_old · alpha + sum = l.
std::string tile_sum(const TileState& tile);
/// "tile_m[2, 5, 1] F32, decode_l2_tiled_kernel<float, StateProbe>".
std::string tile_source(const Ui& ui, const TileRow& row, std::string_view array, int tile);
/// Makes a tile the current one.
void go_to_tile(Ui& ui, const TileRow& row, int tile);

}  // namespace attn::viz
