#include "core/engine/attention_paths.h"

#include <fmt/format.h>

#include "core/engine/fixed_scores.h"
#include "core/trace/launch_shape.h"
#include "kernels/common/check.h"
#include "kernels/common/plan.h"
#include "kernels/common/tiles.h"

namespace attn {

using trace::AttentionPath;
using trace::Stage;

trace::ModelShape shape_of(const ModelConfig& model) {
  return {.name = {},
          .architecture = model.architecture,
          .num_layers = model.num_hidden_layers,
          .num_heads = model.num_attention_heads,
          .num_kv_heads = model.num_key_value_heads,
          .head_dim = model.head_dim,
          .hidden_size = model.hidden_size,
          .vocab_size = model.vocab_size,
          .dtype = model.dtype,
          .scale = {}};
}

AttentionPath select_path(const trace::StepRecord& record) {
  const EngineConfig& config = record.config;
  if (record.kind == trace::StepKind::warmup) {
    return config.warmup_identity ? AttentionPath::identity : AttentionPath::prefill_packed;
  }
  if (record.kind == trace::StepKind::prefill) {
    if (!record.block_tables) return AttentionPath::prefill_packed;
    return config.prefill_path == PrefillPath::paged ? AttentionPath::prefill_paged
                                                     : AttentionPath::prefill_gather_flatten;
  }
  if (!record.context_lens) return AttentionPath::identity;
  switch (config.decode_path) {
    case DecodePath::gather_masked:
      return AttentionPath::decode_gather_masked;
    case DecodePath::gather_padded:
      return AttentionPath::decode_gather_padded;
    case DecodePath::paged:
      break;
  }
  return AttentionPath::decode_paged;
}

AttentionPaths::AttentionPaths(Device& device, const ModelConfig& model, const EngineConfig& config)
    : device_(device),
      shape_(shape_of(model)),
      dtype_(model.dtype),
      num_heads_(model.num_attention_heads),
      num_kv_heads_(model.num_key_value_heads),
      head_dim_(model.head_dim),
      kv_{config.num_blocks, config.block_size, model.num_key_value_heads, model.head_dim},
      slots_(device, "slot_mapping"),
      cu_q_(device, "cu_seqlens_q"),
      cu_k_(device, "cu_seqlens_k"),
      lens_(device, "context_lens"),
      tables_(device, "block_tables"),
      k_dense_(device, "k_dense"),
      v_dense_(device, "v_dense"),
      k_flat_(device, "k_flat"),
      v_flat_(device, "v_flat"),
      k_repeated_(device, "k_repeated"),
      v_repeated_(device, "v_repeated"),
      o_(device, "o"),
      lse_(device, "lse"),
      workspace_(device, "attention workspace") {
  if (config.k_tile > max_k_tile(head_dim_)) {
    throw InputError(fmt::format("engine.k_tile is {}; rows of head_dim {} leave room for at most {} keys",
                                 config.k_tile, head_dim_, max_k_tile(head_dim_)));
  }
}

void AttentionPaths::begin(const trace::StepRecord& step) {
  step_ = &step;
  batch_ = step.num_scheduled;
  num_tokens_ = static_cast<int>(step.input_ids.size());
  slot_mapping_ = slots_.upload(step.slot_mapping);
  cu_seqlens_q_ = cu_q_.upload(step.cu_seqlens_q);
  cu_seqlens_k_ = cu_k_.upload(step.cu_seqlens_k);
  std::vector<std::int32_t> seqlens;
  for (int b = 0; b < batch_; ++b) seqlens.push_back(step.cu_seqlens_k[b + 1] - step.cu_seqlens_k[b]);
  seqlens_k_ = lens_.upload(seqlens);
  block_tables_ = nullptr;
  if (step.block_tables) {
    std::vector<std::int32_t> flat;
    for (const auto& row : *step.block_tables) flat.insert(flat.end(), row.begin(), row.end());
    table_width_ = static_cast<int>(step.block_tables->front().size());
    block_tables_ = tables_.upload(flat);
  }
}

void AttentionPaths::begin(const trace::StepRecord& step, const StaticInputs& inputs) {
  step_ = &step;
  batch_ = num_tokens_ = step.num_scheduled;
  slot_mapping_ = inputs.slot_mapping;
  seqlens_k_ = inputs.context_lens;
  block_tables_ = inputs.block_tables;
  table_width_ = inputs.table_width;
}

AttentionOutput AttentionPaths::forward(int layer, const QkvView& qkv, const KvLayer& cache, StageLog& log) {
  ATTN_CHECK(step_ != nullptr, "forward before begin");
  layer_ = layer;
  fix_scores(device_, step_->config.scores,
             {.qkv = qkv,
              .rows = num_tokens_,
              .heads = num_heads_,
              .kv_heads = num_kv_heads_,
              .head_dim = head_dim_,
              .dtype = dtype_},
             log);
  if (cache.k_cache) store(qkv, cache, log);
  if (step_->path == AttentionPath::identity) {  // @attention_identity
    log.enter(Stage::attention, layer);
    const bool skipped = step_->kind == trace::StepKind::decode && !step_->config.identity_decode;
    log.shape("o", dtype_name(dtype_), {num_tokens_, num_heads_, head_dim_},
              skipped ? "captured without cache operations: o is q" : "no context: o is q");
    return {.o = qkv.q, .lse = nullptr};
  }
  const Keys fresh{qkv.k, qkv.v, false};
  const Keys paged{cache.k_cache, cache.v_cache, true};
  switch (step_->path) {
    case AttentionPath::prefill_paged:
      prefill(qkv.q, paged, log);
      break;
    case AttentionPath::prefill_gather_flatten:
      prefill(qkv.q, flatten(gather(cache, log), log), log);
      break;
    case AttentionPath::decode_paged:
      decode(qkv.q, paged, log);
      break;
    case AttentionPath::decode_gather_masked:
      decode(qkv.q, repeat(gather(cache, log), log), log);
      break;
    case AttentionPath::decode_gather_padded:
      decode(qkv.q, repeat(gather(cache, log), log), log);
      break;
    default:
      prefill(qkv.q, fresh, log);
  }
  return {.o = o_.get(0), .lse = lse_.get<float>(0)};
}

std::size_t AttentionPaths::kv_bytes(std::int64_t rows, int heads) const {
  return static_cast<std::size_t>(rows) * heads * head_dim_ * dtype_size(dtype_);
}

void AttentionPaths::store(const QkvView& qkv, const KvLayer& cache, StageLog& log) {
  log.enter(Stage::store_kvcache, layer_);  // @store_kvcache
  device_.kernels().store_kvcache({.dtype = dtype_,
                                   .num_tokens = num_tokens_,
                                   .kv = kv_,
                                   .k = qkv.k,
                                   .v = qkv.v,
                                   .slot_mapping = slot_mapping_,
                                   .k_cache = cache.k_cache,
                                   .v_cache = cache.v_cache},
                                  device_.context());
  const std::string note = fmt::format("{} rows written at slot_mapping", num_tokens_);
  for (const char* name : {"k_cache", "v_cache"}) {
    log.shape(name, dtype_name(dtype_), {kv_.num_blocks, kv_.block_size, num_kv_heads_, head_dim_}, note);
  }
}

AttentionPaths::Keys AttentionPaths::gather(const KvLayer& cache, StageLog& log) {
  log.enter(Stage::gather, layer_);  // @gather
  const int max_len = step_->max_seqlen_k;
  const std::size_t bytes = kv_bytes(static_cast<std::int64_t>(batch_) * max_len, num_kv_heads_);
  const Keys dense{k_dense_.get(bytes), v_dense_.get(bytes), false};
  device_.kernels().gather_kv({.dtype = dtype_,
                               .batch = batch_,
                               .max_len = max_len,
                               .block_table_width = table_width_,
                               .kv = kv_,
                               .k_cache = cache.k_cache,
                               .v_cache = cache.v_cache,
                               .block_tables = block_tables_,
                               .seqlens = seqlens_k_,
                               .k_dense = k_dense_.get(0),
                               .v_dense = v_dense_.get(0),
                               .total_k_hint = step_->cu_seqlens_k.back()},
                              device_.context());
  for (const char* name : {"k_gathered", "v_gathered"}) {
    log.shape(name, dtype_name(dtype_), {batch_, max_len, num_kv_heads_, head_dim_},
              "zero-padded to max_len");
  }
  return dense;
}

AttentionPaths::Keys AttentionPaths::flatten(const Keys& dense, StageLog& log) {
  log.enter(Stage::flatten, layer_);  // @flatten
  const std::int32_t total_k = step_->cu_seqlens_k.back();
  const std::size_t bytes = kv_bytes(total_k, num_kv_heads_);
  const Keys flat{k_flat_.get(bytes), v_flat_.get(bytes), false};
  device_.kernels().flatten_kv({.dtype = dtype_,
                                .batch = batch_,
                                .max_len = step_->max_seqlen_k,
                                .num_kv_heads = num_kv_heads_,
                                .head_dim = head_dim_,
                                .k_dense = dense.k,
                                .v_dense = dense.v,
                                .cu_seqlens_k = cu_seqlens_k_,
                                .k_flat = k_flat_.get(0),
                                .v_flat = v_flat_.get(0),
                                .total_k_hint = total_k},
                               device_.context());
  for (const char* name : {"k_flat", "v_flat"}) {
    log.shape(name, dtype_name(dtype_), {total_k, num_kv_heads_, head_dim_}, "pads dropped, packed");
  }
  std::string triples;
  for (int b = 0; b < batch_; ++b) {
    const int q_len = step_->cu_seqlens_q[b + 1] - step_->cu_seqlens_q[b];
    const int kv_len = step_->cu_seqlens_k[b + 1] - step_->cu_seqlens_k[b];
    triples += fmt::format("{}({}, {}, {})", b > 0 ? ", " : "", kv_len - q_len, q_len, kv_len);
  }
  log.shape("cached_len_per_seq", "I32", {batch_, 3}, "(cached_len, q_len, kv_len): " + triples);
  return flat;
}

AttentionPaths::Keys AttentionPaths::repeat(const Keys& dense, StageLog& log) {
  const int groups = num_heads_ / num_kv_heads_;
  if (groups == 1 || !step_->config.repeat_kv) return dense;
  log.enter(Stage::repeat, layer_);  // @repeat
  const int max_len = step_->max_seqlen_k;
  RepeatKvParams params{.dtype = dtype_,
                        .rows = static_cast<std::int64_t>(batch_) * max_len,
                        .num_heads = num_heads_,
                        .num_kv_heads = num_kv_heads_,
                        .head_dim = head_dim_,
                        .head_map = step_->config.head_map};
  const std::size_t bytes = kv_bytes(params.rows, num_heads_);
  params.in = dense.k;
  params.out = k_repeated_.get(bytes);
  device_.kernels().repeat_kv(params, device_.context());
  params.in = dense.v;
  params.out = v_repeated_.get(bytes);
  device_.kernels().repeat_kv(params, device_.context());
  for (const char* name : {"k_gathered", "v_gathered"}) {
    log.shape(name, dtype_name(dtype_), {batch_, max_len, num_heads_, head_dim_},
              step_->config.head_map == HeadMap::grouped ? fmt::format("repeat_interleave({}, dim=2)", groups)
                                                         : fmt::format("repeat(1, 1, {}, 1)", groups));
  }
  return {k_repeated_.get(0), v_repeated_.get(0), false};
}

void AttentionPaths::prefill(const void* q, const Keys& keys, StageLog& log) {
  log.enter(Stage::attention, layer_);  // @attention_prefill
  PrefillParams params = trace::prefill_shape(*step_, shape_);
  params.q = q;
  params.k = keys.k;
  params.v = keys.v;
  params.block_tables = keys.paged ? block_tables_ : nullptr;
  params.cu_seqlens_q = cu_seqlens_q_;
  params.cu_seqlens_k = cu_seqlens_k_;
  params.o = o_.get(kv_bytes(num_tokens_, num_heads_));
  params.lse = lse_.get<float>(sizeof(float) * num_heads_ * num_tokens_);
  const PrefillPlan plan = plan_prefill(params, device_.traits());
  params.workspace_bytes = plan.workspace_bytes;
  params.workspace = workspace_.get(params.workspace_bytes);
  if (plan.level == 4) params.tickets = tickets(kPrefillTickets);
  device_.kernels().prefill_attention(params, device_.context());
  log.shape("o", dtype_name(dtype_), {num_tokens_, num_heads_, head_dim_}, "one row per new token");
  log.shape("lse", "F32", {num_heads_, num_tokens_});
}

std::uint32_t* AttentionPaths::tickets(int count) {
  const std::size_t bytes = sizeof(std::uint32_t) * static_cast<std::size_t>(count);
  if (bytes > tickets_.bytes()) {
    tickets_ = Buffer(device_, bytes, "attention tickets");
    reset_tickets();
  }
  return tickets_.as<std::uint32_t>();
}

void AttentionPaths::reset_tickets() {
  if (tickets_) device_.fill(tickets_.as<>(), 0, tickets_.bytes());
}

void AttentionPaths::decode(const void* q, const Keys& keys, StageLog& log) {
  log.enter(Stage::attention, layer_);  // @attention_decode
  log.shape("q", dtype_name(dtype_), {batch_, 1, num_heads_, head_dim_}, "unsqueeze(1)");
  DecodeParams params = trace::decode_shape(*step_, shape_);
  params.q = q;
  params.k = keys.k;
  params.v = keys.v;
  params.block_tables = keys.paged ? block_tables_ : nullptr;
  params.block_table_width = keys.paged ? table_width_ : 0;  // a graph's tables are wider than the step's
  params.context_lens = seqlens_k_;
  params.o = o_.get(kv_bytes(batch_, num_heads_));
  params.lse = lse_.get<float>(sizeof(float) * num_heads_ * batch_);
  const DecodePlan plan = plan_decode(params, device_.traits());
  params.num_splits = plan.num_splits;
  params.workspace_bytes = plan.workspace_bytes;
  params.workspace = workspace_.get(params.workspace_bytes);
  if (plan.level == 3) params.tickets = tickets(batch_ * num_heads_);
  device_.kernels().decode_attention(params, device_.context());
  log.shape("o", dtype_name(dtype_), {batch_, 1, num_heads_, head_dim_}, "one row per sequence");
  log.shape("o", dtype_name(dtype_), {batch_, num_heads_, head_dim_}, "squeeze(1)");
  log.shape("lse", "F32", {num_heads_, batch_});
}

}  // namespace attn
