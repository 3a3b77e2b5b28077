// Random engines, random requests, tiny pools: every step is audited, every sequence comes to its end with
// exactly the tokens it would have had alone.
#include <gtest/gtest.h>

#include "engine_support.h"

namespace attn::test {
namespace {

/// What became of a request, from the records alone.
struct Outcome {
  Ints generated;
  bool finished = false;
  std::string rejected;
};

void follow(const trace::StepRecord& record, std::map<int, Outcome>& outcomes) {
  for (const trace::Sampled& sampled : record.sampled) {
    if (!sampled.discarded) outcomes[sampled.seq_id].generated.push_back(sampled.token_id);
  }
  for (const int id : record.finished) outcomes[id].finished = true;
  for (const trace::Rejected& rejected : record.rejected) outcomes[rejected.id].rejected = rejected.reason;
}

int expected_tokens(const EngineConfig& config, const Request& r) {
  const int prompt = static_cast<int>(r.token_ids.size());
  const int slots = config.num_blocks * config.block_size;
  const int limit = config.max_model_len;
  if (prompt == 0 || prompt > slots || (limit > 0 && prompt > limit)) return 0;
  int most = std::min(r.sampling.max_tokens, slots + 1 - prompt);
  if (limit > 0) most = std::min(most, std::max(1, limit - prompt));
  return most;
}

TEST(EngineStress, EveryStepOfRandomEnginesIsSound) {
  int num_steps = 0, num_preempted = 0, num_shared = 0, num_evicted = 0, num_chunks = 0;
  for (std::uint64_t seed = 0; num_steps < 60000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    const EngineConfig config = random_bookkeeping(dice);
    const std::vector<Request> requests = random_requests(dice);
    NoDevice device;
    Engine engine(device, nullptr, config);
    for (const Request& r : requests) engine.add_request(r);
    Auditor auditor(config);
    std::map<int, Outcome> outcomes;
    for (const StepPtr& step : run_to_end(engine, 3000)) {
      auditor.check(*step);
      follow(*step, outcomes);
      ++num_steps;
      num_preempted += static_cast<int>(step->preempted.size());
      num_shared += static_cast<int>(events_of(*step, trace::EventKind::share).size());
      num_evicted += static_cast<int>(events_of(*step, trace::EventKind::evict).size());
      for (const trace::Sampled& sampled : step->sampled) num_chunks += sampled.discarded;
    }
    for (std::size_t id = 0; id < requests.size(); ++id) {
      const Outcome& outcome = outcomes[static_cast<int>(id)];
      EXPECT_NE(outcome.finished, !outcome.rejected.empty()) << "request " << id << " ends exactly one way";
      const int prompt = static_cast<int>(requests[id].token_ids.size());
      ASSERT_EQ(static_cast<int>(outcome.generated.size()), expected_tokens(config, requests[id]))
          << "request " << id;
      for (std::size_t i = 0; i < outcome.generated.size(); ++i) {
        EXPECT_EQ(outcome.generated[i], fake_token(static_cast<int>(id), prompt + static_cast<int>(i)));
      }
    }
    if (testing::Test::HasFailure()) return;
  }
  // The dice do reach the hard corners.
  EXPECT_GT(num_preempted, 1000);
  EXPECT_GT(num_shared, 1000);
  EXPECT_GT(num_evicted, 1000);
  EXPECT_GT(num_chunks, 1000);
}

TEST(EngineStress, ThePolicyOldNeverLeaksOrStalls) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Dice dice(seed);
    EngineConfig config = random_bookkeeping(dice);
    config.policy = HashPolicy::old;
    const auto steps = run(config, random_requests(dice));
    const trace::StepRecord& last = *steps.back();
    EXPECT_EQ(last.free_blocks.size(), static_cast<std::size_t>(config.num_blocks)) << "seed " << seed;
    for (const trace::BlockState& block : last.blocks) EXPECT_EQ(block.ref_count, 0);
  }
}

}  // namespace
}  // namespace attn::test
