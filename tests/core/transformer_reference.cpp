#include "tests/core/transformer_reference.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/model/convert.h"

namespace attn::test {

namespace {

using Matrix = std::vector<double>;  // row-major, the width is known from the place

/// x [N, in] * w [out, in]^T + bias.
Matrix linear(const Matrix& x, int in, const ModelWeights& weights, const std::string& name) {
  const std::vector<float>& w = weights[name + ".weight"];
  const int out = static_cast<int>(w.size()) / in, tokens = static_cast<int>(x.size()) / in;
  const bool has_bias = weights.entries.contains(name + ".bias");
  Matrix y(static_cast<std::size_t>(tokens) * out);
  for (int n = 0; n < tokens; ++n) {
    for (int o = 0; o < out; ++o) {
      double sum = has_bias ? weights[name + ".bias"][o] : 0.0;
      for (int i = 0; i < in; ++i) sum += x[n * in + i] * w[o * in + i];
      y[n * out + o] = sum;
    }
  }
  return y;
}

Matrix rms_norm(const Matrix& x, int width, const std::vector<float>& weight, double eps) {
  Matrix y(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    double squares = 0.0;
    for (int i = 0; i < width; ++i) squares += x[row + i] * x[row + i];
    for (int i = 0; i < width; ++i) y[row + i] = x[row + i] / std::sqrt(squares / width + eps) * weight[i];
  }
  return y;
}

/// Angle per position of pair i; Llama 3.1's stretching as Meta describes it, by wavelength.
double frequency(const ModelConfig& config, int i) {
  const double plain = std::pow(config.rope_theta, -2.0 * i / config.head_dim);
  if (!config.rope_scaling) return plain;
  const Llama3RopeScaling& s = *config.rope_scaling;
  const double wavelength = 2.0 * std::numbers::pi / plain;
  const double longest = s.original_max_position_embeddings / s.low_freq_factor;
  const double shortest = s.original_max_position_embeddings / s.high_freq_factor;
  if (wavelength < shortest) return plain;
  if (wavelength > longest) return plain / s.factor;
  const double smooth = (s.original_max_position_embeddings / wavelength - s.low_freq_factor) /
                        (s.high_freq_factor - s.low_freq_factor);
  return (1.0 - smooth) * plain / s.factor + smooth * plain;
}

void rotate(Matrix& x, const ModelConfig& config, int heads) {
  const int dim = config.head_dim, half = dim / 2, tokens = static_cast<int>(x.size()) / (heads * dim);
  for (int n = 0; n < tokens; ++n) {
    for (int h = 0; h < heads; ++h) {
      double* head = &x[(n * heads + h) * dim];
      for (int i = 0; i < half; ++i) {
        const double angle = n * frequency(config, i), a = head[i], b = head[i + half];
        head[i] = a * std::cos(angle) - b * std::sin(angle);
        head[i + half] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
  }
}

/// Causal attention of the last q.size() rows: q [Nq, H, D], k and v [Nk, Hkv, D].
Matrix attend(const ModelConfig& config, const Matrix& q, const Matrix& k, const Matrix& v) {
  const int heads = config.num_attention_heads, kv_heads = config.num_key_value_heads, dim = config.head_dim;
  const int rows = static_cast<int>(q.size()) / (heads * dim),
            keys = static_cast<int>(k.size()) / (kv_heads * dim);
  Matrix o(q.size(), 0.0);
  for (int n = 0; n < rows; ++n) {
    for (int h = 0; h < heads; ++h) {
      const int kv_head = h / (heads / kv_heads), visible = keys - rows + n + 1;
      std::vector<double> weight(visible);
      double total = 0.0;
      for (int j = 0; j < visible; ++j) {
        double score = 0.0;
        for (int d = 0; d < dim; ++d)
          score += q[(n * heads + h) * dim + d] * k[(j * kv_heads + kv_head) * dim + d];
        weight[j] = std::exp(score / std::sqrt(static_cast<double>(dim)));
        total += weight[j];
      }
      for (int j = 0; j < visible; ++j) {
        for (int d = 0; d < dim; ++d)
          o[(n * heads + h) * dim + d] += weight[j] / total * v[(j * kv_heads + kv_head) * dim + d];
      }
    }
  }
  return o;
}

void add(Matrix& x, const Matrix& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

Matrix mlp(const ModelConfig& config, const ModelWeights& weights, const std::string& layer,
           const Matrix& x) {
  Matrix gate = linear(x, config.hidden_size, weights, layer + "mlp.gate_proj");
  const Matrix up = linear(x, config.hidden_size, weights, layer + "mlp.up_proj");
  for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1.0 + std::exp(-gate[i])) * up[i];
  return linear(gate, config.intermediate_size, weights, layer + "mlp.down_proj");
}

Matrix download(Device& device, const void* pointer, std::size_t count, DType dtype) {
  std::vector<std::byte> bytes(count * dtype_size(dtype));
  device.download(bytes.data(), pointer, bytes.size());
  const std::vector<float> values = to_floats(bytes, dtype);
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<double> reference_logits(const ModelConfig& config, const ModelWeights& weights,
                                     const std::vector<std::int32_t>& ids) {
  const int hidden = config.hidden_size;
  const std::vector<float>& table = weights["model.embed_tokens.weight"];
  Matrix x;
  for (const std::int32_t id : ids)
    x.insert(x.end(), table.begin() + id * hidden, table.begin() + (id + 1) * hidden);
  for (int i = 0; i < config.num_hidden_layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i), attention = layer + "self_attn.";
    const Matrix normed = rms_norm(x, hidden, weights[layer + "input_layernorm.weight"], config.rms_norm_eps);
    Matrix q = linear(normed, hidden, weights, attention + "q_proj");
    Matrix k = linear(normed, hidden, weights, attention + "k_proj");
    const Matrix v = linear(normed, hidden, weights, attention + "v_proj");
    if (config.qk_norm) {
      q = rms_norm(q, config.head_dim, weights[attention + "q_norm.weight"], config.rms_norm_eps);
      k = rms_norm(k, config.head_dim, weights[attention + "k_norm.weight"], config.rms_norm_eps);
    }
    rotate(q, config, config.num_attention_heads);
    rotate(k, config, config.num_key_value_heads);
    add(x, linear(attend(config, q, k, v), config.num_attention_heads * config.head_dim, weights,
                  attention + "o_proj"));
    add(x, mlp(config, weights, layer,
               rms_norm(x, hidden, weights[layer + "post_attention_layernorm.weight"], config.rms_norm_eps)));
  }
  x = rms_norm(x, hidden, weights["model.norm.weight"], config.rms_norm_eps);
  return linear(x, hidden, weights, config.tie_word_embeddings ? "model.embed_tokens" : "lm_head");
}

std::vector<float> transformer_logits(Device& device, Transformer& model,
                                      const std::vector<std::int32_t>& ids, const std::vector<int>& steps,
                                      const std::vector<int>& rows) {
  const ModelConfig& config = model.config();
  const int q_width = config.num_attention_heads * config.head_dim,
            kv_width = config.num_key_value_heads * config.head_dim;
  std::vector<Matrix> keys(config.num_hidden_layers), values(config.num_hidden_layers);
  std::vector<float> result;
  int begin = 0;
  for (const int tokens : steps) {
    std::vector<std::int32_t> positions(tokens);
    for (int i = 0; i < tokens; ++i) positions[i] = begin + i;
    model.begin({ids.begin() + begin, ids.begin() + begin + tokens}, positions);
    for (int layer = 0; layer < config.num_hidden_layers; ++layer) {
      const QkvView view = model.qkv(layer);
      const Matrix q = download(device, view.q, static_cast<std::size_t>(tokens) * q_width, config.dtype);
      for (const auto& [cache, from] : {std::pair{&keys[layer], view.k}, std::pair{&values[layer], view.v}}) {
        const Matrix fresh =
            download(device, from, static_cast<std::size_t>(tokens) * kv_width, config.dtype);
        cache->insert(cache->end(), fresh.begin(), fresh.end());
      }
      const Matrix o = attend(config, q, keys[layer], values[layer]);
      const std::vector<std::byte> bytes = from_floats(std::vector<float>(o.begin(), o.end()), config.dtype);
      Buffer buffer(device, bytes.size(), "o");
      buffer.upload(bytes);
      model.finish_layer(layer, buffer.as<void>());
    }
    std::vector<std::int32_t> wanted;
    for (const int row : rows) {
      if (row >= begin && row < begin + tokens) wanted.push_back(row - begin);
    }
    if (!wanted.empty()) {
      std::vector<float> logits(wanted.size() * config.vocab_size);
      device.download(logits.data(), model.logits(wanted), logits.size() * sizeof(float));
      result.insert(result.end(), logits.begin(), logits.end());
    }
    begin += tokens;
  }
  return result;
}

double relative_error(const std::vector<float>& got, const std::vector<double>& expected,
                      const std::vector<int>& rows, int vocab) {
  if (got.size() != rows.size() * vocab) return INFINITY;
  double worst = 0.0, largest = 0.0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (int i = 0; i < vocab; ++i) {
      const double reference = expected[static_cast<std::size_t>(rows[r]) * vocab + i];
      const double error = std::abs(static_cast<double>(got[r * vocab + i]) - reference);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
      largest = std::max(largest, std::abs(reference));
    }
  }
  return worst / largest;
}

}  // namespace attn::test
