// A model without a file: the engine runs on it, and what it weighs is what its parameters take.
#include <gtest/gtest.h>

#include <cmath>

#include "core/engine/engine.h"
#include "core/model/random_weights.h"
#include "core/model/transformer.h"

namespace attn {
namespace {

/// Qwen3-0.6B's kind of model, small.
ModelConfig small_config() {
  ModelConfig config = qwen3_06b_shape(64);
  config.vocab_size = 300;
  config.hidden_size = 64;
  config.intermediate_size = 96;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 16;
  config.dtype = DType::f32;
  return config;
}

std::vector<std::int32_t> tokens(Device& device, Transformer& model, bool logits) {
  EngineConfig config;
  config.record_layers = 0;
  Engine engine(device, &model, config);
  engine.record_logits(logits);
  engine.add_request({.at_step = 0,
                      .label = "A",
                      .token_ids = {5, 9, 200},
                      .sampling = {.max_tokens = 6, .ignore_eos = true}});
  std::vector<std::int32_t> ids;
  while (engine.has_work()) {
    const auto step = engine.step();
    for (const trace::Sampled& sampled : step->sampled) {
      ids.push_back(sampled.token_id);
      EXPECT_EQ(sampled.top_logits.empty(), !logits);
      for (const auto& [id, logit] : sampled.top_logits) EXPECT_TRUE(std::isfinite(logit));
    }
  }
  return ids;
}

TEST(RandomWeights, AnEngineRunsOnThem) {
  const auto device = make_simt_device();
  const ModelConfig config = small_config();
  Transformer model(*device, config, random_weights(*device, config, 1));
  Transformer same(*device, config, random_weights(*device, config, 1));
  const std::vector<std::int32_t> ids = tokens(*device, model, true);
  EXPECT_EQ(ids.size(), 6U);
  EXPECT_EQ(tokens(*device, same, true), ids);
  EXPECT_EQ(tokens(*device, model, false), ids) << "without logits on the host the tokens are the same";
}

TEST(RandomWeights, DifferFromRowToRowAndHaveTheirDeviation) {
  const auto device = make_simt_device();
  ModelConfig config = small_config();
  config.vocab_size = 40'000;  // more than the pattern holds
  const Weights weights = random_weights(*device, config, 1);
  const auto table = weights.embed_tokens.download<float>();
  double sum = 0.0, squares = 0.0;
  for (const float x : table) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  const auto count = static_cast<double>(table.size());
  EXPECT_NEAR(sum / count, 0.0, 1e-4);
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 1e-4);
  const std::size_t width = 64, repeat = std::size_t{1} << 20U;
  EXPECT_FALSE(std::equal(table.begin(), table.begin() + width, table.begin() + repeat))
      << "rows that many apart must not be the same";
}

TEST(RandomWeights, WeighWhatAForwardReads) {
  const auto device = make_simt_device();
  ModelConfig config = small_config();
  const std::size_t layer = 64 * (2 * 64 + 2 * 32 + 3 * 96) + 2 * 64 + 2 * 16;
  const std::size_t rest = 300 * 64 + 64;
  Transformer tied(*device, config, random_weights(*device, config, 1));
  EXPECT_EQ(tied.forward_weight_bytes(), sizeof(float) * (2 * layer + rest));
  config.tie_word_embeddings = false;
  Transformer untied(*device, config, random_weights(*device, config, 1));
  EXPECT_EQ(untied.forward_weight_bytes(), tied.forward_weight_bytes()) << "the LM head instead";
}

TEST(RandomWeights, TheShapeOfQwen3Takes600MillionParameters) {
  const ModelConfig c = qwen3_06b_shape(2048);
  const double kv = 2.0 * c.num_hidden_layers * c.num_key_value_heads * c.head_dim * 2;
  EXPECT_EQ(kv, 114'688.0) << "bytes of a token in the cache";
}

}  // namespace
}  // namespace attn
