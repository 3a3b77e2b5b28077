#include "core/model/random_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "core/model/convert.h"

namespace attn {
namespace {

// Odd, so that the rows of a matrix do not repeat each other.
constexpr std::size_t kPattern = (std::size_t{1} << 20U) + 7;
constexpr std::size_t kShift = 104'729;  // where in the pattern the next tensor begins
constexpr float kDeviation = 0.02F;

/// Tensors made on the device from one pattern of random values.
class Maker {
 public:
  Maker(Device& device, DType dtype, std::uint64_t seed)
      : device_(device), dtype_(dtype), pattern_(device, kPattern * dtype_size(dtype), "random pattern") {
    const float most = kDeviation * std::sqrt(3.0F);
    std::mt19937_64 rng(seed);
    std::vector<float> values(kPattern);
    for (float& x : values) x = (static_cast<float>(rng() >> 40U) * 0x1p-23F - 1.0F) * most;
    pattern_.upload(from_floats(values, dtype));
  }

  Buffer matrix(std::int64_t rows, std::int64_t columns) {
    const std::size_t bytes = static_cast<std::size_t>(rows * columns) * dtype_size(dtype_);
    Buffer out(device_, bytes, "random weights");
    const std::size_t first = std::exchange(next_, (next_ + kShift) % (kPattern / 2)) * dtype_size(dtype_);
    std::size_t done = std::min(bytes, pattern_.bytes() - first);
    device_.copy(out.as<>(), pattern_.as<std::byte>() + first, done);
    for (; done < bytes; done *= 2)
      device_.copy(out.as<std::byte>() + done, out.as<>(), std::min(done, bytes - done));
    return out;
  }
  Buffer row(std::int64_t columns) { return matrix(1, columns); }
  Buffer ones(std::int64_t columns) const {
    const std::vector<float> values(static_cast<std::size_t>(columns), 1.0F);
    Buffer out(device_, values.size() * dtype_size(dtype_), "norm weights");
    out.upload(from_floats(values, dtype_));
    return out;
  }

 private:
  Device& device_;
  DType dtype_;
  Buffer pattern_;
  std::size_t next_ = 0;
};

LayerWeights random_layer(Maker& maker, const ModelConfig& c) {
  const std::int64_t q_width = std::int64_t{c.num_attention_heads} * c.head_dim;
  const std::int64_t kv_width = std::int64_t{c.num_key_value_heads} * c.head_dim;
  LayerWeights w;
  w.input_norm = maker.ones(c.hidden_size);
  w.q_proj = maker.matrix(q_width, c.hidden_size);
  w.k_proj = maker.matrix(kv_width, c.hidden_size);
  w.v_proj = maker.matrix(kv_width, c.hidden_size);
  if (c.attention_bias) {
    w.q_bias = maker.row(q_width);
    w.k_bias = maker.row(kv_width);
    w.v_bias = maker.row(kv_width);
  }
  if (c.qk_norm) {
    w.q_norm = maker.ones(c.head_dim);
    w.k_norm = maker.ones(c.head_dim);
  }
  w.o_proj = maker.matrix(c.hidden_size, q_width);
  if (c.attention_out_bias) w.o_bias = maker.row(c.hidden_size);
  w.post_norm = maker.ones(c.hidden_size);
  w.gate_up_proj = maker.matrix(std::int64_t{2} * c.intermediate_size, c.hidden_size);
  w.down_proj = maker.matrix(c.hidden_size, c.intermediate_size);
  return w;
}

}  // namespace

Weights random_weights(Device& device, const ModelConfig& config, std::uint64_t seed) {
  Maker maker(device, config.dtype, seed);
  Weights weights;
  weights.embed_tokens = maker.matrix(config.vocab_size, config.hidden_size);
  for (int i = 0; i < config.num_hidden_layers; ++i) weights.layers.push_back(random_layer(maker, config));
  weights.norm = maker.ones(config.hidden_size);
  if (!config.tie_word_embeddings) weights.lm_head = maker.matrix(config.vocab_size, config.hidden_size);
  device.synchronize();  // the pattern's memory goes with `maker`
  return weights;
}

ModelConfig qwen3_06b_shape(int max_positions) {
  return {.architecture = "Qwen3ForCausalLM",
          .vocab_size = 151'936,
          .hidden_size = 1024,
          .intermediate_size = 3072,
          .num_hidden_layers = 28,
          .num_attention_heads = 16,
          .num_key_value_heads = 8,
          .head_dim = 128,
          .max_position_embeddings = max_positions,
          .rms_norm_eps = 1e-6,
          .rope_theta = 1e6,
          .rope_scaling = {},
          .tie_word_embeddings = true,
          .qk_norm = true,
          .dtype = DType::bf16,
          .eos_token_ids = {}};
}

}  // namespace attn
