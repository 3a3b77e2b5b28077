#include "core/engine/layers.h"

#include <algorithm>

namespace attn {

using trace::Stage;

namespace {

trace::TensorRecord read(Device& device, DType dtype, const void* data, std::vector<std::int64_t> shape) {
  std::size_t bytes = dtype_size(dtype);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  trace::TensorRecord tensor{
      .dtype = dtype, .shape = std::move(shape), .data = std::vector<std::byte>(bytes)};
  device.download(tensor.data.data(), data, bytes);
  return tensor;
}

/// The first `columns` of every row, in place.
void keep_columns(trace::TensorRecord& matrix, std::int64_t columns) {
  const auto from = static_cast<std::size_t>(matrix.shape[1]) * dtype_size(matrix.dtype);
  const auto to = static_cast<std::size_t>(columns) * dtype_size(matrix.dtype);
  for (std::size_t row = 1; row < static_cast<std::size_t>(matrix.shape[0]); ++row) {
    std::copy_n(matrix.data.begin() + static_cast<std::ptrdiff_t>(row * from), to,
                matrix.data.begin() + static_cast<std::ptrdiff_t>(row * to));
  }
  matrix.shape[1] = columns;
  matrix.data.resize(static_cast<std::size_t>(matrix.shape[0]) * to);
}

}  // namespace

void run_layers(Transformer& transformer, AttentionPaths& paths, const std::vector<KvLayer>& cache,
                int num_tokens, StageLog& log, const LayerTap& tap) {
  const ModelConfig& model = transformer.config();
  const std::string_view dtype = dtype_name(model.dtype);
  const std::int64_t n = num_tokens, heads = model.num_attention_heads, kv_heads = model.num_key_value_heads;
  log.shape("hidden_states", dtype, {n, model.hidden_size}, "embedding");
  for (int layer = 0; layer < model.num_hidden_layers; ++layer) {
    log.enter(Stage::qkv_rope, layer);
    const QkvView qkv = transformer.qkv(layer);
    log.shape("q", dtype, {n, heads, model.head_dim});
    log.shape("k", dtype, {n, kv_heads, model.head_dim});
    log.shape("v", dtype, {n, kv_heads, model.head_dim});

    const AttentionOutput out = paths.forward(layer, qkv, cache[static_cast<std::size_t>(layer)], log);
    tap(layer, qkv, out);

    log.enter(Stage::out_mlp, layer);
    log.shape("o", dtype, {n, heads * model.head_dim}, "flatten(1, -1)");
    transformer.finish_layer(layer, out.o);
    log.shape("hidden_states", dtype, {n, model.hidden_size});
  }
}

trace::LayerRecord read_layer(Device& device, const ModelConfig& model, int layer, const QkvView& qkv,
                              const AttentionOutput& out, int num_tokens, int lse_stride) {
  const std::int64_t n = num_tokens, heads = model.num_attention_heads, kv_heads = model.num_key_value_heads;
  trace::LayerRecord kept;
  kept.layer = layer;
  kept.q = read(device, model.dtype, qkv.q, {n, heads, model.head_dim});
  kept.k = read(device, model.dtype, qkv.k, {n, kv_heads, model.head_dim});
  kept.v = read(device, model.dtype, qkv.v, {n, kv_heads, model.head_dim});
  kept.o = read(device, model.dtype, out.o, {n, heads, model.head_dim});
  if (out.lse == nullptr) return kept;
  kept.lse = read(device, DType::f32, out.lse, {heads, lse_stride});
  if (lse_stride != num_tokens) keep_columns(kept.lse, n);
  return kept;
}

}  // namespace attn
