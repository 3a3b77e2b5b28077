// What the bookkeeping of one step did, in order. Block manager and scheduler write it, the engine moves
// it into the step's record.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/trace/step_record.h"

namespace attn {

struct StepLog {
  std::vector<trace::Event> events;
  std::vector<int> preempted;
  std::vector<trace::Rejected> rejected;
  std::vector<int> finished;

  void add(trace::EventKind kind, int seq_id, int block_id, std::string text) {
    events.push_back({kind, seq_id, block_id, std::move(text)});
  }
  void reject(int seq_id, std::string reason) {
    rejected.push_back({seq_id, reason});
    add(trace::EventKind::reject, seq_id, -1, std::move(reason));
  }
  /// Moves everything into the record and starts empty.
  void move_to(trace::StepRecord& record) {
    record.events = std::exchange(events, {});
    record.preempted = std::exchange(preempted, {});
    record.rejected = std::exchange(rejected, {});
    record.finished = std::exchange(finished, {});
  }
};

}  // namespace attn
