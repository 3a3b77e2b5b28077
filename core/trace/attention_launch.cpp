#include "core/trace/attention_launch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/trace/record_check.h"
#include "kernels/common/check.h"
#include "kernels/common/plan.h"
#include "kernels/common/tiles.h"

namespace attn::trace {
namespace {

// Lengths may come from a file: beyond these, refuse instead of filling the machine's memory.
constexpr double kMaxProbeBytes = 2.0 * (1U << 30U);
constexpr double kMaxDenseBytes = 4.0 * (1U << 30U);

/// What a launch is for: o and lse, those and the probe, or its records alone.
enum class Purpose { outputs, probe, records };

/// Launchers of the device only log while it lives.
class RecordOnly {
 public:
  explicit RecordOnly(Device& device) : device_(device) { device.context().record_only = true; }
  ~RecordOnly() { device_.context().record_only = false; }
  RecordOnly(const RecordOnly&) = delete;
  RecordOnly& operator=(const RecordOnly&) = delete;

 private:
  Device& device_;
};

/// Device side of one launch; buffers live until the results are read back.
class Launch {
 public:
  Launch(Device& device, const AttentionInputs& inputs, Purpose purpose)
      : device_(device),
        in_(inputs),
        step_(*inputs.step),
        model_(*inputs.model),
        probe_(purpose == Purpose::probe),
        records_only_(purpose == Purpose::records) {}

  AttentionOutputs run() {
    LaunchLog log(device_);
    upload();
    is_decode(step_.path) ? decode() : prefill();
    device_.synchronize();
    return read_back(std::move(log.records));
  }

  std::vector<LaunchEntry> records() {
    LaunchLog log(device_);
    const RecordOnly quiet(device_);
    upload();
    is_decode(step_.path) ? decode() : prefill();
    return entries_of(std::move(log.records));
  }

  TensorRecord keys() {
    LaunchLog log(device_);
    upload();
    gather();
    flatten();
    device_.synchronize();
    return {model_.dtype,
            {step_.cu_seqlens_k.back(), model_.num_kv_heads, model_.head_dim},
            k_.download<std::byte>()};
  }

 private:
  /// Without kernels nobody looks behind a pointer: launchers ask that there is one.
  Buffer buffer(std::size_t bytes, std::string_view label) {
    return Buffer(device_, records_only_ ? std::min<std::size_t>(bytes, 16) : bytes, label);
  }

  template <class T>
  Buffer uploaded(const std::vector<T>& values, std::string_view label) {
    Buffer made = buffer(values.size() * sizeof(T), label);
    if (made && !records_only_) made.upload(values);
    return made;
  }

  std::size_t num_q() const { return static_cast<std::size_t>(step_.cu_seqlens_q.back()); }
  std::size_t heads() const { return static_cast<std::size_t>(model_.num_heads); }

  void upload() {
    q_ = uploaded(in_.q->data, "q");
    o_ = buffer(in_.q->data.size(), "o");
    lse_ = buffer(heads() * num_q() * sizeof(float), "lse");
    cu_q_ = uploaded(step_.cu_seqlens_q, "cu_seqlens_q");
    cu_k_ = uploaded(step_.cu_seqlens_k, "cu_seqlens_k");
    std::vector<std::int32_t> lens(static_cast<std::size_t>(step_.num_scheduled));
    for (std::size_t b = 0; b < lens.size(); ++b) lens[b] = k_len(step_, b);
    lens_ = uploaded(lens, "context_lens");
    if (!reads_cache(step_.path)) {
      k_ = uploaded(in_.k->data, "k");
      v_ = uploaded(in_.v->data, "v");
      return;
    }
    ATTN_CHECK(in_.pool != nullptr, "path {} reads the cache", static_cast<int>(step_.path));
    k_ = uploaded(in_.pool->k, "k_cache");
    v_ = uploaded(in_.pool->v, "v_cache");
    std::vector<std::int32_t> flat;
    for (const auto& row : *step_.block_tables) flat.insert(flat.end(), row.begin(), row.end());
    width_ = step_.block_tables->empty() ? 0 : static_cast<int>(step_.block_tables->front().size());
    tables_ = uploaded(flat, "block_tables");
  }

  /// Room for `rows` rows of all KV heads.
  Buffer kv_rows(std::int64_t rows, std::string_view label) {
    const double bytes = static_cast<double>(rows) * model_.num_kv_heads * model_.head_dim *
                         static_cast<double>(dtype_size(model_.dtype));
    if (!records_only_ && bytes > kMaxDenseBytes) {
      throw InputError(
          fmt::format("gathering {} sequences of up to {} keys would take {:.1f} GiB for K alone; use "
                      "the paged path",
                      step_.num_scheduled, step_.max_seqlen_k, bytes / (1U << 30U)));
    }
    return buffer(static_cast<std::size_t>(bytes), label);
  }

  /// k_cache, v_cache -> dense [B, max_len, Hkv, D], zero-padded.
  void gather() {
    const auto rows = static_cast<std::int64_t>(step_.num_scheduled) * step_.max_seqlen_k;
    Buffer k_dense = kv_rows(rows, "k_dense"), v_dense = kv_rows(rows, "v_dense");
    device_.kernels().gather_kv({.dtype = model_.dtype,
                                 .batch = step_.num_scheduled,
                                 .max_len = step_.max_seqlen_k,
                                 .block_table_width = width_,
                                 .kv = cache_shape(step_, model_),
                                 .k_cache = k_.as(),
                                 .v_cache = v_.as(),
                                 .block_tables = tables_.as<std::int32_t>(),
                                 .seqlens = lens_.as<std::int32_t>(),
                                 .k_dense = k_dense.as(),
                                 .v_dense = v_dense.as(),
                                 .total_k_hint = step_.cu_seqlens_k.back()},
                                device_.context());
    k_ = std::move(k_dense);
    v_ = std::move(v_dense);
  }

  /// dense -> packed [cu_seqlens_k[B], Hkv, D].
  void flatten() {
    const std::int64_t rows = step_.cu_seqlens_k.back();
    Buffer k_flat = kv_rows(rows, "k_flat"), v_flat = kv_rows(rows, "v_flat");
    device_.kernels().flatten_kv({.dtype = model_.dtype,
                                  .batch = step_.num_scheduled,
                                  .max_len = step_.max_seqlen_k,
                                  .num_kv_heads = model_.num_kv_heads,
                                  .head_dim = model_.head_dim,
                                  .k_dense = k_.as(),
                                  .v_dense = v_.as(),
                                  .cu_seqlens_k = cu_k_.as<std::int32_t>(),
                                  .k_flat = k_flat.as(),
                                  .v_flat = v_flat.as(),
                                  .total_k_hint = step_.cu_seqlens_k.back()},
                                 device_.context());
    k_ = std::move(k_flat);
    v_ = std::move(v_flat);
  }

  /// repeat_interleave of both dense tensors to H heads.
  void repeat() {
    const auto rows = static_cast<std::int64_t>(step_.num_scheduled) * step_.max_seqlen_k;
    const std::size_t bytes =
        static_cast<std::size_t>(rows * model_.num_heads * model_.head_dim) * dtype_size(model_.dtype);
    for (Buffer* tensor : {&k_, &v_}) {
      Buffer repeated = buffer(bytes, "repeated");
      device_.kernels().repeat_kv({.dtype = model_.dtype,
                                   .rows = rows,
                                   .num_heads = model_.num_heads,
                                   .num_kv_heads = model_.num_kv_heads,
                                   .head_dim = model_.head_dim,
                                   .head_map = step_.config.head_map,
                                   .in = tensor->as(),
                                   .out = repeated.as()},
                                  device_.context());
      *tensor = std::move(repeated);
    }
  }

  void prefill() {
    const bool paged = step_.path == AttentionPath::prefill_paged;
    if (step_.path == AttentionPath::prefill_gather_flatten) {
      gather();
      flatten();
    }
    PrefillParams params = prefill_shape(step_, model_);
    params.q = q_.as();
    params.k = k_.as();
    params.v = v_.as();
    params.block_tables = paged ? tables_.as<std::int32_t>() : nullptr;
    params.cu_seqlens_q = cu_q_.as<std::int32_t>();
    params.cu_seqlens_k = cu_k_.as<std::int32_t>();
    params.o = o_.as();
    params.lse = lse_.as<float>();
    const PrefillPlan plan = plan_prefill(as_launched(params), device_.traits());
    level_ = plan.level;
    k_tile_ = plan.k_tile;
    num_tiles_ = plan.num_k_tiles;
    workspace_ = buffer(plan.workspace_bytes, "workspace");
    params.workspace = workspace_.as();
    params.workspace_bytes = plan.workspace_bytes;
    params.probe = probe_buffers();
    if (plan.level == 4) params.tickets = tickets(kPrefillTickets);
    device_.kernels().prefill_attention(params, device_.context());
  }

  void decode() {
    const bool paged = step_.path == AttentionPath::decode_paged;
    if (!paged) {
      gather();
      if (model_.num_heads != model_.num_kv_heads && step_.config.repeat_kv) repeat();
    }
    DecodeParams params = decode_shape(step_, model_);
    params.q = q_.as();
    params.k = k_.as();
    params.v = v_.as();
    params.block_tables = paged ? tables_.as<std::int32_t>() : nullptr;
    params.context_lens = lens_.as<std::int32_t>();
    params.o = o_.as();
    params.lse = lse_.as<float>();
    const DecodePlan plan = plan_decode(as_launched(params), device_.traits());
    level_ = plan.level;
    k_tile_ = plan.k_tile;
    num_tiles_ = plan.num_k_tiles;
    params.num_splits = num_splits_ = plan.num_splits;
    keys_per_split_ = plan.keys_per_split;
    workspace_ = buffer(plan.workspace_bytes, "workspace");
    params.workspace = workspace_.as();
    params.workspace_bytes = plan.workspace_bytes;
    params.probe = probe_buffers();
    if (plan.level == 3) params.tickets = tickets(num_q() * heads());
    device_.kernels().decode_attention(params, device_.context());
  }

  /// As the engine keeps them: without, a launch of its own would clear a part of the workspace first.
  std::uint32_t* tickets(std::size_t count) {
    tickets_ = buffer(sizeof(std::uint32_t) * count, "attention tickets");
    if (!records_only_) device_.fill(tickets_.as<>(), 0, tickets_.bytes());
    return tickets_.as<std::uint32_t>();
  }

  /// A probe can change the level that runs, so a plan must know of it before its buffers have a size.
  /// Planning asks only whether the pointer is null.
  template <class Params>
  Params as_launched(Params params) {
    if (probe_) params.probe.scores = &wanted_;
    return params;
  }

  /// Device memory starts as NaN bytes, so what the kernel does not visit reads back as NaN.
  ProbeBuffers probe_buffers() {
    if (!probe_) return {};
    const double rows = static_cast<double>(heads()) * static_cast<double>(num_q());
    const int columns = std::max(step_.max_seqlen_k, in_.probe_columns);
    const double bytes = rows * (2.0 * columns + 4.0 * num_tiles_) * sizeof(float);
    if (bytes > kMaxProbeBytes) {
      throw InputError(
          fmt::format("the weights of this step would take {:.1f} GiB ({} heads x {} queries x {} keys); "
                      "look at a step with fewer tokens",
                      bytes / (1U << 30U), heads(), num_q(), columns));
    }
    const auto matrix = [&](int width, std::string_view label) {
      return Buffer(device_, heads() * num_q() * static_cast<std::size_t>(width) * sizeof(float), label);
    };
    scores_ = matrix(columns, "scores");
    weights_ = matrix(columns, "weights");
    for (Buffer& tile : tiles_) tile = matrix(num_tiles_, "tile states");
    return {.max_k = columns,
            .max_tiles = num_tiles_,
            .scores = scores_.as<float>(),
            .weights = weights_.as<float>(),
            .tile_m = tiles_[0].as<float>(),
            .tile_l = tiles_[1].as<float>(),
            .tile_alpha = tiles_[2].as<float>(),
            .tile_o_norm = tiles_[3].as<float>()};
  }

  AttentionOutputs read_back(std::vector<LaunchRecord> log) {
    AttentionOutputs out;
    out.o = {model_.dtype, in_.q->shape, o_.download<std::byte>()};
    out.lse = {
        DType::f32, {model_.num_heads, static_cast<std::int64_t>(num_q())}, lse_.download<std::byte>()};
    AttentionView& view = out.view;
    view.step = step_.step;
    view.path = step_.path;
    view.device = device_.name();
    view.num_heads = model_.num_heads;
    view.num_q = static_cast<int>(num_q());
    view.max_k = std::max(step_.max_seqlen_k, in_.probe_columns);
    view.num_tiles = num_tiles_;
    view.k_tile = k_tile_;
    view.k_lens = lens_.download<std::int32_t>();
    for (std::size_t b = 0; b < view.k_lens.size(); ++b) view.attended.push_back(attended_columns(step_, b));
    for (int head = 0; head < model_.num_heads; ++head) {
      view.kv_head.push_back(kv_head_of(step_.config.head_map, head, model_.num_heads, model_.num_kv_heads));
    }
    out.level = level_;
    if (level_ < 3) {  // level 3 cuts all sequences together into slices
      view.num_splits = num_splits_;
      view.keys_per_split = keys_per_split_;
      if (num_splits_ > 1) read_partials(view);
    }
    view.lse = lse_.download<float>();
    view.scores = scores_.download<float>();
    view.weights = weights_.download<float>();
    view.tile_m = tiles_[0].download<float>();
    view.tile_l = tiles_[1].download<float>();
    view.tile_alpha = tiles_[2].download<float>();
    view.tile_o_norm = tiles_[3].download<float>();
    out.launches = entries_of(std::move(log));
    // The attention kernel itself: the first launch of its stage (a merge of splits follows it).
    const auto main = std::find_if(out.launches.begin(), out.launches.end(),
                                   [](const LaunchEntry& entry) { return entry.stage == Stage::attention; });
    if (main != out.launches.end()) view.kernel = main->launch.kernel;
    return out;
  }

  /// The workspace of a split decode: partial_o [S, B, H, D] normalised, then partial_lse [S, H, B].
  void read_partials(AttentionView& view) const {
    const std::vector<float> workspace = workspace_.download<float>();
    const std::size_t splits = static_cast<std::size_t>(num_splits_), batch = num_q();
    const auto head_dim = static_cast<std::size_t>(model_.head_dim);
    const std::size_t states = splits * batch * heads();
    ATTN_CHECK(workspace.size() >= states * (head_dim + 1), "a workspace of {} floats for {} partials",
               workspace.size(), states);
    const auto lse = workspace.begin() + static_cast<std::ptrdiff_t>(states * head_dim);
    view.partial_lse.assign(lse, lse + static_cast<std::ptrdiff_t>(states));
    view.partial_o_norm.resize(states);
    for (std::size_t s = 0; s < splits; ++s) {
      for (std::size_t b = 0; b < batch; ++b) {
        for (std::size_t h = 0; h < heads(); ++h) {
          const float* o = workspace.data() + ((s * batch + b) * heads() + h) * head_dim;
          const float square = std::inner_product(o, o + head_dim, o, 0.0F);
          view.partial_o_norm[(s * heads() + h) * batch + b] = std::sqrt(square);
        }
      }
    }
  }

  static std::vector<LaunchEntry> entries_of(std::vector<LaunchRecord> log) {
    std::vector<LaunchEntry> entries;
    for (LaunchRecord& record : log) entries.push_back({stage_of(record.kernel), -1, std::move(record)});
    return entries;
  }

  static Stage stage_of(std::string_view kernel) {
    if (kernel.starts_with("gather")) return Stage::gather;
    if (kernel.starts_with("flatten")) return Stage::flatten;
    if (kernel.starts_with("repeat")) return Stage::repeat;
    return Stage::attention;
  }

  Device& device_;
  const AttentionInputs& in_;
  const StepRecord& step_;
  const ModelShape& model_;
  bool probe_, records_only_;
  int width_ = 0, k_tile_ = 0, num_tiles_ = 0, num_splits_ = 1, keys_per_split_ = 0, level_ = 0;
  float wanted_ = 0.0F;
  Buffer q_, k_, v_, o_, lse_, cu_q_, cu_k_, lens_, tables_, workspace_, tickets_;
  Buffer scores_, weights_, tiles_[4];
};

}  // namespace

AttentionOutputs launch_attention(Device& device, const AttentionInputs& inputs, bool probe) {
  ATTN_CHECK(inputs.step->path != AttentionPath::identity, "the identity path launches no kernel");
  return Launch(device, inputs, probe ? Purpose::probe : Purpose::outputs).run();
}

std::vector<LaunchEntry> attention_records(Device& device, const AttentionInputs& inputs) {
  ATTN_CHECK(inputs.step->path != AttentionPath::identity, "the identity path launches no kernel");
  return Launch(device, inputs, Purpose::records).records();
}

TensorRecord gathered_keys(Device& device, const AttentionInputs& inputs) {
  return Launch(device, inputs, Purpose::outputs).keys();
}

}  // namespace attn::trace
