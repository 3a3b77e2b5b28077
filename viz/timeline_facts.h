// What the timeline shows of a whole run, taken in once per step: where steps begin, and what every sequence
// did, as runs of equal state. Thousands of steps then cost nothing per frame.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "viz/frame.h"

namespace attn::viz {

enum class SeqPhase : unsigned char { waiting, prefill, decode, preempted };
inline constexpr int kNumSeqPhases = 4;

/// Steps [first, end) in which a sequence was in the same phase.
struct SeqRun {
  int first = 0;
  int end = 0;
  SeqPhase phase = SeqPhase::waiting;
  bool finished = false;  // in step end - 1
};

struct TimelineFacts {
  std::shared_ptr<const std::vector<StepSummary>> history;  // taken from
  std::vector<int> starts = {0};                            // of steps, in units; and the end
  std::map<int, std::vector<SeqRun>> rows;                  // by sequence id, ascending steps
  int steps() const { return static_cast<int>(starts.size()) - 1; }
};

/// Takes in what the history grew by; another history starts anew.
void take_in(TimelineFacts& facts, const std::shared_ptr<const std::vector<StepSummary>>& history);

/// Whether the history alone tells that a break point holds in a step: writes, preemptions, evictions, prefix
/// hits, allocations.
bool known_to_hold(const trace::Condition& condition, const StepSummary& step);

}  // namespace attn::viz
