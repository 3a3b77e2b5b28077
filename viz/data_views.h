// What the panels of the engine's data (pool, timeline, requests, changes) remember between frames: zoom,
// scroll, text being typed, and what was gathered from a record. Never in the trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "viz/change_lines.h"
#include "viz/layout/timeline_layout.h"
#include "viz/pool_facts.h"
#include "viz/timeline_facts.h"

namespace attn::viz {

/// What the pool is scrolled for: as long as it stays, so does the scroll.
struct PoolSight {
  int num_blocks = 0, columns = 0, ringed = -1;
  float card_h = 0.0F;
  bool operator==(const PoolSight&) const = default;
};

struct PoolView {
  int zoom = 0;                                   // sizes of cards above the one that the panel chooses
  int shown_block = -1;                           // selected block that was last scrolled to
  PoolSight sight;                                // that it was last scrolled for by itself
  std::shared_ptr<const trace::StepRecord> step;  // that `now` is of
  std::shared_ptr<const PoolNow> now;
};

struct ChangesView {
  std::shared_ptr<const trace::StepDiff> shown[2];  // that `lines` are of: since the last step, and D
  std::vector<ChangeLine> lines[2];
  trace::Stage stage = trace::Stage::commit;  // up to which those since the last step have happened
  bool all = false;                           // long lists in full
  int editing = -1;                           // bookmark whose note is being typed; -1 none
  std::array<char, 256> note{};               // of it
  std::array<char, 256> fresh{};              // of the next bookmark
  bool take_focus = false;                    // the line was opened in this frame
};

struct TimelineView {
  TimelineFacts facts;    // of the run, taken in as it grows
  TimelineWindow window;  // zoom and pan
  int followed = -1;      // step that was last brought into sight
  int scrubbed = -1;      // step that dragging last went to
  int loop_anchor = -1;   // where the drag at hand that sets the loop began; -1: none does
};

struct RequestsView {
  int shown_seq = -1;  // sequence that was last scrolled to: the selected one, else the first of the batch
};

/// Of the block tables: what they last scrolled to, so that the wheel still scrolls.
struct ListViews {
  int tables_seq = -1;
  std::size_t tables_seen = 0;  // rows
  float tables_top = 0.0F;      // row
};

struct DataViews {
  ListViews lists;
  PoolView pool;
  TimelineView timeline;
  RequestsView requests;
  ChangesView changes;
};

}  // namespace attn::viz
