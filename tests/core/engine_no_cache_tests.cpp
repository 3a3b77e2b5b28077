// With kv_cache off nothing is kept between steps: the same text, every sequence computed whole each time.
#include <gtest/gtest.h>

#include "engine_support.h"
#include "engine_tiny_model.h"

namespace attn::test {
namespace {

using trace::StepKind;

TEST(EnginePaths, WithoutACacheEveryTokenCostsItsWholeSequence) {
  const TinyModel model;
  const std::vector<Request> requests = {request(range(3, 9), 4), request(range(10, 12), 6, 2)};
  EngineConfig off = roomy();
  off.kv_cache = false;
  const auto with = run_model(model, roomy(), requests), without = run_model(model, off, requests);
  EXPECT_EQ(texts(with), texts(without));
  for (const StepPtr& step : without) {
    EXPECT_EQ(step->kind, StepKind::prefill);
    EXPECT_FALSE(step->paged);
    EXPECT_EQ(step->cu_seqlens_q, step->cu_seqlens_k);
    for (int b = 0; b < step->num_scheduled; ++b) {
      EXPECT_EQ(step->seqs[b].num_cached_tokens, 0);
      EXPECT_EQ(step->seqs[b].num_scheduled_tokens, step->seqs[b].num_tokens);
    }
  }
  EXPECT_EQ(without[3]->cu_seqlens_q, (Ints{0, 10, 14})) << "oldest first";
}

TEST(EnginePaths, WithoutACacheATightBudgetStillServesEverybody) {
  const TinyModel model;
  EngineConfig off = roomy();
  off.kv_cache = false;
  off.max_num_batched_tokens = 5;
  off.num_blocks = 4;
  const std::vector<Request> requests = {request(range(3, 9), 3), request(range(10, 14), 3)};
  EXPECT_EQ(texts(run_model(model, off, requests)), texts(run_model(model, roomy(), requests)));
}

}  // namespace
}  // namespace attn::test
