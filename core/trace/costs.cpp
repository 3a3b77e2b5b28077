#include "core/trace/costs.h"

#include <algorithm>

#include "core/trace/launch_shape.h"
#include "core/trace/record_check.h"

namespace attn::trace {
namespace {

void add(Cost& sum, const Cost& part) {
  sum.bytes += part.bytes;
  sum.flop += part.flop;
  sum.ms += part.ms;  // NaN stays: a part was not measured
  sum.launches += part.launches;
}

Cost cost_of(const LaunchRecord& launch) { return {launch.bytes, launch.flop, launch.ms, 1}; }

bool is_attention(Stage stage) { return stage >= Stage::store_kvcache && stage <= Stage::attention; }

void add_launch(StepCosts& costs, const LaunchEntry& entry) {
  const Cost cost = cost_of(entry.launch);
  auto row = std::find_if(costs.kernels.begin(), costs.kernels.end(), [&](const CostRow& known) {
    return known.stage == entry.stage && known.kernel == entry.launch.kernel;
  });
  if (row == costs.kernels.end()) {
    costs.kernels.push_back({entry.launch.kernel, entry.stage, {}});
    row = std::prev(costs.kernels.end());
  }
  add(row->cost, cost);
  add(costs.total, cost);
  if (is_attention(entry.stage)) add(costs.attention, cost);
}

}  // namespace

StepCosts step_costs(const StepRecord& step) {
  StepCosts costs;
  for (const LaunchEntry& entry : step.launches) add_launch(costs, entry);
  costs.query_rows = step.input_ids.size();
  if (step.stored) {
    costs.kv_rows_written = static_cast<std::uint64_t>(std::count_if(
        step.slot_mapping.begin(), step.slot_mapping.end(), [](int slot) { return slot >= 0; }));
  }
  if (step.path == AttentionPath::identity) return costs;
  costs.score_dots = static_cast<std::uint64_t>(visible_pairs(step));
  for (std::size_t b = 0; b < static_cast<std::size_t>(step.num_scheduled); ++b) {
    costs.kv_rows_read += static_cast<std::uint64_t>(attended_columns(step, b));
  }
  return costs;
}

void add_step(RunCosts& run, const StepRecord& step) {
  if (step.kind == StepKind::warmup) return;
  PhaseCosts& phase = step.kind == StepKind::prefill ? run.prefill : run.decode;
  const StepCosts costs = step_costs(step);
  ++phase.steps;
  add(phase.sum.total, costs.total);
  add(phase.sum.attention, costs.attention);
  phase.sum.score_dots += costs.score_dots;
  phase.sum.kv_rows_written += costs.kv_rows_written;
  phase.sum.kv_rows_read += costs.kv_rows_read;
  phase.sum.query_rows += costs.query_rows;
  phase.tokens_out += static_cast<std::uint64_t>(
      std::count_if(step.sampled.begin(), step.sampled.end(), [](const Sampled& s) { return !s.discarded; }));
}

}  // namespace attn::trace
