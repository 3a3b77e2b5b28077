// The Transformer against the whole model in float64: architectures, dtypes, chunks, shards, and directories
// whose files do not belong together.
#include <algorithm>
#include <numeric>
#include <random>

#include "core/model/transformer.h"
#include "tests/core/model_support.h"
#include "tests/core/transformer_reference.h"

namespace attn::test {

namespace {

using nlohmann::json;

std::vector<std::int32_t> random_ids(int count, int vocab, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> ids(count);
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random() % vocab);
  return ids;
}

std::vector<int> all_rows(int count) {
  std::vector<int> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

double bound(DType dtype) { return dtype == DType::f32 ? 3e-6 : dtype == DType::f16 ? 5e-3 : 4e-2; }

/// Writes the model, runs it in the given steps and compares every logit.
void expect_matches_reference(Device& device, const json& config, const std::vector<int>& steps,
                              std::uint64_t seed) {
  const ScratchDir dir;
  const ModelWeights weights = write_model(dir, config, seed);
  Transformer model(device, dir.path());
  const int tokens = std::accumulate(steps.begin(), steps.end(), 0), vocab = model.config().vocab_size;
  const std::vector<std::int32_t> ids = random_ids(tokens, vocab, seed);
  const std::vector<float> got = transformer_logits(device, model, ids, steps, all_rows(tokens));
  const std::vector<double> expected = reference_logits(model.config(), weights, ids);
  EXPECT_LE(relative_error(got, expected, all_rows(tokens), vocab), bound(model.config().dtype))
      << config.dump();
}

/// Configs that between them take every branch of the model.
std::vector<json> variants() {
  std::vector<json> list(7, small_config());
  list[1]["tie_word_embeddings"] = false;
  list[1]["num_key_value_heads"] = 6;
  list[2]["attention_bias"] = true;
  list[2]["head_dim"] = 24;  // heads * head_dim is not hidden_size
  list[3]["architectures"] = {"Qwen2ForCausalLM"};
  list[4]["architectures"] = {"Qwen3ForCausalLM"};
  list[4]["head_dim"] = 16;
  list[4]["tie_word_embeddings"] = false;
  list[5]["rope_theta"] = 500.0;
  list[5]["rope_scaling"] = {{"rope_type", "llama3"},
                             {"factor", 4.0},
                             {"low_freq_factor", 1.0},
                             {"high_freq_factor", 4.0},
                             {"original_max_position_embeddings", 64}};
  list[6]["num_key_value_heads"] = 1;
  list[6]["rms_norm_eps"] = 0.1;
  return list;
}

void run_variants(Device& device) {
  std::uint64_t seed = 1;
  for (const json& variant : variants()) {
    for (const char* dtype : {"float32", "float16", "bfloat16"}) {
      json config = variant;
      config["torch_dtype"] = dtype;
      expect_matches_reference(device, config, {13, 1, 1, 5}, seed++);
    }
  }
}

/// The message when a directory with a small model is changed and then loaded.
template <class Change>
std::string error_after(const Change& change, json config = small_config()) {
  const ScratchDir dir;
  ModelWeights weights = random_weights(config, 1);
  change(config, weights);
  dir.write("config.json", config.dump());
  write_weights(dir.path() / "model.safetensors", weights, DType::f32);
  const auto device = make_simt_device();
  return input_error([&] { Transformer(*device, dir.path()); });
}

}  // namespace

TEST(Transformer, MatchesFloat64InEveryArchitectureAndDType) { run_variants(*make_simt_device()); }

TEST(GpuTransformer, MatchesFloat64InEveryArchitectureAndDType) {
  std::unique_ptr<Device> device;
  try {
    device = make_cuda_device();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  run_variants(*device);
}

TEST(Transformer, ThreadOrdersGiveTheSameBits) {
  const ScratchDir dir;
  write_model(dir, small_config(), 3);
  const std::vector<std::int32_t> ids = random_ids(9, 53, 3);
  std::vector<std::vector<float>> results;
  for (const SimtOptions& options : {SimtOptions{}, SimtOptions{.order = SimtOrder::reverse},
                                     SimtOptions{.order = SimtOrder::shuffled, .seed = 5}}) {
    const auto device = make_simt_device(options);
    Transformer model(*device, dir.path());
    results.push_back(transformer_logits(*device, model, ids, {6, 3}, all_rows(9)));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Transformer, EveryLaunchIsLogged) {
  const ScratchDir dir;
  json config = small_config();
  config["architectures"] = {"Qwen3ForCausalLM"};
  write_model(dir, config, 1);
  const auto device = make_simt_device();
  Transformer model(*device, dir.path());
  std::vector<LaunchRecord> log;
  device->context().log = &log;
  const auto kernels = [&] {
    std::vector<std::string> names;
    for (const LaunchRecord& record : log) names.push_back(record.kernel);
    log.clear();
    return names;
  };
  using Names = std::vector<std::string>;
  model.begin({1, 2, 3}, {0, 1, 2});
  EXPECT_EQ(kernels(), (Names{"embed"}));
  const QkvView view = model.qkv(0);
  EXPECT_EQ(kernels(),
            (Names{"rms_norm", "matmul", "matmul", "matmul", "rms_norm", "rope", "rms_norm", "rope"}));
  model.finish_layer(0, view.q);
  EXPECT_EQ(kernels(), (Names{"matmul", "add", "rms_norm", "matmul", "silu_mul", "matmul", "add"}));
  model.logits({2});
  EXPECT_EQ(kernels(), (Names{"take_rows", "rms_norm", "matmul"}));
}

TEST(Transformer, ShardedFilesAndOtherDTypesLoadTheSameModel) {
  const ScratchDir whole, sharded;
  const ModelWeights weights = write_model(whole, small_config(), 4);
  sharded.write("config.json", small_config().dump());
  ModelWeights parts[2];
  json map = json::object();
  std::size_t i = 0;
  for (const auto& [name, entry] : weights.entries) {
    map[name] = i % 2 == 0 ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
    parts[i++ % 2].entries[name] = entry;
  }
  write_weights(sharded.path() / "model-00001-of-00002.safetensors", parts[0], DType::f32);
  write_weights(sharded.path() / "model-00002-of-00002.safetensors", parts[1], DType::f32);
  sharded.write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
  const auto device = make_simt_device();
  Transformer first(*device, whole.path()), second(*device, sharded.path());
  const std::vector<std::int32_t> ids = random_ids(5, 53, 4);
  EXPECT_EQ(transformer_logits(*device, first, ids, {5}, {4}),
            transformer_logits(*device, second, ids, {5}, {4}));

  // bfloat16 in the file, float32 in config.json: widened exactly.
  const ScratchDir narrow;
  narrow.write("config.json", small_config().dump());
  json bf16 = small_config();
  bf16["torch_dtype"] = "bfloat16";
  const ModelWeights rounded = random_weights(bf16, 4);
  write_weights(narrow.path() / "model.safetensors", rounded, DType::bf16);
  Transformer third(*device, narrow.path());
  const std::vector<float> got = transformer_logits(*device, third, ids, {5}, {4});
  EXPECT_LE(relative_error(got, reference_logits(third.config(), rounded, ids), {4}, 53), bound(DType::f32));
}

TEST(Transformer, AcceptsWhatRealDirectoriesCarryAlong) {
  const ScratchDir dir;
  ModelWeights weights = random_weights(small_config(), 2);
  weights.entries["lm_head.weight"] = {{53, 48},
                                       std::vector<float>(53 * 48, 9.0F)};  // beside tied embeddings: unused
  weights.entries["model.layers.0.self_attn.rotary_emb.inv_freq"] = {{4}, {1, 2, 3, 4}};
  dir.write("config.json", small_config().dump());
  write_weights(dir.path() / "model.safetensors", weights, DType::f32);
  const auto device = make_simt_device();
  Transformer model(*device, dir.path());
  const std::vector<std::int32_t> ids = {7, 8};
  EXPECT_LE(relative_error(transformer_logits(*device, model, ids, {2}, {1}),
                           reference_logits(model.config(), weights, ids), {1}, 53),
            bound(DType::f32));
}

TEST(Transformer, FilesThatDoNotBelongTogetherAreNamed) {
  const char* name = "model.layers.1.mlp.down_proj.weight";
  expect_mentions(error_after([&](json&, ModelWeights& w) { w.entries.erase(name); }), {name, "no tensor"});
  expect_mentions(error_after([&](json&, ModelWeights& w) {
                    w.entries[name].shape = {72, 48};
                  }),
                  {"model.safetensors", name, "[72, 48]", "[48, 72]"});
  expect_mentions(error_after([&](json&, ModelWeights& w) {
                    w.entries["model.extra"] = {{1}, {0.0F}};
                  }),
                  {"model.safetensors", "model.extra"});
  expect_mentions(error_after([&](json& c, ModelWeights&) { c["num_hidden_layers"] = 1; }),
                  {"model.layers.1.", "config.json"});
  expect_mentions(error_after([&](json& c, ModelWeights&) { c["num_hidden_layers"] = 3; }),
                  {"model.layers.2.", "no tensor"});
  expect_mentions(error_after([&](json& c, ModelWeights&) { c["tie_word_embeddings"] = false; }),
                  {"lm_head.weight"});
  expect_mentions(error_after([&](json& c, ModelWeights&) { c["architectures"] = {"Qwen2ForCausalLM"}; }),
                  {"q_proj.bias"});
  expect_mentions(error_after([&](json& c, ModelWeights&) { c["vocab_size"] = 54; }),
                  {"embed_tokens", "[53, 48]", "[54, 48]"});
}

TEST(Transformer, IntegerWeightsAreRefused) {
  const ScratchDir dir;
  dir.write("config.json", small_config().dump());
  const std::vector<std::byte> zeros(53 * 48 * 4);
  write_safetensors(dir.path() / "model.safetensors",
                    {{"model.embed_tokens.weight", {TensorDType::i32, {53, 48}, zeros}}});
  const auto device = make_simt_device();
  expect_mentions(input_error([&] { Transformer(*device, dir.path()); }),
                  {"model.embed_tokens.weight", "I32", "BF16"});
}

TEST(Transformer, ATokenBeyondTheVocabularyIsBadInput) {
  const ScratchDir dir;
  write_model(dir, small_config(), 1);
  const auto device = make_simt_device();
  Transformer model(*device, dir.path());
  expect_mentions(input_error([&] { model.begin({1, 53}, {0, 1}); }), {"53", "0 to 52"});
  expect_mentions(input_error([&] { model.begin({-1}, {0}); }), {"-1"});
  EXPECT_THROW(model.begin({1, 2}, {0}), std::logic_error);
  EXPECT_THROW(model.begin({}, {}), std::logic_error);
  EXPECT_THROW(model.begin({1}, {-1}), std::logic_error);
  model.begin({1, 2}, {0, 1});
  EXPECT_THROW(model.qkv(2), std::logic_error);
  EXPECT_THROW(model.qkv(-1), std::logic_error);
  EXPECT_THROW(model.logits({2}), std::logic_error);
}

}  // namespace attn::test
