#include "core/model/weights.h"

#include <fmt/format.h>

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "core/model/convert.h"
#include "core/model/safetensors.h"
#include "kernels/common/check.h"

namespace attn {

namespace {

using Shape = std::vector<std::int64_t>;

/// Hands out tensors by name, checks them, and at the end knows which nobody asked for.
class Loader {
 public:
  Loader(Device& device, DType dtype, const std::filesystem::path& dir)
      : device_(device), dtype_(dtype), dir_(dir.string()), tensors_(dir) {}

  Buffer load(const std::string& name, const Shape& shape) {
    const TensorView& view = take(name, shape);
    Buffer buffer(device_, bytes_of(view), name);
    upload(view, buffer.as<std::byte>());
    return buffer;
  }

  /// Two matrices of one shape, the rows of the second below those of the first.
  Buffer load_stacked(const std::string& first, const std::string& second, const Shape& shape) {
    const TensorView& top = take(first, shape);
    const TensorView& bottom = take(second, shape);
    Buffer buffer(device_, bytes_of(top) + bytes_of(bottom), first);
    upload(top, buffer.as<std::byte>());
    upload(bottom, buffer.as<std::byte>() + bytes_of(top));
    return buffer;
  }

  void ignore(const std::string& name) { taken_.insert(name); }

  /// Every tensor must have been asked for. Old Llama files carry each layer's inv_freq, which config.json
  /// determines.
  void check_nothing_left() const {
    for (const auto& [name, view] : tensors_.tensors()) {
      if (taken_.contains(name) || name.ends_with(".rotary_emb.inv_freq")) continue;
      throw InputError(
          fmt::format("{}: tensor {} is not part of the model that config.json describes; the two do not "
                      "belong together",
                      tensors_.file_of(name), name));
    }
  }

 private:
  const TensorView& take(const std::string& name, const Shape& shape) {
    const auto it = tensors_.tensors().find(name);
    if (it == tensors_.tensors().end()) {
      throw InputError(fmt::format(
          "{} has no tensor {}, which config.json calls for; download the model again", dir_, name));
    }
    const TensorView& view = it->second;
    if (view.shape != shape) {
      throw InputError(fmt::format("{}: tensor {} has shape {} but config.json calls for {}",
                                   tensors_.file_of(name), name, shape_text(view.shape), shape_text(shape)));
    }
    if (!is_float(view.dtype)) {
      throw InputError(fmt::format("{}: tensor {} is {}; weights must be F32, F16 or BF16",
                                   tensors_.file_of(name), name, tensor_dtype_name(view.dtype)));
    }
    taken_.insert(name);
    return view;
  }

  std::size_t bytes_of(const TensorView& view) const {
    return static_cast<std::size_t>(view.count()) * dtype_size(dtype_);
  }

  void upload(const TensorView& view, std::byte* to) {
    device_.context().throw_if_stopped();
    if (float_dtype(view.dtype) == dtype_) {
      device_.upload(to, view.data.data(), view.data.size());
      return;
    }
    const std::vector<std::byte> converted = convert(view.data, float_dtype(view.dtype), dtype_);
    device_.upload(to, converted.data(), converted.size());
  }

  Device& device_;
  DType dtype_;
  std::string dir_;
  ModelTensors tensors_;
  std::set<std::string, std::less<>> taken_;
};

LayerWeights load_layer(Loader& loader, const ModelConfig& config, int index) {
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t intermediate = config.intermediate_size;
  const std::int64_t q_width = static_cast<std::int64_t>(config.num_attention_heads) * config.head_dim;
  const std::int64_t kv_width = static_cast<std::int64_t>(config.num_key_value_heads) * config.head_dim;
  const std::string layer = fmt::format("model.layers.{}.", index);
  const std::string attention = layer + "self_attn.";

  LayerWeights weights;
  weights.input_norm = loader.load(layer + "input_layernorm.weight", {hidden});
  weights.q_proj = loader.load(attention + "q_proj.weight", {q_width, hidden});
  weights.k_proj = loader.load(attention + "k_proj.weight", {kv_width, hidden});
  weights.v_proj = loader.load(attention + "v_proj.weight", {kv_width, hidden});
  if (config.attention_bias) {
    weights.q_bias = loader.load(attention + "q_proj.bias", {q_width});
    weights.k_bias = loader.load(attention + "k_proj.bias", {kv_width});
    weights.v_bias = loader.load(attention + "v_proj.bias", {kv_width});
  }
  if (config.qk_norm) {
    weights.q_norm = loader.load(attention + "q_norm.weight", {config.head_dim});
    weights.k_norm = loader.load(attention + "k_norm.weight", {config.head_dim});
  }
  weights.o_proj = loader.load(attention + "o_proj.weight", {hidden, q_width});
  if (config.attention_out_bias) weights.o_bias = loader.load(attention + "o_proj.bias", {hidden});
  weights.post_norm = loader.load(layer + "post_attention_layernorm.weight", {hidden});
  weights.gate_up_proj = loader.load_stacked(layer + "mlp.gate_proj.weight", layer + "mlp.up_proj.weight",
                                             {intermediate, hidden});
  weights.down_proj = loader.load(layer + "mlp.down_proj.weight", {hidden, intermediate});
  return weights;
}

}  // namespace

std::size_t forward_weight_bytes(const Weights& weights) {
  std::size_t bytes =
      weights.norm.bytes() + (weights.lm_head ? weights.lm_head.bytes() : weights.embed_tokens.bytes());
  for (const LayerWeights& w : weights.layers) {
    for (const Buffer* buffer :
         {&w.input_norm, &w.q_proj, &w.k_proj, &w.v_proj, &w.q_bias, &w.k_bias, &w.v_bias, &w.q_norm,
          &w.k_norm, &w.o_proj, &w.o_bias, &w.post_norm, &w.gate_up_proj, &w.down_proj})
      bytes += buffer->bytes();
  }
  return bytes;
}

Weights load_weights(Device& device, const ModelConfig& config, const std::filesystem::path& model_dir) {
  Loader loader(device, config.dtype, model_dir);
  Weights weights;
  const Shape table = {config.vocab_size, config.hidden_size};
  weights.embed_tokens = loader.load("model.embed_tokens.weight", table);
  for (int i = 0; i < config.num_hidden_layers; ++i) weights.layers.push_back(load_layer(loader, config, i));
  weights.norm = loader.load("model.norm.weight", {config.hidden_size});
  if (config.tie_word_embeddings) {
    loader.ignore("lm_head.weight");  // some files store the tied copy
  } else {
    weights.lm_head = loader.load("lm_head.weight", table);
  }
  loader.check_nothing_left();
  return weights;
}

}  // namespace attn
