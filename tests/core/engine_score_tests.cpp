// Scores that are set: every key has that score on the real path, a zero pad has 0, and what pads take is
// what the law says.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/engine/switches.h"
#include "core/trace/tensor_values.h"
#include "engine_support.h"
#include "engine_tiny_model.h"
#include "kernels/common/check.h"

namespace attn::test {
namespace {

class SetScores : public ::testing::TestWithParam<std::pair<Scores, double>> {
 protected:
  /// The first decode of prompts of 2 and 8 tokens: A has 3 keys, B has 9.
  StepPtr decode(DecodePath path) const {
    EngineConfig config = roomy();
    config.scores = GetParam().first;
    config.decode_path = path;
    const TinyModel model;
    return run_model(model, config, {request({1, 2}, 2), request(range(1, 8), 2)}).at(1);
  }
};

TEST_P(SetScores, TheSumOverTheKeysIsWhatTheScoreSays) {
  const double score = GetParam().second, a = 3.0 * std::exp(score), b = 9.0 * std::exp(score);
  const auto padded = decode(DecodePath::gather_padded), paged = decode(DecodePath::paged);
  ASSERT_EQ(padded->layers.size(), 2U);
  for (std::size_t layer = 0; layer < padded->layers.size(); ++layer) {
    const auto with_pads = trace::to_floats(padded->layers[layer].lse);
    const auto without = trace::to_floats(paged->layers[layer].lse);
    ASSERT_EQ(with_pads.size(), 8U);  // [heads, rows]
    for (std::size_t head = 0; head < 4; ++head) {
      EXPECT_NEAR(std::exp(with_pads[2 * head]), a + 6.0, 1e-4) << "six zero pads of score 0";
      EXPECT_NEAR(std::exp(with_pads[2 * head + 1]), b, 1e-4) << "the longest has none";
      EXPECT_NEAR(std::exp(without[2 * head]), a, 1e-4);
      EXPECT_NEAR(std::exp(without[2 * head + 1]), b, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, SetScores,
                         ::testing::Values(std::pair{Scores::zero, 0.0}, std::pair{Scores::two, 2.0},
                                           std::pair{Scores::minus_two, -2.0}));

TEST(SetScoresOfAGraph, AreRefused) {
  EngineConfig config;
  set_switch(config, "scores", "2");
  EXPECT_THROW(set_switch(config, "cuda_graphs", "true"), InputError);
  EXPECT_FALSE(config.cuda_graphs);
}

}  // namespace
}  // namespace attn::test
