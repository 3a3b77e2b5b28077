#include "core/model/transformer.h"

#include <algorithm>
#include <utility>

#include "core/model/weights.h"
#include "kernels/common/check.h"

namespace attn {

namespace {

/// Device memory that only grows: a decode step of 4 tokens reuses what a prefill of 500 took.
class Workspace {
 public:
  Workspace(Device& device, const char* label) : device_(device), label_(label) {}

  void* get(std::size_t bytes) {
    if (bytes > buffer_.bytes()) {
      buffer_.reset();
      buffer_ = Buffer(device_, bytes, label_);
    }
    return buffer_.as<void>();
  }
  const std::int32_t* upload(const std::vector<std::int32_t>& host) {
    void* pointer = get(host.size() * sizeof(std::int32_t));
    if (!host.empty()) device_.upload(pointer, host.data(), host.size() * sizeof(std::int32_t));
    return static_cast<const std::int32_t*>(pointer);
  }

 private:
  Device& device_;
  const char* label_;
  Buffer buffer_;
};

}  // namespace

/// What is loaded once and never changes.
struct Transformer::Model {
  Model(Device& device, const ModelConfig& config_in, Weights weights_in)
      : config(config_in), weights(std::move(weights_in)) {
    const std::vector<float> host = rope_inv_freq(config);
    inv_freq = Buffer(device, host.size() * sizeof(float), "inv_freq");
    inv_freq.upload(host);
  }

  ModelConfig config;
  Weights weights;
  Buffer inv_freq;  // [D/2]
};

/// Widths in elements, activations in config.dtype. N = num_tokens of the step.
struct Transformer::State {
  State(Device& device_in, std::shared_ptr<const Model> model_in)
      : device(device_in),
        model(std::move(model_in)),
        config(model->config),
        weights(model->weights),
        inv_freq(model->inv_freq) {}

  Device& device;
  std::shared_ptr<const Model> model;
  const ModelConfig& config;
  const Weights& weights;
  const Buffer& inv_freq;
  int num_tokens = 0;
  const std::int32_t* positions = nullptr;  // [N]
  void* hidden = nullptr;                   // [N, hidden]: the residual stream

  Workspace ids_space{device, "input_ids"}, positions_space{device, "positions"},
      rows_space{device, "logit rows"};
  Workspace hidden_space{device, "hidden"}, normed_space{device, "normed"}, branch_space{device, "branch"};
  Workspace q_space{device, "q"}, k_space{device, "k"}, v_space{device, "v"};
  Workspace gate_up_space{device, "gate_up"}, mlp_space{device, "mlp"};
  Workspace picked_space{device, "picked"}, logits_space{device, "logits"};

  int q_width() const { return config.num_attention_heads * config.head_dim; }
  int kv_width() const { return config.num_key_value_heads * config.head_dim; }

  void* space(Workspace& workspace, std::int64_t rows, int width) {
    return workspace.get(static_cast<std::size_t>(rows) * width * dtype_size(config.dtype));
  }

  /// out [rows, width] = rms_norm(in) * weight; `out` may be `in`.
  void rms_norm(const void* in, const Buffer& weight, void* out, std::int64_t rows, int width) {
    device.kernels().rms_norm({.dtype = config.dtype,
                               .rows = rows,
                               .width = width,
                               .eps = static_cast<float>(config.rms_norm_eps),
                               .in = in,
                               .weight = weight.as<void>(),
                               .out = out},
                              device.context());
  }

  /// y [rows, n] = x [rows, k] * w^T (+ bias where the model has one).
  void* project(const void* x, const Buffer& w, const Buffer& bias, Workspace& y_space, int n, int k) {
    void* y = space(y_space, num_tokens, n);
    device.matmul(
        {.dtype = config.dtype, .m = num_tokens, .n = n, .k = k, .x = x, .w = w.as<void>(), .y = y});
    if (bias) {
      device.kernels().add({.dtype = config.dtype,
                            .count = static_cast<std::int64_t>(num_tokens) * n,
                            .bias_width = n,
                            .a = y,
                            .b = bias.as<void>(),
                            .out = y},
                           device.context());
    }
    return y;
  }

  /// q or k after its projection: norm of every head (Qwen3), then rotation by the token's position.
  void norm_and_rotate(void* x, const Buffer& norm, int num_heads) {
    if (norm) rms_norm(x, norm, x, static_cast<std::int64_t>(num_tokens) * num_heads, config.head_dim);
    device.kernels().rope({.dtype = config.dtype,
                           .num_tokens = num_tokens,
                           .num_heads = num_heads,
                           .head_dim = config.head_dim,
                           .positions = positions,
                           .inv_freq = inv_freq.as<float>(),
                           .x = x},
                          device.context());
  }

  /// hidden += branch.
  void add_residual(const void* branch) {
    device.kernels().add({.dtype = config.dtype,
                          .count = static_cast<std::int64_t>(num_tokens) * config.hidden_size,
                          .a = hidden,
                          .b = branch,
                          .out = hidden},
                         device.context());
  }
};

Transformer::Transformer(Device& device, const std::filesystem::path& model_dir)
    : Transformer(device, load_model_config(model_dir), model_dir) {}

Transformer::Transformer(Device& device, const ModelConfig& config, const std::filesystem::path& model_dir)
    : Transformer(device, config, load_weights(device, config, model_dir)) {}

Transformer::Transformer(Device& device, const ModelConfig& config, Weights weights)
    : state_(std::make_unique<State>(device,
                                     std::make_shared<const Model>(device, config, std::move(weights)))) {}

Transformer::Transformer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Transformer::~Transformer() = default;

std::unique_ptr<Transformer> Transformer::with_own_activations() const {
  return std::unique_ptr<Transformer>(
      new Transformer(std::make_unique<State>(state_->device, state_->model)));
}

const ModelConfig& Transformer::config() const { return state_->config; }

std::size_t Transformer::forward_weight_bytes() const { return attn::forward_weight_bytes(state_->weights); }

void Transformer::begin(const std::vector<std::int32_t>& input_ids,
                        const std::vector<std::int32_t>& positions) {
  State& s = *state_;
  ATTN_CHECK(!input_ids.empty() && input_ids.size() == positions.size(), "{} input_ids and {} positions",
             input_ids.size(), positions.size());
  for (const std::int32_t id : input_ids) {
    if (id < 0 || id >= s.config.vocab_size) {
      throw InputError(fmt::format("token id {} is outside the vocabulary of the model; use ids from 0 to {}",
                                   id, s.config.vocab_size - 1));
    }
  }
  ATTN_CHECK(std::ranges::all_of(positions, [](std::int32_t p) { return p >= 0; }), "a position is negative");
  begin(s.ids_space.upload(input_ids), s.positions_space.upload(positions),
        static_cast<int>(input_ids.size()));
}

void Transformer::begin(const std::int32_t* input_ids, const std::int32_t* positions, int num_tokens) {
  State& s = *state_;
  s.num_tokens = num_tokens;
  s.positions = positions;
  s.hidden = s.space(s.hidden_space, s.num_tokens, s.config.hidden_size);
  s.device.kernels().embed({.dtype = s.config.dtype,
                            .num_tokens = s.num_tokens,
                            .hidden = s.config.hidden_size,
                            .vocab = s.config.vocab_size,
                            .input_ids = input_ids,
                            .table = s.weights.embed_tokens.as<void>(),
                            .out = s.hidden},
                           s.device.context());
}

void Transformer::replayed(int num_tokens) {
  ATTN_CHECK(state_->hidden != nullptr, "no forward of {} tokens was captured", num_tokens);
  state_->num_tokens = num_tokens;
}

QkvView Transformer::qkv(int layer) {  // @qkv_rope
  State& s = *state_;
  ATTN_CHECK(layer >= 0 && layer < s.config.num_hidden_layers && s.hidden, "layer {} of {}", layer,
             s.config.num_hidden_layers);
  const LayerWeights& w = s.weights.layers[static_cast<std::size_t>(layer)];
  const int width = s.config.hidden_size;
  void* normed = s.space(s.normed_space, s.num_tokens, width);
  s.rms_norm(s.hidden, w.input_norm, normed, s.num_tokens, width);

  QkvView view;
  view.q = s.project(normed, w.q_proj, w.q_bias, s.q_space, s.q_width(), width);
  view.k = s.project(normed, w.k_proj, w.k_bias, s.k_space, s.kv_width(), width);
  view.v = s.project(normed, w.v_proj, w.v_bias, s.v_space, s.kv_width(), width);
  s.norm_and_rotate(view.q, w.q_norm, s.config.num_attention_heads);
  s.norm_and_rotate(view.k, w.k_norm, s.config.num_key_value_heads);
  return view;
}

void Transformer::finish_layer(int layer, const void* o) {  // @out_mlp
  State& s = *state_;
  ATTN_CHECK(layer >= 0 && layer < s.config.num_hidden_layers && s.hidden && o, "layer {} of {}", layer,
             s.config.num_hidden_layers);
  const LayerWeights& w = s.weights.layers[static_cast<std::size_t>(layer)];
  const int width = s.config.hidden_size;
  const int intermediate = s.config.intermediate_size;
  s.add_residual(s.project(o, w.o_proj, w.o_bias, s.branch_space, width, s.q_width()));

  void* normed = s.space(s.normed_space, s.num_tokens, width);
  s.rms_norm(s.hidden, w.post_norm, normed, s.num_tokens, width);
  const void* gate_up = s.project(normed, w.gate_up_proj, {}, s.gate_up_space, 2 * intermediate, width);
  void* mlp = s.space(s.mlp_space, s.num_tokens, intermediate);
  s.device.kernels().silu_mul({.dtype = s.config.dtype,
                               .num_tokens = s.num_tokens,
                               .width = intermediate,
                               .gate_up = gate_up,
                               .out = mlp},
                              s.device.context());
  s.add_residual(s.project(mlp, w.down_proj, {}, s.branch_space, width, intermediate));
}

const float* Transformer::logits(const std::vector<std::int32_t>& rows) {  // @lm_head
  State& s = *state_;
  ATTN_CHECK(s.hidden && !rows.empty(), "{} rows", rows.size());
  for (const std::int32_t row : rows) {
    ATTN_CHECK(row >= 0 && row < s.num_tokens, "row {} of {} tokens", row, s.num_tokens);
  }
  const int count = static_cast<int>(rows.size());
  const int width = s.config.hidden_size;
  // Pick the rows first: the norm is per row, and the LM head is the largest product of the model.
  void* picked = s.space(s.picked_space, count, width);
  s.device.kernels().take_rows({.dtype = s.config.dtype,
                                .num_rows = count,
                                .width = width,
                                .rows = s.rows_space.upload(rows),
                                .in = s.hidden,
                                .out = picked},
                               s.device.context());
  s.rms_norm(picked, s.weights.norm, picked, count, width);
  const Buffer& head = s.config.tie_word_embeddings ? s.weights.embed_tokens : s.weights.lm_head;
  auto* logits = static_cast<float*>(s.logits_space.get(rows.size() * s.config.vocab_size * sizeof(float)));
  s.device.matmul({.dtype = s.config.dtype,
                   .m = count,
                   .n = s.config.vocab_size,
                   .k = width,
                   .x = picked,
                   .w = head.as<void>(),
                   .y = logits,
                   .y_f32 = true});
  return logits;
}

}  // namespace attn
