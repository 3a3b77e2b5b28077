// Where one stands in a recording, and how to walk it at any grain. Every walk is a pure function of the
// record, so a step back is the exact inverse of the step forward.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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
  int layer = 0;  // outside layers: of the first layer to come, or the last one passed
  int head = 0;
  int tile = -1;  // -1: not inside the online softmax
  int cell = -1;  // key column within the sequence; -1: not at a cell
  bool operator==(const Cursor&) const = default;
};

/// A stage as a step runs it.
struct StagePlace {
  Stage stage = Stage::schedule;
  int layer = -1;  // -1: not in a layer
  bool operator==(const StagePlace&) const = default;
};
/// The stages that the step ran, in order. store_kvcache, gather, flatten and repeat are there when the step
/// noted a shape or a launch of theirs; so are all stages of a tensor case, which no engine ran.
std::vector<StagePlace> stage_places(const StepRecord& step, const Manifest& manifest);
/// The first of them behind that place (`layer` is -1 outside of layers), nothing at the end of the step.
std::optional<StagePlace> place_after(const std::vector<StagePlace>& places, const StagePlace& place);

/// How the kernel cut the keys of the query row that is looked at. One step and layer, any head.
struct TileGrid {
  int k_tile = 0;    // keys per tile; 0: not known, tiles and cells are then passed over
  int num_keys = 0;  // keys the row's tiles cover
  int tiles() const { return k_tile > 0 ? (num_keys + k_tile - 1) / k_tile : 0; }
};

/// Asked for the grid of an attention stage that a walk at tile or cell grain stands in or enters.
class TileGrids {
 public:
  virtual ~TileGrids() = default;
  virtual TileGrid grid_of(int index, int layer) = 0;
};

/// The grids as the launchers' own plan cuts them (kernels/common/plan.h), for one query row: nothing has to
/// be launched to know them. `seq` is a sequence id (not in the step: the first of the batch is meant), `row`
/// a query row within it (-1 or out of range: its last).
class PlannedGrids : public TileGrids {
 public:
  PlannedGrids(const Store& store, int seq, int row) : store_(store), seq_(seq), row_(row) {}
  TileGrid grid_of(int index, int layer) override;

 private:
  const Store& store_;
  int seq_;
  int row_;
};

/// The next place at that grain, or the one before (`by` +1 or -1); the same cursor at the ends of the
/// recording. Coming from a finer place forwards, the current place of the grain counts as begun; backwards
/// it lands on its beginning. A step that is entered backwards is entered at its last place ("finished").
/// At step grain stage, layer and head stay what they are, at stage grain the head does: one watches the same
/// thing through time.
Cursor move_cursor(const Store& store, const Cursor& cursor, Grain grain, int by, TileGrids& grids);

}  // namespace attn::trace
