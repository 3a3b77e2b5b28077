// The parameters of a Llama-family model on the device, under the roles the forward pass gives them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/model/model_config.h"
#include "kernels/device.h"

namespace attn {

/// All T = config.dtype, row-major, projections as [out, in]. Empty buffers: the model has no such parameter.
struct LayerWeights {
  Buffer input_norm;    // [hidden]
  Buffer q_proj;        // [H * D, hidden]
  Buffer k_proj;        // [Hkv * D, hidden]
  Buffer v_proj;        // [Hkv * D, hidden]
  Buffer q_bias;        // [H * D]
  Buffer k_bias;        // [Hkv * D]
  Buffer v_bias;        // [Hkv * D]
  Buffer q_norm;        // [D]
  Buffer k_norm;        // [D]
  Buffer o_proj;        // [hidden, H * D]
  Buffer o_bias;        // [hidden]
  Buffer post_norm;     // [hidden], before the MLP
  Buffer gate_up_proj;  // [2 * intermediate, hidden]: gate_proj's rows, then up_proj's, one matrix product
                        // for both
  Buffer down_proj;     // [hidden, intermediate]
};

struct Weights {
  Buffer embed_tokens;  // [vocab, hidden]
  std::vector<LayerWeights> layers;
  Buffer norm;     // [hidden]
  Buffer lm_head;  // [vocab, hidden]; empty when tied to embed_tokens
};

/// Bytes that every forward reads: of the embedding a few rows only, unless it is the LM head as well.
std::size_t forward_weight_bytes(const Weights& weights);

/// Loads every parameter of a model directory. Throws InputError (file, tensor) when one is missing, has
/// another shape than `config` says, or is not part of the model.
Weights load_weights(Device& device, const ModelConfig& config, const std::filesystem::path& model_dir);

}  // namespace attn
