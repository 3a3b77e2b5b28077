// Geometry of the tile stepper: which of its parts have room, and where the tiles of a row lie. Pure, in
// pixels.
#pragma once

#include "viz/marks.h"

namespace attn::viz {

/// Parts by falling importance: strip, footer, table, plot and gauges, merge. w = 0: no room.
struct TileLayout {
  Rect controls;
  Rect strip;
  Rect plot;    // scores of the tile
  Rect gauges;  // m, l, o
  Rect table;
  Rect merge;
  Rect footer;
};
/// `splits`: brackets above the strip and the merge below the table are wanted. `tiles`: rows of the table.
TileLayout layout_tiles(const Rect& body, float scale, bool splits, int tiles);

/// The tiles of a row, or the page of them that holds the cursor when they would be too narrow.
struct TileStrip {
  Rect area;
  int first = 0;  // tile at the left
  int count = 0;
  int tiles = 0;
  int k_tile = 0;
  int num_keys = 0;
  float key_w = 0.0F;

  bool paged() const { return count < tiles; }
  bool shows(int tile) const { return tile >= first && tile < first + count; }
  /// Of a key column; the last tile may be cut short.
  float key_x(int key) const;
  Rect tile(int index) const;
};
TileStrip layout_tile_strip(const Rect& area, int num_keys, int k_tile, int cursor, float min_tile_w);

}  // namespace attn::viz
