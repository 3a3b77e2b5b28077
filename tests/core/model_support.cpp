#include "tests/core/model_support.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "core/model/byte_level.h"
#include "core/model/convert.h"

namespace attn::test {

using nlohmann::json;

ScratchDir::ScratchDir() {
  static std::atomic<int> count = 0;
  // Thousands of small files: in memory where the system has such a place.
  const std::filesystem::path memory = "/dev/shm";
  std::error_code error;
  const bool usable = std::filesystem::is_directory(memory, error) && ::access(memory.c_str(), W_OK) == 0;
  path_ = (usable ? memory : std::filesystem::temp_directory_path()) /
          fmt::format("attnscope-model-{}-{}", ::getpid(), count++);
  std::filesystem::create_directories(path_);
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void ScratchDir::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string ScratchDir::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
  return text.str();
}

json small_config() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"vocab_size", 53},
          {"hidden_size", 48},
          {"intermediate_size", 72},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 6},
          {"num_key_value_heads", 2},
          {"max_position_embeddings", 256},
          {"rms_norm_eps", 1e-5},
          {"tie_word_embeddings", true},
          {"torch_dtype", "float32"},
          {"eos_token_id", 0},
          {"bos_token_id", 0}};
}

namespace {

DType dtype_of(const json& config) {
  const std::string name = config.at("torch_dtype");
  return name == "float16" ? DType::f16 : name == "bfloat16" ? DType::bf16 : DType::f32;
}

class WeightMaker {
 public:
  WeightMaker(DType dtype, std::uint64_t seed) : dtype_(dtype), random_(seed) {}

  /// Normal around `mean`; `spread` chosen so that activations stay of order one.
  void add(const std::string& name, std::vector<std::int64_t> shape, double mean, double spread) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    std::vector<float> values(static_cast<std::size_t>(count));
    std::normal_distribution<double> normal(mean, spread);
    for (float& value : values) value = static_cast<float>(normal(random_));
    values = to_floats(from_floats(values, dtype_), dtype_);
    weights_.entries[name] = {std::move(shape), std::move(values)};
  }
  void projection(const std::string& name, int out, int in) {
    add(name + ".weight", {out, in}, 0.0, 1.5 / std::sqrt(static_cast<double>(in)));
  }
  void bias(const std::string& name, int out) { add(name + ".bias", {out}, 0.0, 0.5); }
  void norm(const std::string& name, int width) { add(name + ".weight", {width}, 1.0, 0.2); }
  ModelWeights take() { return std::move(weights_); }

 private:
  DType dtype_;
  std::mt19937_64 random_;
  ModelWeights weights_;
};

void add_layer(WeightMaker& make, const json& config, const std::string& layer) {
  const int hidden = config.at("hidden_size"), intermediate = config.at("intermediate_size");
  const int heads = config.at("num_attention_heads"), kv_heads = config.value("num_key_value_heads", heads);
  const int dim = config.value("head_dim", hidden / heads);
  const std::string architecture = config.at("architectures")[0];
  const bool qwen2 = architecture == "Qwen2ForCausalLM";
  const bool bias = qwen2 || config.value("attention_bias", false);
  const std::string attention = layer + "self_attn.";
  make.norm(layer + "input_layernorm", hidden);
  make.norm(layer + "post_attention_layernorm", hidden);
  for (const char* name : {"q_proj", "k_proj", "v_proj"}) {
    const int width = (name[0] == 'q' ? heads : kv_heads) * dim;
    make.projection(attention + name, width, hidden);
    if (bias) make.bias(attention + name, width);
  }
  make.projection(attention + "o_proj", hidden, heads * dim);
  if (bias && !qwen2) make.bias(attention + "o_proj", hidden);
  if (architecture == "Qwen3ForCausalLM") {
    make.norm(attention + "q_norm", dim);
    make.norm(attention + "k_norm", dim);
  }
  make.projection(layer + "mlp.gate_proj", intermediate, hidden);
  make.projection(layer + "mlp.up_proj", intermediate, hidden);
  make.projection(layer + "mlp.down_proj", hidden, intermediate);
}

}  // namespace

ModelWeights random_weights(const json& config, std::uint64_t seed) {
  WeightMaker make(dtype_of(config), seed);
  const int hidden = config.at("hidden_size"), vocab = config.at("vocab_size");
  make.add("model.embed_tokens.weight", {vocab, hidden}, 0.0, 1.0);
  for (int i = 0; i < config.at("num_hidden_layers"); ++i)
    add_layer(make, config, fmt::format("model.layers.{}.", i));
  make.norm("model.norm", hidden);
  if (!config.value("tie_word_embeddings", false)) make.projection("lm_head", vocab, hidden);
  return make.take();
}

void write_weights(const std::filesystem::path& path, const ModelWeights& weights, DType dtype) {
  std::map<std::string, std::vector<std::byte>> bytes;
  TensorMap tensors;
  for (const auto& [name, entry] : weights.entries) {
    bytes[name] = from_floats(entry.values, dtype);
    tensors[name] = {tensor_dtype(dtype), entry.shape, bytes[name]};
  }
  write_safetensors(path, tensors, {{"format", "pt"}});
}

ModelWeights write_model(const ScratchDir& dir, const json& config, std::uint64_t seed) {
  dir.write("config.json", config.dump(2));
  ModelWeights weights = random_weights(config, seed);
  write_weights(dir.path() / "model.safetensors", weights, dtype_of(config));
  return weights;
}

json small_tokenizer() {
  json vocab = {{"<|endoftext|>", 0}};
  for (int byte = 0; byte < 256; ++byte) vocab[byte_level_char(static_cast<unsigned char>(byte))] = byte + 1;
  const std::pair<const char*, const char*> merges[] = {{"t", "h"}, {"th", "e"},  {"Ġ", "the"},
                                                        {"a", "b"}, {"ab", "ab"}, {"Ã", "¤"}};
  json list = json::array();
  int next = 257;
  for (const auto& [left, right] : merges) {
    list.push_back(std::string(left) + " " + right);
    vocab[std::string(left) + right] = next++;
  }
  return {
      {"added_tokens", {{{"id", 0}, {"content", "<|endoftext|>"}, {"special", true}, {"normalized", false}}}},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {{{"SpecialToken", {{"id", "<|endoftext|>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
        {"special_tokens", {{"<|endoftext|>", {{"ids", {0}}}}}}}},
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", list}}}};
}

void expect_mentions(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
  }
}

}  // namespace attn::test
