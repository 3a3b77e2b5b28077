// Everything broken at once, at random: the engine still ends every request, and the records still say
// exactly what the kernels did.
#include <gtest/gtest.h>

#include <set>

#include "core/engine/switches.h"
#include "core/trace/inspector.h"
#include "core/trace/record_check.h"
#include "core/trace/trace_file.h"
#include "engine_support.h"

namespace attn::test {
namespace {

/// Each break with a chance of one in `odds`.
void break_at_random(Dice& dice, int odds, EngineConfig& config) {
  for (const EngineSwitch& entry : engine_switches()) {
    if (!entry.break_it || dice.roll(1, odds) > 1) continue;
    set_switch(config, entry.name, entry.number ? std::to_string(dice.roll(1, 8)) : entry.values.back());
  }
}

TEST(EngineBreakStress, BrokenBookkeepingNeverLeaksOrStalls) {
  int stale_hits = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    EngineConfig config = random_bookkeeping(dice);
    config.policy = dice.roll(0, 3) == 0 ? HashPolicy::old : HashPolicy::head;
    break_at_random(dice, 2, config);
    config.graph_skip_cache_ops = false;
    const std::vector<Request> requests = random_requests(dice);
    std::set<int> ended;
    const std::vector<StepPtr> steps = run(config, requests);
    for (const StepPtr& step : steps) {
      EXPECT_NO_THROW(trace::check_record(*step, {}));
      for (const int id : step->finished) EXPECT_TRUE(ended.insert(id).second);
      for (const trace::Rejected& rejected : step->rejected) EXPECT_TRUE(ended.insert(rejected.id).second);
      for (const trace::Event& event : events_of(*step, trace::EventKind::prefix_hit)) {
        stale_hits += event.text.find("stale") != std::string::npos ? 1 : 0;
      }
    }
    EXPECT_EQ(ended.size(), requests.size());
    EXPECT_EQ(steps.back()->free_blocks.size(), static_cast<std::size_t>(config.num_blocks));
    for (const trace::BlockState& block : steps.back()->blocks) EXPECT_EQ(block.ref_count, 0);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(stale_hits, 1000);
}

TEST(EngineBreakStress, TheInspectorReproducesWhateverIsBroken) {
  const TinyModel model;
  const auto device = make_simt_device(), other = make_simt_device();
  Transformer transformer(*device, model.dir());
  int poisoned = 0, broken_runs = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    EngineConfig config = pool(dice.roll(1, 5), dice.roll(9, 24));
    config.max_num_batched_tokens = dice.roll(8, 30);
    config.max_model_len = 60;
    config.cuda_graphs = dice.roll(0, 1) == 0;
    config.prefill_path = dice.roll(0, 1) == 0 ? PrefillPath::paged : PrefillPath::gather_flatten;
    config.decode_level = dice.roll(1, kDecodeLevels);
    config.prefill_level = dice.roll(1, kPrefillLevels);
    break_at_random(dice, 3, config);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << testing::PrintToString(broken(config)));
    broken_runs += broken(config).empty() ? 0 : 1;
    Engine engine(*device, &transformer, config);
    for (int i = dice.roll(2, 5); i > 0; --i) {
      const int first = dice.roll(0, 1) * 20;
      engine.add_request(request(range(first, first + dice.roll(4, 16)), dice.roll(1, 6), dice.roll(0, 6)));
    }
    trace::Manifest manifest;
    manifest.config = engine.config();
    manifest.model = engine.model_shape();
    const auto recording = std::make_shared<trace::Recording>(manifest);
    for (const StepPtr& step : run_to_end(engine)) {
      EXPECT_NO_THROW(trace::check_record(*step, manifest.model)) << "step " << step->step;
      poisoned += events_of(*step, trace::EventKind::poison).empty() ? 0 : 1;
      recording->append(step);
    }
    trace::Inspector inspector(*other, recording);
    for (int i = recording->num_steps() - 1; i >= 0; --i) {
      if (recording->step(i)->num_scheduled == 0) continue;  // every request was impossible
      EXPECT_EQ(inspector.inspect(i, dice.roll(0, 1))->max_abs_diff_o, 0.0) << "step " << i + 1;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(broken_runs, 20);
  EXPECT_GT(poisoned, 10);
}

}  // namespace
}  // namespace attn::test
