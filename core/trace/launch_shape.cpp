#include "core/trace/launch_shape.h"

#include <cmath>

#include "core/trace/batch_rows.h"
#include "core/trace/record_check.h"
#include "kernels/common/plan.h"

namespace attn::trace {
namespace {

float scale_of(const ModelShape& model) {
  return model.scale.value_or(1.0F / std::sqrt(static_cast<float>(model.head_dim)));
}

DecodeForm form_of(AttentionPath path) {
  if (path == AttentionPath::decode_gather_masked) return DecodeForm::dense_masked;
  if (path == AttentionPath::decode_gather_padded) return DecodeForm::dense_padded;
  return DecodeForm::paged;
}

int table_width(const StepRecord& step) {
  return step.block_tables && !step.block_tables->empty()
             ? static_cast<int>(step.block_tables->front().size())
             : 0;
}

}  // namespace

PagedKv cache_shape(const StepRecord& step, const ModelShape& model) {
  return {step.config.num_blocks, step.config.block_size, model.num_kv_heads, model.head_dim};
}

bool reads_cache(AttentionPath path) {
  return path != AttentionPath::identity && path != AttentionPath::prefill_packed;
}

bool is_decode(AttentionPath path) { return path >= AttentionPath::decode_paged; }

MaskAlignment launched_mask(const StepRecord& step) {
  const MaskAlignment mask = step.config.mask_alignment;
  return is_decode(step.path) && mask != MaskAlignment::top_left ? MaskAlignment::none : mask;
}

int attended_columns(const StepRecord& step, std::size_t b) {
  return step.path == AttentionPath::decode_gather_padded ? step.max_seqlen_k : k_len(step, b);
}

int columns_seen(const StepRecord& step, std::size_t b) {
  const int queries = q_len(step, b);  // the last one sees the most
  return queries == 0 ? 0
                      : visible_keys(launched_mask(step), queries - 1, queries, attended_columns(step, b));
}

std::int64_t visible_pairs(const StepRecord& step) {
  std::int64_t pairs = 0;
  for (std::size_t b = 0; b < static_cast<std::size_t>(step.num_scheduled); ++b) {
    const int queries = q_len(step, b);
    for (int i = 0; i < queries; ++i) {
      pairs += visible_keys(launched_mask(step), i, queries, attended_columns(step, b));
    }
  }
  return pairs;
}

PrefillParams prefill_shape(const StepRecord& step, const ModelShape& model) {
  const bool paged = step.path == AttentionPath::prefill_paged;
  return {.dtype = model.dtype,
          .level = step.config.prefill_level,
          .batch = step.num_scheduled,
          .num_heads = model.num_heads,
          .num_kv_heads = model.num_kv_heads,
          .head_dim = model.head_dim,
          .total_q = step.cu_seqlens_q.back(),
          .max_seqlen_q = step.max_seqlen_q,
          .max_seqlen_k = step.max_seqlen_k,
          .scale = scale_of(model),
          .mask = launched_mask(step),
          .head_map = step.config.head_map,
          .kv = paged ? cache_shape(step, model) : PagedKv{},
          .block_table_width = paged ? table_width(step) : 0,
          .probe = {},
          .k_tile = step.config.k_tile,
          .total_k_hint = step.cu_seqlens_k.back(),
          .pairs_hint = visible_pairs(step)};
}

DecodeParams decode_shape(const StepRecord& step, const ModelShape& model) {
  const bool paged = step.path == AttentionPath::decode_paged;
  const bool repeated = !paged && step.config.repeat_kv;
  return {.dtype = model.dtype,
          .level = step.config.decode_level,
          .form = form_of(step.path),
          .batch = step.num_scheduled,
          .num_heads = model.num_heads,
          .num_kv_heads = repeated ? model.num_heads : model.num_kv_heads,
          .head_dim = model.head_dim,
          .max_len = step.max_seqlen_k,
          .num_splits = step.config.num_splits,
          .scale = scale_of(model),
          .mask = launched_mask(step),
          .head_map = step.config.head_map,
          .kv = paged ? cache_shape(step, model) : PagedKv{},
          .block_table_width = paged ? table_width(step) : 0,
          .probe = {},
          .k_tile = step.config.k_tile,
          .total_k_hint = step.cu_seqlens_k.back()};
}

int launched_level(const StepRecord& step, const ModelShape& model, const DeviceTraits& device) {
  const std::int32_t table = 0;  // planning asks only whether there is one
  if (is_decode(step.path)) {
    DecodeParams params = decode_shape(step, model);
    if (step.path == AttentionPath::decode_paged) params.block_tables = &table;
    return level_of(params, device);
  }
  PrefillParams params = prefill_shape(step, model);
  if (step.path == AttentionPath::prefill_paged) params.block_tables = &table;
  return level_of(params, device);
}

TileGrid planned_grid(const StepRecord& step, const ModelShape& model, std::size_t b, int row) {
  // Planning never follows a pointer; a probe that is wanted is told from one that is not by null.
  float wanted = 0.0F;
  const int queries = q_len(step, b);
  const int i = row < 0 || row >= queries ? queries - 1 : row;
  TileGrid grid;
  grid.num_keys = visible_keys(launched_mask(step), i, queries, attended_columns(step, b));
  if (is_decode(step.path)) {
    DecodeParams params = decode_shape(step, model);
    params.probe.scores = &wanted;
    grid.k_tile = plan_decode(params, DeviceTraits{}).k_tile;
  } else {
    PrefillParams params = prefill_shape(step, model);
    params.probe.scores = &wanted;
    grid.k_tile = plan_prefill(params, DeviceTraits{}).k_tile;
  }
  return grid;
}

}  // namespace attn::trace
