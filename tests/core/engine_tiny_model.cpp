#include "engine_tiny_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <vector>

#include "core/model/safetensors.h"

namespace attn::test {

namespace {

/// Random matrices with rows of about unit gain; attention weights then differ clearly from uniform.
class Weights {
 public:
  explicit Weights(std::uint64_t seed) : random_(seed) {}

  void matrix(const std::string& name, int rows, int columns, float gain = 1.5F) {
    std::normal_distribution<float> normal(0.0F, gain / std::sqrt(static_cast<float>(columns)));
    std::vector<float>& values = values_[name];
    for (int i = 0; i < rows * columns; ++i) values.push_back(normal(random_));
    shapes_[name] = {rows, columns};
  }
  void norm(const std::string& name, int width) {
    std::uniform_real_distribution<float> around_one(0.8F, 1.2F);
    std::vector<float>& values = values_[name];
    for (int i = 0; i < width; ++i) values.push_back(around_one(random_));
    shapes_[name] = {width};
  }
  void write(const std::filesystem::path& path) const {
    TensorMap tensors;
    for (const auto& [name, values] : values_) {
      tensors[name] = {TensorDType::f32, shapes_.at(name), std::as_bytes(std::span(values))};
    }
    write_safetensors(path, tensors);
  }

 private:
  std::mt19937_64 random_;
  std::map<std::string, std::vector<float>> values_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
};

void write_config(const std::filesystem::path& path, const TinyShape& s) {
  const nlohmann::json config = {{"architectures", {"LlamaForCausalLM"}},
                                 {"model_type", "llama"},
                                 {"hidden_act", "silu"},
                                 {"vocab_size", s.vocab},
                                 {"hidden_size", s.hidden},
                                 {"intermediate_size", 2 * s.hidden},
                                 {"num_hidden_layers", s.layers},
                                 {"num_attention_heads", s.heads},
                                 {"num_key_value_heads", s.kv_heads},
                                 {"head_dim", s.head_dim},
                                 {"max_position_embeddings", s.max_positions},
                                 {"rms_norm_eps", 1e-5},
                                 {"rope_theta", 10000.0},
                                 {"tie_word_embeddings", true},
                                 {"torch_dtype", s.dtype}};
  std::ofstream(path) << config.dump(1);
}

}  // namespace

TinyModel::TinyModel(const TinyShape& s) {
  static std::atomic<int> count = 0;
  dir_ = std::filesystem::temp_directory_path() / fmt::format("attnscope-tiny-{}-{}", getpid(), count++);
  std::filesystem::create_directories(dir_);
  write_config(dir_ / "config.json", s);
  Weights weights(s.seed);
  weights.matrix("model.embed_tokens.weight", s.vocab, s.hidden, 4.0F);
  weights.norm("model.norm.weight", s.hidden);
  for (int l = 0; l < s.layers; ++l) {
    const std::string layer = fmt::format("model.layers.{}.", l);
    weights.norm(layer + "input_layernorm.weight", s.hidden);
    weights.norm(layer + "post_attention_layernorm.weight", s.hidden);
    weights.matrix(layer + "self_attn.q_proj.weight", s.heads * s.head_dim, s.hidden);
    weights.matrix(layer + "self_attn.k_proj.weight", s.kv_heads * s.head_dim, s.hidden);
    weights.matrix(layer + "self_attn.v_proj.weight", s.kv_heads * s.head_dim, s.hidden);
    weights.matrix(layer + "self_attn.o_proj.weight", s.hidden, s.heads * s.head_dim);
    weights.matrix(layer + "mlp.gate_proj.weight", 2 * s.hidden, s.hidden);
    weights.matrix(layer + "mlp.up_proj.weight", 2 * s.hidden, s.hidden);
    weights.matrix(layer + "mlp.down_proj.weight", s.hidden, 2 * s.hidden);
  }
  weights.write(dir_ / "model.safetensors");
}

TinyModel::~TinyModel() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

}  // namespace attn::test
