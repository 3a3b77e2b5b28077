#include "core/trace/costs.h"

#include <algorithm>

#include "core/trace/launch_shape.h"
#include "core/trace/record_check.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

void add(Cost& sum, const Cost& part) {
  sum.bytes += part.bytes;
  sum.flop += part.flop;
  sum.ms += part.ms;  // NaN stays: a part was not measured
  sum.launches += part.launches;
}

Cost cost_of(const LaunchRecord& launch) { return {launch.bytes, launch.flop, launch.ms, 1}; }

bool moves_keys(Stage stage) { return stage >= Stage::gather && stage <= Stage::attention; }

bool is_attention(Stage stage) { return stage >= Stage::store_kvcache && stage <= Stage::attention; }

/// Attention but for what merges its splits.
bool computes_scores(const CostRow& row) {
  return row.stage == Stage::attention &&
         (row.kernel.starts_with("prefill_") || row.kernel.starts_with("decode_"));
}

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
  for (CostRow& row : costs.kernels)
    if (computes_scores(row)) row.score_dots = costs.score_dots;
  for (std::size_t b = 0; b < static_cast<std::size_t>(step.num_scheduled); ++b) {
    costs.kv_rows_read += static_cast<std::uint64_t>(columns_seen(step, b));
  }
  return costs;
}

std::uint64_t kv_bytes(int num_layers, int num_kv_heads, int head_dim, DType dtype) {
  return std::uint64_t{2} * num_layers * num_kv_heads * head_dim * dtype_size(dtype);
}

std::uint64_t k_rows_moved(const std::vector<LaunchEntry>& launches, int layer, const StepRecord& step,
                           const ModelShape& model) {
  const std::uint64_t row = kv_bytes(1, model.num_kv_heads, model.head_dim, model.dtype);  // K and V
  const std::uint64_t rows_and_heads = std::uint64_t{step.input_ids.size()} * model.num_heads;
  const std::uint64_t q_o_lse =
      rows_and_heads * (2 * model.head_dim * dtype_size(model.dtype) + sizeof(float));
  std::uint64_t bytes = 0;
  int attention = 0;
  for (const LaunchEntry& entry : launches) {
    if (entry.layer != layer || !moves_keys(entry.stage)) continue;
    bytes += entry.launch.bytes;
    attention += entry.stage == Stage::attention ? 1 : 0;
  }
  if (attention != 1 || bytes < q_o_lse || (bytes - q_o_lse) % row != 0) {
    throw InputError("its launches move more than K and V; use level 2 without splits");
  }
  return (bytes - q_o_lse) / row;
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
