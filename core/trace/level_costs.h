// What a recorded attention takes at every level of the kernels, from the launchers' own records.
#pragma once

#include <utility>
#include <vector>

#include "core/trace/attention_launch.h"
#include "core/trace/compare.h"

namespace attn::trace {

/// The levels that this shape and this device have, ascending. No kernel runs. Of the inputs only the step,
/// the model and what the launch is given as q, k, v or pool matter, not their values.
/// PRECOND: as attention_records.
std::vector<LevelCost> level_costs(Device& device, const AttentionInputs& inputs);

/// What one step's launches would take: the same for each of its layers, and for each window of its rows.
class StepLevelCosts {
 public:
  /// `compute` is called for what is asked for the first time since another step was.
  template <class Compute>
  const std::vector<LevelCost>& of(int index, const Variant& variant, Compute compute) {
    if (index != index_) known_.clear();
    index_ = index;
    for (const auto& [asked, costs] : known_) {
      if (asked == variant) return costs;
    }
    return known_.emplace_back(variant, compute()).second;
  }

 private:
  int index_ = -1;
  std::vector<std::pair<Variant, std::vector<LevelCost>>> known_;
};

}  // namespace attn::trace
