// A model directory's config.json as values (Hugging Face names).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/dtype.h"

namespace attn {

/// rope_scaling of type "llama3" (Meta's Llama 3.1 frequency bands).
struct Llama3RopeScaling {
  double factor = 1.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  int original_max_position_embeddings = 0;
};

struct ModelConfig {
  std::string architecture;  // LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int num_hidden_layers = 0;
  int num_attention_heads = 0;
  int num_key_value_heads = 0;
  int head_dim = 0;
  int max_position_embeddings = 0;
  double rms_norm_eps = 1e-5;
  double rope_theta = 10000.0;
  std::optional<Llama3RopeScaling> rope_scaling;
  bool tie_word_embeddings = false;
  bool attention_bias = false;      // q, k, v biases (Qwen2)
  bool attention_out_bias = false;  // bias of the output projection (Llama, Qwen3 with attention_bias)
  bool qk_norm = false;             // Qwen3
  DType dtype = DType::f32;
  std::vector<std::int32_t> eos_token_ids;
  std::int32_t bos_token_id = -1;
};

/// Reads and validates config.json; throws InputError (file, key, value, what is supported).
ModelConfig load_model_config(const std::filesystem::path& model_dir);

/// inv_freq [head_dim / 2] with rope scaling applied (transformers' modeling_rope_utils).
std::vector<float> rope_inv_freq(const ModelConfig& config);

}  // namespace attn
