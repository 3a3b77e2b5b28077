// Decode steps of a whole engine: what a user waits for, the host's bookkeeping included.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/bench/run.h"
#include "app/scenario.h"
#include "core/engine/engine.h"
#include "core/model/random_weights.h"
#include "core/model/transformer.h"
#include "core/trace/costs.h"
#include "kernels/common/check.h"
#include "kernels/common/tiles.h"

namespace attn::app {
namespace {

constexpr int kBlock = 16;
constexpr int kWarmUp = 4;  // decode steps that are not counted
constexpr int kPrefillTokens = 16384;

struct EngineCase {
  std::string model;
  std::vector<int> batches;
  int context;
  int steps;  // that are timed
};

EngineConfig config_of(const EngineCase& c, int batch, bool graphs) {
  const int longest = c.context + kWarmUp + c.steps + 1;
  EngineConfig config;
  config.block_size = kBlock;
  config.num_blocks = batch * ceil_div(longest, kBlock);
  config.max_num_seqs = batch;
  config.max_num_batched_tokens = std::max(c.context, std::min(batch * c.context, kPrefillTokens));
  config.max_model_len = longest;
  config.prefill_level = kPrefillLevels;
  config.decode_level = kDecodeLevels;
  config.record_layers = 0;
  config.cuda_graphs = graphs;
  return config;
}

/// Prompts that share no beginning.
Request prompt(const EngineCase& c, int sequence, int vocab) {
  Request request;
  for (int i = 0; i < c.context; ++i)
    request.token_ids.push_back(static_cast<std::int32_t>((1 + i * 7LL + sequence * 131LL) % vocab));
  request.sampling.max_tokens = kWarmUp + c.steps + 1;
  request.sampling.ignore_eos = true;
  return request;
}

/// Microseconds of each decode step of the whole batch after the warm-up.
std::vector<double> decode_steps(Device& device, Transformer& model, const EngineCase& c, int batch,
                                 bool graphs) {
  Engine engine(device, &model, config_of(c, batch, graphs));
  engine.record_logits(false);
  for (int s = 0; s < batch; ++s) engine.add_request(prompt(c, s, model.config().vocab_size));
  std::vector<double> times;
  while (engine.has_work()) {
    const auto begin = std::chrono::steady_clock::now();
    const auto record = engine.step();
    const double us =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    if (record->kind == trace::StepKind::decode && record->num_scheduled == batch) times.push_back(us);
  }
  times.erase(times.begin(), times.begin() + std::min<std::ptrdiff_t>(kWarmUp, std::ssize(times)));
  return times;
}

EngineRow measure(Device& device, Transformer& model, const EngineCase& c, int batch, bool graphs) {
  const ModelConfig& m = model.config();
  EngineRow row{.model = c.model, .batch = batch, .context = c.context, .graphs = graphs};
  row.weight_bytes = static_cast<double>(model.forward_weight_bytes());
  row.kv_bytes =
      static_cast<double>(batch) * c.context *
      static_cast<double>(trace::kv_bytes(m.num_hidden_layers, m.num_key_value_heads, m.head_dim, m.dtype));
  try {
    std::vector<double> times = decode_steps(device, model, c, batch, graphs);
    ATTN_CHECK(!times.empty(), "no decode step of {} sequences ran", batch);
    const auto middle = times.begin() + std::ssize(times) / 2;
    std::nth_element(times.begin(), middle, times.end());
    row.step_us = *middle;
  } catch (const DeviceError& error) {
    row.skipped = error.what();
  }
  return row;
}

void bench_model(Device& device, Transformer& model, const EngineCase& c, const EngineSink& sink) {
  for (const int batch : c.batches) {
    for (const bool graphs : {false, true}) sink(measure(device, model, c, batch, graphs));
  }
}

}  // namespace

void bench_engine(Device& device, const BenchOptions& options, const EngineSink& sink) {
  const bool gpu = device.kind() == DeviceKind::cuda;
  if (!options.wants("engine") || options.level != 0) return;
  const int steps = options.quick ? 16 : 48;
  {
    const EngineCase bundled{"shakespeare-1m (bundled, F32)",
                             gpu ? std::vector{1, 16, 64} : std::vector{1, 4}, 256, gpu ? steps : 5};
    Transformer model(device, assets_dir() / "models" / "shakespeare-1m");
    bench_model(device, model, bundled, sink);
  }
  if (!gpu) return;
  const EngineCase qwen{"Qwen3-0.6B's shape, random, BF16", {1, 16, 64}, 1024, steps};
  const ModelConfig config = qwen3_06b_shape(2048);
  try {
    Transformer model(device, config, random_weights(device, config, 1));
    bench_model(device, model, qwen, sink);
  } catch (const DeviceError& error) {
    sink({.model = qwen.model, .batch = 1, .context = qwen.context, .skipped = error.what()});
  }
}

}  // namespace attn::app
