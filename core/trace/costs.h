// What a step cost, from its launch records: per stage and in sum, and prefill against decode over a whole
// run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/store.h"

namespace attn::trace {

struct Cost {
  std::uint64_t bytes = 0;
  std::uint64_t flop = 0;
  float ms = 0.0F;  // NaN when any part was not measured
  int launches = 0;
};

struct CostRow {
  std::string kernel;
  Stage stage = Stage::schedule;
  Cost cost;                     // over all layers
  std::uint64_t score_dots = 0;  // of a kernel that computes scores: StepCosts::score_dots; 0 for others
};

struct StepCosts {
  std::vector<CostRow> kernels;  // in order of first launch
  Cost total;
  Cost attention;                     // stages store_kvcache .. attention
  std::uint64_t score_dots = 0;       // visible (query, key) pairs of one head, all sequences
  std::uint64_t kv_rows_written = 0;  // slots >= 0 of slot_mapping
  std::uint64_t kv_rows_read = 0;     // keys attended to (zero pads too), sum over sequences
  std::uint64_t query_rows = 0;       // N
};
StepCosts step_costs(const StepRecord& step);

/// Bytes that one token takes in the cache of a model: its K and V rows of all layers.
std::uint64_t kv_bytes(int num_layers, int num_kv_heads, int head_dim, DType dtype);

/// K rows that the launches of one layer's attention read and wrote, per KV head: what a gather, a flatten or
/// a repeat copies counts twice, and a repeated row once for every query head. From the bytes that the
/// launches recorded. Throws InputError where these do not tell (level 1, split keys). PRECOND: `step` has
/// the launches' sizes.
std::uint64_t k_rows_moved(const std::vector<LaunchEntry>& launches, int layer, const StepRecord& step,
                           const ModelShape& model);

/// Prefill against decode: the sums over the steps [0, last] of a recording.
struct PhaseCosts {
  int steps = 0;
  StepCosts sum;  // `kernels` left empty
  std::uint64_t tokens_out = 0;
};
struct RunCosts {
  PhaseCosts prefill;
  PhaseCosts decode;
};
/// Adds one step (the warmup is neither prefill nor decode and adds nothing); the caller keeps the sums while
/// a recording grows.
void add_step(RunCosts& run, const StepRecord& step);

}  // namespace attn::trace
