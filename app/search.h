// Looking for the step in which a condition holds, forwards or backwards, with an inspector of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/job.h"
#include "core/trace/condition.h"
#include "core/trace/store.h"
#include "kernels/device.h"

namespace attn::app {

struct SearchRequest {
  std::shared_ptr<const trace::Store> store;
  std::vector<trace::Condition> conditions;  // any of them; none: runs to the end
  int from = 0;                              // the first step looked at is its neighbour
  int by = 1;                                // +1 or -1
  int layer = 0;                             // of conditions that need the attention kernel launched again
  DeviceChoice device = DeviceChoice::automatic;
  /// Makes step `index`, which is not recorded yet; false when there will be none. Empty: a recording.
  std::function<bool(int index, const Job::Control& control)> make_step = {};
  /// Step `index` of the same run with nothing broken, waiting for it; null when there is none. Empty:
  /// nothing is broken.
  std::function<std::shared_ptr<const trace::StepRecord>(int index, const Job::Control& control)> right_step =
      {};
};

struct SearchResult {
  int index = -1;  // of the step found; -1: none
  int last = -1;   // the last step looked at
  trace::Condition condition;
  trace::ConditionHit hit;
};

/// Runs on a job's thread. Stops early, with nothing found, when the job is cancelled.
SearchResult search(const SearchRequest& request, Job::Control& control);

/// What the Next and Previous event of a block, or of the recording (block -1), stop at.
std::vector<trace::Condition> events_of(int block);

}  // namespace attn::app
