// How the kernels cut the keys of the row that is looked at, as far as the inspector knows it by now.
#pragma once

#include "app/inspector_thread.h"
#include "core/trace/cursor.h"
#include "viz/frame.h"

namespace attn::app {

class KnownTileGrids : public trace::TileGrids {
 public:
  KnownTileGrids(const trace::Store& store, InspectorThread& inspector, const viz::Selection& selection)
      : store_(store), inspector_(inspector), selection_(selection) {}

  trace::TileGrid grid_of(int index, int layer) override;
  /// Something was asked for that the inspector is still working on: ask again when it has answered.
  bool incomplete() const { return incomplete_; }

 private:
  const trace::Store& store_;
  InspectorThread& inspector_;
  const viz::Selection& selection_;
  bool incomplete_ = false;
};

/// Of the selected row, or of the last row of the selected (else the first) sequence of the batch.
trace::TileGrid tile_grid(const trace::StepRecord& step, const trace::AttentionView& view,
                          const viz::Selection& selection);

}  // namespace attn::app
