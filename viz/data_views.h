// What the panels of the engine's data (pool, timeline, requests, changes) remember between frames: zoom,
// scroll, text being typed, and what was gathered from a record. Never in the trace.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "viz/pool_facts.h"

namespace attn::viz {

struct PoolView {
  int zoom = 0;                                   // sizes of cards above the one at which all fit
  int shown_block = -1;                           // selected block that was last scrolled to
  std::shared_ptr<const trace::StepRecord> step;  // that `facts` is of
  std::shared_ptr<const std::vector<BlockFacts>> facts;
};

struct DataViews {
  PoolView pool;
};

}  // namespace attn::viz
