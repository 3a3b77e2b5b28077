// Geometry of the tile stepper: which of its parts have room, and where the tiles of a row lie. Pure, in
// pixels.
#pragma once

#include "viz/marks.h"

namespace attn::viz {

struct TileLayout {
  Rect controls;
  Rect strip;
  Rect plot;    // scores of the tile
  Rect gauges;  // m, l, o
  Rect table;
  Rect merge;  // w = 0: no splits
  Rect footer;
};

/// What is to be laid out.
struct TileNeeds {
  float width = 0.0F;  // pixels
  float scale = 1.0F;
  bool splits = false;  // brackets above the strip, and the merge below the table
  int tiles = 1;        // rows of the table
  int control_lines = 1;
  float seen = 0.0F;  // pixels of the panel that are on screen at once
  float note = 0.0F;  // pixels of them that telling of more below takes
};
/// Height from which every part has room, pixels. More than needs.seen: it scrolls, and what is seen first
/// are the numbers of the tile and the invariant, without bars; the plot comes last.
float least_tiles_height(const TileNeeds& needs);
/// PRECOND: body.h >= least_tiles_height(needs).
TileLayout layout_tiles(const Rect& body, const TileNeeds& needs);

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
