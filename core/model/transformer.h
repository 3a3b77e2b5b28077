// The model around attention: embedding, norms, projections, RoPE, MLP, LM head. Attention itself and
// the KV cache belong to the engine's model runner, which calls these in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/model/model_config.h"
#include "kernels/device.h"

namespace attn {

struct Weights;

/// Device tensors of one layer of the step at hand; valid until the next qkv() or begin().
struct QkvView {
  void* q = nullptr;  // T [N, H, D] after (qk_norm and) RoPE
  void* k = nullptr;  // T [N, Hkv, D] after (qk_norm and) RoPE
  void* v = nullptr;  // T [N, Hkv, D]
};

class Transformer {
 public:
  /// Loads config.json and *.safetensors (sharded or not) of a model directory onto the device.
  /// Every parameter must be there with its shape, none may be extra; throws InputError otherwise.
  Transformer(Device& device, const std::filesystem::path& model_dir);
  /// On weights that no file holds. PRECOND: they are those of `config`, on the device.
  Transformer(Device& device, const ModelConfig& config, Weights weights);
  ~Transformer();
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  /// The same weights with activations of its own, whose addresses another forward does not change: a
  /// captured graph needs that.
  std::unique_ptr<Transformer> with_own_activations() const;

  const ModelConfig& config() const;
  /// Bytes of the parameters that every forward reads whole: the embedding only where it is the LM head too.
  std::size_t forward_weight_bytes() const;

  /// Starts a forward of N tokens: uploads ids and positions, embeds.
  void begin(const std::vector<std::int32_t>& input_ids, const std::vector<std::int32_t>& positions);
  /// The same with arrays [N] that are on the device already, so nothing is uploaded. PRECOND: ids are in the
  /// vocabulary, positions >= 0.
  void begin(const std::int32_t* input_ids, const std::int32_t* positions, int num_tokens);
  /// After the replay of a graph into which a forward of N tokens was captured: its hidden states are there.
  void replayed(int num_tokens);
  /// Norm, q/k/v projections, qk_norm, RoPE of a layer.
  QkvView qkv(int layer);
  /// Output projection of o (T [N, H, D], device), residual, norm, MLP, residual.
  void finish_layer(int layer, const void* o);
  /// Final norm and LM head on the given rows of the batch: float [rows, vocab] on the device,
  /// valid until the next call.
  const float* logits(const std::vector<std::int32_t>& rows);

 private:
  struct Model;
  struct State;
  Transformer(Device& device, const ModelConfig& config, const std::filesystem::path& model_dir);
  explicit Transformer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attn
