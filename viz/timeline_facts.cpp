#include "viz/timeline_facts.h"

#include <algorithm>

#include "viz/layout/timeline_layout.h"

namespace attn::viz {
namespace {

void extend(std::vector<SeqRun>& runs, int step, SeqPhase phase) {
  if (!runs.empty() && runs.back().end == step && runs.back().phase == phase && !runs.back().finished)
    ++runs.back().end;
  else
    runs.push_back({step, step + 1, phase, false});
}

void take_step(TimelineFacts& facts, const StepSummary& step, int index) {
  const bool decode = step.kind == trace::StepKind::decode;
  facts.starts.push_back(facts.starts.back() + (decode ? 1 : kPrefillUnits));
  for (const int id : step.scheduled)
    extend(facts.rows[id], index, decode ? SeqPhase::decode : SeqPhase::prefill);
  for (const int id : step.preempted) {
    std::vector<SeqRun>& runs = facts.rows[id];
    if (runs.empty() || runs.back().end <= index) extend(runs, index, SeqPhase::preempted);
  }
  for (const int id : step.waiting) {
    std::vector<SeqRun>& runs = facts.rows[id];
    if (runs.empty() || runs.back().end <= index) extend(runs, index, SeqPhase::waiting);
  }
  for (const int id : step.finished) {
    std::vector<SeqRun>& runs = facts.rows[id];
    if (!runs.empty() && runs.back().end == index + 1) runs.back().finished = true;
  }
}

}  // namespace

void take_in(TimelineFacts& facts, const std::shared_ptr<const std::vector<StepSummary>>& history) {
  if (facts.history != history) facts = {history, {0}, {}};
  if (!history) return;
  while (facts.steps() < static_cast<int>(history->size()))
    take_step(facts, (*history)[static_cast<std::size_t>(facts.steps())], facts.steps());
}

bool known_to_hold(const trace::Condition& condition, const StepSummary& step) {
  const auto has = [&](trace::EventKind kind) {
    return std::find(step.events.begin(), step.events.end(), kind) != step.events.end();
  };
  const bool any = condition.a < 0;
  switch (condition.kind) {
    case trace::ConditionKind::block_written:
      if (any) return std::find(step.written.begin(), step.written.end(), true) != step.written.end();
      return static_cast<std::size_t>(condition.a) < step.written.size() &&
             step.written[static_cast<std::size_t>(condition.a)];
    case trace::ConditionKind::preemption:
      return !step.preempted.empty();
    case trace::ConditionKind::eviction:
      return any && has(trace::EventKind::evict);
    case trace::ConditionKind::prefix_hit:
      return any && has(trace::EventKind::prefix_hit);
    case trace::ConditionKind::block_allocated:
      return any && has(trace::EventKind::allocate);
    default:
      return false;
  }
}

}  // namespace attn::viz
