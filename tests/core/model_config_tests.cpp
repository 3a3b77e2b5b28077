// config.json: what is read, what is refused, and the RoPE frequencies that follow from it.
#include <cmath>

#include "core/model/model_config.h"
#include "tests/core/model_support.h"

namespace attn::test {

namespace {

using nlohmann::json;

ModelConfig load_config(const json& config) {
  const ScratchDir dir;
  dir.write("config.json", config.dump());
  return load_model_config(dir.path());
}

/// The message for a small config with one key changed.
std::string error_with(const char* key, const json& value) {
  json config = small_config();
  config[key] = value;
  return input_error([&] { load_config(config); });
}

}  // namespace

TEST(ModelConfig, ReadsLlama) {
  json config = small_config();
  config["head_dim"] = 16;
  config["eos_token_id"] = {3, 5};
  config["torch_dtype"] = "bfloat16";
  const ModelConfig c = load_config(config);
  EXPECT_EQ(c.architecture, "LlamaForCausalLM");
  EXPECT_EQ(c.vocab_size, 53);
  EXPECT_EQ(c.hidden_size, 48);
  EXPECT_EQ(c.intermediate_size, 72);
  EXPECT_EQ(c.num_hidden_layers, 2);
  EXPECT_EQ(c.num_attention_heads, 6);
  EXPECT_EQ(c.num_key_value_heads, 2);
  EXPECT_EQ(c.head_dim, 16);
  EXPECT_EQ(c.max_position_embeddings, 256);
  EXPECT_DOUBLE_EQ(c.rms_norm_eps, 1e-5);
  EXPECT_DOUBLE_EQ(c.rope_theta, 10000.0);
  EXPECT_FALSE(c.rope_scaling);
  EXPECT_TRUE(c.tie_word_embeddings);
  EXPECT_FALSE(c.attention_bias);
  EXPECT_FALSE(c.qk_norm);
  EXPECT_EQ(c.dtype, DType::bf16);
  EXPECT_EQ(c.eos_token_ids, (std::vector<std::int32_t>{3, 5}));
  EXPECT_EQ(c.bos_token_id, 0);
}

TEST(ModelConfig, DefaultsOfWhatMayBeLeftOut) {
  json config = small_config();
  for (const char* key :
       {"num_key_value_heads", "torch_dtype", "eos_token_id", "bos_token_id", "tie_word_embeddings"})
    config.erase(key);
  config["head_dim"] = nullptr;
  config["rope_scaling"] = nullptr;
  const ModelConfig c = load_config(config);
  EXPECT_EQ(c.num_key_value_heads, 6);
  EXPECT_EQ(c.head_dim, 8);
  EXPECT_EQ(c.dtype, DType::f32);
  EXPECT_TRUE(c.eos_token_ids.empty());
  EXPECT_EQ(c.bos_token_id, -1);
  EXPECT_FALSE(c.tie_word_embeddings);
}

TEST(ModelConfig, QwenDiffersInBiasAndNorm) {
  json config = small_config();
  config["architectures"] = {"Qwen2ForCausalLM"};
  const ModelConfig qwen2 = load_config(config);
  EXPECT_TRUE(qwen2.attention_bias);
  EXPECT_FALSE(qwen2.attention_out_bias);
  EXPECT_FALSE(qwen2.qk_norm);
  config["architectures"] = {"Qwen3ForCausalLM"};
  const ModelConfig qwen3 = load_config(config);
  EXPECT_FALSE(qwen3.attention_bias);
  EXPECT_TRUE(qwen3.qk_norm);
  config["architectures"] = {"LlamaForCausalLM"};
  config["attention_bias"] = true;
  EXPECT_TRUE(load_config(config).attention_out_bias);
}

TEST(ModelConfig, ModelTypeStandsInForArchitectures) {
  json config = small_config();
  config.erase("architectures");
  config["model_type"] = "qwen3";
  EXPECT_EQ(load_config(config).architecture, "Qwen3ForCausalLM");
}

TEST(ModelConfig, RopeOfTransformersFourAndFive) {
  const json llama3 = {{"rope_type", "llama3"},
                       {"factor", 8.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 8192}};
  json config = small_config();
  config["rope_theta"] = 500000.0;
  config["rope_scaling"] = llama3;
  const ModelConfig four = load_config(config);
  config.erase("rope_scaling");
  config.erase("rope_theta");
  config["rope_parameters"] = llama3;
  config["rope_parameters"]["rope_theta"] = 500000.0;
  const ModelConfig five = load_config(config);
  for (const ModelConfig& c : {four, five}) {
    EXPECT_DOUBLE_EQ(c.rope_theta, 500000.0);
    ASSERT_TRUE(c.rope_scaling);
    EXPECT_DOUBLE_EQ(c.rope_scaling->factor, 8.0);
    EXPECT_EQ(c.rope_scaling->original_max_position_embeddings, 8192);
  }
  config["rope_parameters"] = {{"type", "default"}, {"rope_theta", 1e6}};
  EXPECT_FALSE(load_config(config).rope_scaling);
  EXPECT_DOUBLE_EQ(load_config(config).rope_theta, 1e6);
}

TEST(ModelConfig, RefusesWhatItCannotCompute) {
  expect_mentions(error_with("architectures", {"MambaForCausalLM"}),
                  {"config.json", "MambaForCausalLM", "LlamaForCausalLM"});
  expect_mentions(error_with("num_key_value_heads", 4), {"config.json", "6", "4", "multiple"});
  expect_mentions(error_with("head_dim", 12), {"head_dim 12", "multiple of 8"});
  expect_mentions(error_with("head_dim", 264), {"head_dim 264", "256"});
  expect_mentions(error_with("hidden_size", 50), {"hidden_size 50"});
  expect_mentions(error_with("vocab_size", 0), {"vocab_size", "0"});
  expect_mentions(error_with("vocab_size", -5), {"vocab_size", "-5"});
  expect_mentions(error_with("vocab_size", "many"), {"vocab_size", "many"});
  expect_mentions(error_with("vocab_size", 18446744073709551615ULL), {"vocab_size"});
  expect_mentions(error_with("num_hidden_layers", 2.5), {"num_hidden_layers", "2.5"});
  expect_mentions(error_with("rms_norm_eps", 0.0), {"rms_norm_eps", "positive"});
  expect_mentions(error_with("rope_theta", -1), {"rope_theta", "positive"});
  expect_mentions(error_with("rope_scaling", {{"type", "yarn"}, {"factor", 4.0}}),
                  {"rope_scaling", "yarn", "llama3"});
  expect_mentions(error_with("rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}),
                  {"rope_scaling", "low_freq_factor", "missing"});
  expect_mentions(error_with("rope_scaling", 7), {"rope_scaling", "object"});
  expect_mentions(error_with("hidden_act", "gelu"), {"hidden_act", "gelu"});
  expect_mentions(error_with("torch_dtype", "float8_e4m3fn"), {"torch_dtype", "float8"});
  expect_mentions(error_with("quantization_config", {{"bits", 4}}), {"quantized"});
  expect_mentions(error_with("use_sliding_window", true), {"sliding"});
  expect_mentions(error_with("layer_types", {"full_attention", "sliding_attention"}), {"layer_types"});
  expect_mentions(error_with("partial_rotary_factor", 0.5), {"partial_rotary_factor"});
  expect_mentions(error_with("mlp_bias", true), {"mlp_bias"});
  expect_mentions(error_with("eos_token_id", 53), {"eos_token_id", "52"});
  expect_mentions(error_with("eos_token_id", {1, "x"}), {"eos_token_id"});
  expect_mentions(error_with("tie_word_embeddings", "yes"), {"tie_word_embeddings", "true or false"});
}

TEST(ModelConfig, NamesTheMissingKeyAndTheMissingFile) {
  for (const char* key : {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
                          "num_attention_heads", "max_position_embeddings", "rms_norm_eps"}) {
    json config = small_config();
    config.erase(key);
    expect_mentions(input_error([&] { load_config(config); }), {"config.json", key, "missing"});
  }
  const ScratchDir dir;
  expect_mentions(input_error([&] { load_model_config(dir.path()); }), {"config.json", "cannot read"});
  dir.write("config.json", small_config().dump().substr(0, 40));
  expect_mentions(input_error([&] { load_model_config(dir.path()); }), {"config.json", "not valid JSON"});
  dir.write("config.json", "[1, 2]");
  expect_mentions(input_error([&] { load_model_config(dir.path()); }), {"config.json", "not a JSON object"});
}

// Reference values: transformers' modeling_rope_utils formulas evaluated with numpy float32.
TEST(RopeInvFreq, PlainIsAPowerOfTheta) {
  ModelConfig config;
  config.head_dim = 8;
  const std::vector<float> inv_freq = rope_inv_freq(config);
  ASSERT_EQ(inv_freq.size(), 4U);
  const double expected[] = {1.0, 0.1, 0.01, 0.001};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(inv_freq[i], expected[i], 1e-7 * expected[i]);
}

TEST(RopeInvFreq, Llama3KeepsFastTurnsAndStretchesSlowOnes) {
  ModelConfig config;
  config.head_dim = 128;
  config.rope_theta = 500000.0;
  const std::vector<float> plain = rope_inv_freq(config);
  config.rope_scaling = Llama3RopeScaling{8.0, 1.0, 4.0, 8192};
  const std::vector<float> scaled = rope_inv_freq(config);
  ASSERT_EQ(scaled.size(), 64U);
  EXPECT_EQ(scaled[0], plain[0]);
  EXPECT_EQ(scaled[20], plain[20]);
  EXPECT_NEAR(scaled[63], plain[63] / 8, 1e-6 * plain[63]);
  // Between: wavelengths 2048 .. 8192, that is indices 29 .. 34.
  const double expected[] = {3.211446106e-03, 2.166570452e-03, 1.371893664e-03, 8.567514639e-04,
                             5.248460552e-04, 3.126936855e-04, 1.785078024e-04, 9.556212899e-05};
  for (int i = 28; i < 36; ++i) {
    EXPECT_NEAR(scaled[i], expected[i - 28], 2e-7 * expected[i - 28] + 1e-10) << i;
  }
}

}  // namespace attn::test
