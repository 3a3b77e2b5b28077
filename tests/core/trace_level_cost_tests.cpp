// What each level would take, held against what runs at that level recorded.
#include <gtest/gtest.h>

#include "core/trace/inspector.h"
#include "core/trace/launch_shape.h"
#include "core/trace/level_costs.h"
#include "tests/core/trace_runs.h"

namespace attn::trace::test {
namespace {

/// Bytes, FLOP and launches of the attention of layer 0, gather and the like included, as the engine logged
/// them.
LevelCost recorded(const StepRecord& step) {
  LevelCost sum;
  for (const LaunchEntry& entry : step.launches) {
    if (entry.layer != 0 || entry.stage < Stage::gather || entry.stage > Stage::attention) continue;
    sum.bytes += entry.launch.bytes;
    sum.flop += entry.launch.flop;
    ++sum.launches;
    if (sum.kernel.empty() && entry.stage == Stage::attention) sum.kernel = entry.launch.kernel;
  }
  return sum;
}

/// A run at each level; what the inspector says of all levels in each is what the others recorded.
void expect_levels(const attn::test::TinyShape& shape, const std::vector<int>& levels, DecodePath path) {
  const auto device = make_simt_device();
  std::vector<std::shared_ptr<Recording>> runs;
  for (const int level : levels) {
    EngineConfig config = tight_config();
    config.prefill_level = config.decode_level = level;
    config.decode_path = path;
    config.block_size = 16;
    runs.push_back(tight_run(*device, config, {}, shape));
  }
  Inspector inspector(*device, runs.front());
  for (int i = 0; i < runs.front()->num_steps(); ++i) {
    const auto view = inspector.inspect(i, 0);
    ASSERT_EQ(view->levels.size(), levels.size()) << "step " << i;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const LevelCost& cost = view->levels[l];
      const LevelCost run = recorded(*runs[l]->step(i));
      EXPECT_EQ(cost.level, levels[l]);
      EXPECT_EQ(cost.bytes, run.bytes) << "step " << i << ", level " << levels[l];
      EXPECT_EQ(cost.flop, run.flop) << "step " << i << ", level " << levels[l];
      EXPECT_EQ(cost.launches, run.launches) << "step " << i << ", level " << levels[l];
      EXPECT_EQ(cost.kernel, run.kernel);
      const auto pairs = static_cast<std::uint64_t>(visible_pairs(*runs[l]->step(i)));
      EXPECT_EQ(cost.exps, pairs * 4) << "4 query heads";
    }
    EXPECT_GT(view->levels[0].bytes, view->levels[1].bytes) << "level 1 moves its scores";
  }
}

TEST(LevelCosts, OfAFloatModelAreThoseOfRunsAtLevels1And2) { expect_levels({}, {1, 2}, DecodePath::paged); }

TEST(LevelCosts, OfA16BitModelReachLevel3) {
  expect_levels({.head_dim = 64, .dtype = "bfloat16"}, {1, 2, 3}, DecodePath::paged);
}

TEST(LevelCosts, OfAGatheredDecodeCountTheGather) { expect_levels({}, {1, 2}, DecodePath::gather_padded); }

TEST(LevelCosts, AreCountedOnceForAllLayersOfAStep) {
  StepLevelCosts costs;
  int counted = 0;
  const auto count = [&] {
    ++counted;
    return std::vector<LevelCost>{{.level = counted, .kernel = {}}};
  };
  const Variant other{.level = 1};
  EXPECT_EQ(costs.of(3, {}, count).front().level, 1);
  EXPECT_EQ(costs.of(3, {}, count).front().level, 1);
  EXPECT_EQ(costs.of(3, other, count).front().level, 2);
  EXPECT_EQ(costs.of(3, {}, count).front().level, 1);
  EXPECT_EQ(counted, 2);
  EXPECT_EQ(costs.of(4, {}, count).front().level, 3) << "another step has other costs";
}

TEST(InspectedKernel, IsNamedWhereAnotherGaveTheOutput) {
  const auto device = make_simt_device();
  EngineConfig config = tight_config();
  config.prefill_level = config.decode_level = 3;
  config.block_size = 16;
  const auto run = tight_run(*device, config, {}, {.head_dim = 64, .dtype = "bfloat16"});
  Inspector inspector(*device, run);
  const auto view = inspector.inspect(0, 0);
  EXPECT_NE(view->kernel.find("_l2_"), std::string::npos) << view->kernel;
  EXPECT_NE(view->checked_kernel().find("_l3_"), std::string::npos) << view->checked_kernel();
  EXPECT_EQ(view->max_abs_diff_o, 0.0) << "the level's own output is the recorded one";
}

}  // namespace
}  // namespace attn::trace::test
