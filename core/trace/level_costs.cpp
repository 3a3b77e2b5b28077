#include "core/trace/level_costs.h"

#include "core/engine/config.h"

namespace attn::trace {
namespace {

LevelCost cost_of(const std::vector<LaunchEntry>& launches, int level) {
  LevelCost cost{.level = level, .kernel = {}};
  for (const LaunchEntry& entry : launches) {
    cost.bytes += entry.launch.bytes;
    cost.flop += entry.launch.flop;
    ++cost.launches;
    if (cost.kernel.empty() && entry.stage == Stage::attention) cost.kernel = entry.launch.kernel;
  }
  return cost;
}

}  // namespace

std::vector<LevelCost> level_costs(Device& device, const AttentionInputs& inputs) {
  std::vector<LevelCost> costs;
  StepRecord step = *inputs.step;
  AttentionInputs launched = inputs;
  launched.step = &step;
  const bool decode = is_decode(step.path);
  const auto exps = static_cast<std::uint64_t>(visible_pairs(step)) * inputs.model->num_heads;
  for (int level = 1; level <= (decode ? kDecodeLevels : kPrefillLevels); ++level) {
    (decode ? step.config.decode_level : step.config.prefill_level) = level;
    if (launched_level(step, *inputs.model, device.traits()) != level) continue;
    costs.push_back(cost_of(attention_records(device, launched), level));
    costs.back().exps = exps;
  }
  return costs;
}

}  // namespace attn::trace
