#include "core/model/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/model/json_fields.h"
#include "kernels/common/check.h"

namespace attn {

namespace {

using nlohmann::json;

// Far above any model, low enough that no product of three sizes overflows 64 bits.
constexpr std::int64_t kMaxWidth = 1 << 20;
constexpr std::int64_t kMaxVocab = 1 << 24;
constexpr std::int64_t kMaxLayers = 1 << 12;
constexpr std::int64_t kMaxPositions = 1 << 30;

struct Architecture {
  const char* name;
  const char* model_type;
};
constexpr Architecture kArchitectures[] = {
    {"LlamaForCausalLM", "llama"}, {"Qwen2ForCausalLM", "qwen2"}, {"Qwen3ForCausalLM", "qwen3"}};

/// architectures[0], or the model_type where a config has no architectures.
std::string read_architecture(const JsonFields& fields) {
  const json* list = fields.find("architectures");
  std::string given;
  if (list) {
    if (!list->is_array() || list->empty() || !list->front().is_string()) {
      fields.fail("'architectures' must be a list of names");
    }
    given = list->front().get<std::string>();
  } else {
    given = fields.text("model_type");
  }
  for (const Architecture& known : kArchitectures) {
    if (given == known.name || given == known.model_type) return known.name;
  }
  fields.fail(
      fmt::format("architecture '{}' is not supported; use LlamaForCausalLM, Qwen2ForCausalLM or "
                  "Qwen3ForCausalLM",
                  given));
}

/// What the architecture allows but this program does not compute must be off: better no text than wrong
/// text.
void reject_unsupported(const JsonFields& fields) {
  const std::string activation = fields.text_or("hidden_act", "silu");
  if (activation != "silu" && activation != "swish") {
    fields.fail(fmt::format("hidden_act '{}' is not supported; only silu is", activation));
  }
  if (fields.boolean_or("use_sliding_window", false)) {
    fields.fail("use_sliding_window is not supported; use a model with full attention");
  }
  if (fields.boolean_or("mlp_bias", false)) fields.fail("mlp_bias is not supported; use a model without it");
  if (fields.has("quantization_config")) {
    fields.fail("quantized weights are not supported; use the F32, F16 or BF16 model");
  }
  if (fields.positive_or("partial_rotary_factor", 1.0) != 1.0) {
    fields.fail("partial_rotary_factor other than 1 is not supported");
  }
  if (const json* types = fields.find("layer_types")) {
    for (const json& type : *types) {
      if (type != "full_attention") fields.fail("layer_types other than full_attention are not supported");
    }
  }
}

void read_shape(const JsonFields& fields, ModelConfig& config) {
  const auto size = [&](const char* key, std::int64_t highest) {
    return static_cast<int>(fields.integer(key, 1, highest));
  };
  config.vocab_size = size("vocab_size", kMaxVocab);
  config.hidden_size = size("hidden_size", kMaxWidth);
  config.intermediate_size = size("intermediate_size", kMaxWidth);
  config.num_hidden_layers = size("num_hidden_layers", kMaxLayers);
  config.num_attention_heads = size("num_attention_heads", kMaxWidth);
  config.max_position_embeddings = size("max_position_embeddings", kMaxPositions);
  const int heads = config.num_attention_heads;
  config.num_key_value_heads = static_cast<int>(fields.integer_or("num_key_value_heads", heads, 1, heads));
  if (heads % config.num_key_value_heads != 0) {
    fields.fail(
        fmt::format("num_attention_heads {} is no multiple of num_key_value_heads {}; every key/value head "
                    "must serve equally many query heads",
                    heads, config.num_key_value_heads));
  }
  if (!fields.has("head_dim") && config.hidden_size % heads != 0) {
    fields.fail(
        fmt::format("hidden_size {} is no multiple of num_attention_heads {} and there is no head_dim",
                    config.hidden_size, heads));
  }
  config.head_dim = static_cast<int>(fields.integer_or("head_dim", config.hidden_size / heads, 1, kMaxWidth));
  if (config.head_dim % 8 != 0 || config.head_dim > 256) {
    fields.fail(fmt::format("head_dim {} is not supported; it must be a multiple of 8, at most 256",
                            config.head_dim));
  }
}

/// transformers 5 writes one object rope_parameters with rope_theta in it, transformers 4 writes rope_theta
/// and rope_scaling (null, or an object whose kind is "rope_type", in old files "type").
void read_rope(const JsonFields& fields, ModelConfig& config) {
  config.rope_theta = fields.positive_or("rope_theta", 10000.0);
  const char* key = fields.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (!fields.has(key)) return;
  const JsonFields rope = fields.object(key);
  config.rope_theta = rope.positive_or("rope_theta", config.rope_theta);
  const std::string kind = rope.text_or("rope_type", rope.text_or("type", "default"));
  if (kind == "default") return;
  if (kind != "llama3") {
    rope.fail(fmt::format("rope_type '{}' is not supported; default and llama3 are", kind));
  }
  Llama3RopeScaling scaling;
  scaling.factor = rope.positive("factor");
  scaling.low_freq_factor = rope.positive("low_freq_factor");
  scaling.high_freq_factor = rope.positive("high_freq_factor");
  scaling.original_max_position_embeddings =
      static_cast<int>(rope.integer("original_max_position_embeddings", 1, kMaxPositions));
  if (scaling.high_freq_factor <= scaling.low_freq_factor) {
    rope.fail(fmt::format("high_freq_factor {} must be greater than low_freq_factor {}",
                          scaling.high_freq_factor, scaling.low_freq_factor));
  }
  config.rope_scaling = scaling;
}

DType read_dtype(const JsonFields& fields) {
  const std::string name = fields.text_or("torch_dtype", fields.text_or("dtype", "float32"));
  if (name == "float32") return DType::f32;
  if (name == "float16") return DType::f16;
  if (name == "bfloat16") return DType::bf16;
  fields.fail(fmt::format("torch_dtype '{}' is not supported; use float32, float16 or bfloat16", name));
}

std::vector<std::int32_t> read_token_ids(const JsonFields& fields, const char* key, int vocab_size) {
  const json* value = fields.find(key);
  if (!value) return {};
  const json list = value->is_array() ? *value : json::array({*value});
  std::vector<std::int32_t> ids;
  for (const json& id : list) {
    if (!id.is_number_integer() || id < 0 || id >= vocab_size) {
      fields.fail(fmt::format("'{}' must be token ids from 0 to {}", key, vocab_size - 1));
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

}  // namespace

ModelConfig load_model_config(const std::filesystem::path& model_dir) {
  const std::filesystem::path path = model_dir / "config.json";
  const json document = parse_json_object(read_text_file(path, 1 << 24), path.string());
  const JsonFields fields(document, path.string());

  ModelConfig config;
  config.architecture = read_architecture(fields);
  reject_unsupported(fields);
  read_shape(fields, config);
  read_rope(fields, config);
  config.rms_norm_eps = fields.positive("rms_norm_eps");
  config.tie_word_embeddings = fields.boolean_or("tie_word_embeddings", false);
  config.qk_norm = config.architecture == "Qwen3ForCausalLM";
  const bool qwen2 = config.architecture == "Qwen2ForCausalLM";  // has the biases, and no switch for them
  config.attention_bias = qwen2 || fields.boolean_or("attention_bias", false);
  config.attention_out_bias = config.attention_bias && !qwen2;
  config.dtype = read_dtype(fields);
  config.eos_token_ids = read_token_ids(fields, "eos_token_id", config.vocab_size);
  const std::vector<std::int32_t> bos = read_token_ids(fields, "bos_token_id", config.vocab_size);
  if (!bos.empty()) config.bos_token_id = bos.front();
  return config;
}

std::vector<float> rope_inv_freq(const ModelConfig& config) {
  std::vector<float> inv_freq(static_cast<std::size_t>(config.head_dim / 2));
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    // Rounded to float where transformers rounds; at position 8192 one ulp here is 1e-3 of a radian.
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.head_dim);
    const auto power = static_cast<float>(std::pow(config.rope_theta, static_cast<double>(exponent)));
    inv_freq[i] = 1.0F / power;
  }
  if (!config.rope_scaling) return inv_freq;

  // Llama 3.1: wavelengths that fit the original context stay, those that never completed a turn in it are
  // stretched by `factor`, and between the two the change is linear in the number of turns.
  const Llama3RopeScaling& scaling = *config.rope_scaling;
  for (float& frequency : inv_freq) {
    const double wavelength = 2.0 * std::numbers::pi / static_cast<double>(frequency);
    const double turns = scaling.original_max_position_embeddings / wavelength;
    double keep = (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
    keep = std::min(1.0, std::max(0.0, keep));
    frequency = static_cast<float>(frequency * (keep + (1.0 - keep) / scaling.factor));
  }
  return inv_freq;
}

}  // namespace attn
