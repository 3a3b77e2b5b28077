// Where one stands in a recording, and how to walk it at any grain. Every walk is a pure function of the
// record, so a step back is the exact inverse of the step forward.
#pragma once

#include <cstdint>

#include "core/trace/store.h"

namespace attn::trace {

/// From coarse to fine. Each grain visits every place of the coarser one, and more.
enum class Grain : std::uint8_t {
  step,   // engine steps
  stage,  // ... and every stage of every layer
  head,   // ... and every head of an attention stage
  tile,   // ... and every key tile of a head's online softmax
  cell    // ... and every key of a tile
};

struct Cursor {
  int index = 0;  // of the step in the store
  Stage stage = Stage::schedule;
  int layer = 0;  // outside layers: the layer looked at last
  int head = 0;
  int tile = -1;  // -1: not inside the online softmax
  int cell = -1;  // key column within the sequence; -1: not at a cell
  bool operator==(const Cursor&) const = default;
};

/// How the kernel cut the keys of the query row that is looked at. One step and layer, any head.
struct TileGrid {
  int k_tile = 0;    // keys per tile; 0: not known, tiles and cells are then passed over
  int num_keys = 0;  // keys the row's tiles cover
  int tiles() const { return k_tile > 0 ? (num_keys + k_tile - 1) / k_tile : 0; }
};

/// The next place at that grain, or the one before (`by` +1 or -1); the same cursor at the ends of the
/// recording. Coming from a finer place forwards, the current place of the grain counts as begun; backwards
/// it lands on its beginning. A step that is entered backwards is entered at its last place ("finished").
/// `grid` belongs to the cursor's own step and layer; where the walk enters another attention stage at tile
/// or cell grain, `grid_of` is asked for that one's.
class TileGrids {
 public:
  virtual ~TileGrids() = default;
  virtual TileGrid grid_of(int index, int layer) = 0;
};
Cursor move_cursor(const Store& store, const Cursor& cursor, Grain grain, int by, TileGrids& grids);

}  // namespace attn::trace
