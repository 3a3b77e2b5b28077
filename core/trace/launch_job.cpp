#include "core/trace/launch_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/trace/batch_rows.h"
#include "core/trace/names.h"
#include "core/trace/record_check.h"
#include "kernels/common/plan.h"
#include "kernels/common/tiles.h"

namespace attn::trace {
namespace {

constexpr int kMostSplits = 64;  // asked for by hand; more would be empty for any length that is looked at
constexpr int kWindowMultiple = 64;  // query rows; windows begin where the kernels' own row tiles do

std::size_t batch_of(const StepRecord& step) { return static_cast<std::size_t>(step.num_scheduled); }

/// Tables as the engine would have passed them: a packed prefill passes none, but its rows were stored.
std::optional<std::vector<std::vector<std::int32_t>>> tables_of(const StepRecord& step) {
  if (step.block_tables) return step.block_tables;
  std::vector<std::vector<std::int32_t>> tables;
  std::size_t width = 0;
  for (std::size_t b = 0; b < batch_of(step); ++b) {
    tables.push_back(step.seqs[b].block_table);
    width = std::max(width, tables.back().size());
  }
  for (auto& table : tables) table.resize(width, -1);
  return tables;
}

bool tables_reach(const StepRecord& step) {
  const auto tables = tables_of(step);
  for (std::size_t b = 0; b < batch_of(step); ++b) {
    const int blocks = (k_len(step, b) + step.config.block_size - 1) / step.config.block_size;
    const auto& table = (*tables)[b];
    if (static_cast<std::size_t>(blocks) > table.size()) return false;
    if (std::any_of(table.begin(), table.begin() + blocks, [](int block) { return block < 0; })) return false;
  }
  return true;
}

bool is_decode_step(const StepRecord& step) {
  return step.path == AttentionPath::identity ? step.kind == StepKind::decode : is_decode(step.path);
}

std::string why_not_path(AttentionPath path, const StepRecord& step) {
  if (path == step.path) return "";
  if (path == AttentionPath::identity) return "the identity path is no kernel; it can only be looked at";
  if (is_decode(path) != is_decode_step(step)) {
    return fmt::format("path {} does not fit a {} step", name_of(path), name_of(step.kind));
  }
  if (path == AttentionPath::prefill_packed && step.cu_seqlens_q != step.cu_seqlens_k) {
    return "packed keys are the step's own rows, and here some keys come from the cache; choose paged or "
           "gather_flatten";
  }
  if (reads_cache(path) && !tables_reach(step)) return "the step has no block tables that reach its keys";
  return "";
}

/// Level 1 takes all keys at once, and only a decode splits them.
std::string why_not_cut(const Variant& variant, const StepRecord& step, const ModelShape& model,
                        const DeviceTraits& device) {
  if (!variant.k_tile && !variant.num_splits) return "";
  const StepRecord launched = launched_step(step, variant);
  const bool naive = launched_level(launched, model, device) == 1;
  if (variant.k_tile && *variant.k_tile != 0 && naive) {
    return fmt::format("level 1 takes all keys as one tile, not {}; choose a higher level", *variant.k_tile);
  }
  if (!variant.num_splits || *variant.num_splits == 0) return "";
  if (!is_decode(launched.path)) return "a prefill does not split its keys; leave num_splits out";
  return naive ? "level 1 does not split its keys; choose a higher level" : "";
}

std::string why_not_tile(int k_tile, const ModelShape& model) {
  const int most = max_k_tile(model.head_dim);
  if (k_tile >= 0 && k_tile <= most) return "";
  return fmt::format("k_tile {} does not exist for head_dim {}; choose 1 to {}, or 0 for the plan's own",
                     k_tile, model.head_dim, most);
}

}  // namespace

std::vector<int> levels_of(const StepRecord& step, const ModelShape& model, const DeviceTraits& device) {
  std::vector<int> levels;
  const int highest = is_decode(step.path) ? kDecodeLevels : kPrefillLevels;
  for (int level = 1; level <= highest; ++level) {
    if (launched_level(launched_step(step, {.level = level}), model, device) == level)
      levels.push_back(level);
  }
  return levels;
}

std::string why_not(const Variant& variant, const StepRecord& step, const ModelShape& model,
                    const DeviceTraits& device) {
  const AttentionPath path = variant.path.value_or(step.path);
  if (std::string reason = why_not_path(path, step); !reason.empty()) return reason;
  if (path == AttentionPath::identity) {
    const Variant changed{.path = variant.path};
    return variant == changed ? "" : "attention returned q in this step; choose a path to compare it with";
  }
  if (variant.level) {
    const auto levels = levels_of(launched_step(step, {.path = path}), model, device);
    if (std::find(levels.begin(), levels.end(), *variant.level) == levels.end()) {
      return fmt::format("level {} does not exist for this shape on this device; choose one of {}",
                         *variant.level, fmt::join(levels, ", "));
    }
  }
  if (variant.k_tile) {
    if (std::string reason = why_not_tile(*variant.k_tile, model); !reason.empty()) return reason;
  }
  if (variant.num_splits && (*variant.num_splits < 0 || *variant.num_splits > kMostSplits)) {
    return fmt::format("num_splits {} is not in 0 to {}", *variant.num_splits, kMostSplits);
  }
  return why_not_cut(variant, step, model, device);
}

StepRecord launched_step(const StepRecord& step, const Variant& variant) {
  StepRecord launched;
  launched.step = step.step;
  launched.kind = step.kind;
  launched.path = variant.path.value_or(step.path);
  launched.config = step.config;
  launched.num_scheduled = step.num_scheduled;
  launched.cu_seqlens_q = step.cu_seqlens_q;
  launched.cu_seqlens_k = step.cu_seqlens_k;
  launched.max_seqlen_q = step.max_seqlen_q;
  launched.max_seqlen_k = step.max_seqlen_k;
  if (reads_cache(launched.path)) launched.block_tables = tables_of(step);
  EngineConfig& config = launched.config;
  (is_decode(launched.path) ? config.decode_level : config.prefill_level) =
      variant.level.value_or(is_decode(launched.path) ? config.decode_level : config.prefill_level);
  config.mask_alignment = variant.mask.value_or(config.mask_alignment);
  config.head_map = variant.head_map.value_or(config.head_map);
  config.k_tile = variant.k_tile.value_or(config.k_tile);
  config.num_splits = variant.num_splits.value_or(config.num_splits);
  return launched;
}

RowWindow whole_batch(const StepRecord& step) {
  return {0, step.num_scheduled, 0, step.cu_seqlens_q.empty() ? 0 : step.cu_seqlens_q.back()};
}

RowWindow choose_window(const StepRecord& step, const ModelShape& model, const Focus& focus,
                        double max_bytes) {
  const RowWindow whole = whole_batch(step);
  // Scores and weights, and at most as much again for the states of tiles of 8 keys.
  const double row_bytes = 2.5 * sizeof(float) * model.num_heads * std::max(1, step.max_seqlen_k);
  if (whole.num_rows * row_bytes <= max_bytes) return whole;
  std::size_t b = 0;
  for (std::size_t i = 0; i < batch_of(step) && i < step.seqs.size(); ++i) {
    if (step.seqs[i].id == focus.seq) b = i;
  }
  const int most = std::max(1, static_cast<int>(max_bytes / row_bytes));
  if (is_decode_step(step)) {
    const int first = static_cast<int>(b) / most * most;
    const int count = std::min(most, step.num_scheduled - first);
    return {first, count, first, count};
  }
  const int queries = q_len(step, b);
  const int size = std::max(kWindowMultiple, most / kWindowMultiple * kWindowMultiple);
  const int row = focus.row < 0 || focus.row >= queries ? std::max(0, queries - 1) : focus.row;
  int first = row / size * size;
  int end = std::min(first + size, queries);
  // More queries than keys under top-left (a tensor case): where the keys end, the mask is another one.
  const int keys = k_len(step, b);
  if (step.config.mask_alignment == MaskAlignment::top_left && first < keys && keys < end) {
    (row < keys ? end : first) = keys;
  }
  return {static_cast<int>(b), 1, step.cu_seqlens_q[b] + first, end - first};
}

TensorRecord cut_rows(const TensorRecord& tensor, std::int64_t first, std::int64_t count) {
  TensorRecord cut{tensor.dtype, tensor.shape, {}};
  if (tensor.shape.empty()) return cut;
  const std::int64_t row_bytes =
      tensor.shape[0] > 0 ? static_cast<std::int64_t>(tensor.data.size()) / tensor.shape[0] : 0;
  cut.shape[0] = count;
  const auto begin = tensor.data.begin() + first * row_bytes;
  cut.data.assign(begin, begin + count * row_bytes);
  return cut;
}

LaunchJob::LaunchJob(const StepRecord& step, const ModelShape& model, const LayerRecord& layer,
                     const Pool* pool, const RowWindow& window, const DeviceTraits& traits)
    : inputs_{.step = &step, .model = &model, .q = &layer.q, .k = &layer.k, .v = &layer.v, .pool = pool} {
  if (window == whole_batch(step)) return;
  step_ = launched_step(step, {});
  inputs_.step = &step_;
  q_ = cut_rows(layer.q, window.first_row, window.num_rows);
  inputs_.q = &q_;
  is_decode(step.path) ? cut_decode(window, traits) : cut_prefill(window);
}

/// Rows [r0, r1) of a sequence under a bottom-right mask see what the whole sequence lets them see when the
/// keys end where row r1 - 1 stops seeing: at cached + r1. A top-left mask is the bottom-right one of as many
/// keys as queries.
void LaunchJob::cut_prefill(const RowWindow& window) {
  const auto b = static_cast<std::size_t>(window.first_seq);
  const int r0 = window.first_row - step_.cu_seqlens_q[b], r1 = r0 + window.num_rows;
  const int keys = k_len(step_, b), first_key = step_.cu_seqlens_k[b];
  const int cached = step_.config.mask_alignment == MaskAlignment::top_left ? 0 : keys - q_len(step_, b);
  int window_keys = keys;
  if (step_.config.mask_alignment != MaskAlignment::none) {
    window_keys = std::clamp(cached + r1, 0, keys);
    const bool see_all = cached + r0 >= keys;  // only under top-left, behind the last key
    step_.config.mask_alignment = see_all ? MaskAlignment::none : MaskAlignment::bottom_right;
  }
  step_.num_scheduled = 1;
  step_.cu_seqlens_q = {0, window.num_rows};
  step_.cu_seqlens_k = {0, window_keys};
  step_.max_seqlen_q = window.num_rows;
  step_.max_seqlen_k = window_keys;
  inputs_.probe_columns = keys;
  if (step_.block_tables) step_.block_tables = {{(*step_.block_tables)[b]}};
  if (reads_cache(step_.path)) return;
  k_ = cut_rows(*inputs_.k, first_key, window_keys);
  v_ = cut_rows(*inputs_.v, first_key, window_keys);
  inputs_.k = &k_;
  inputs_.v = &v_;
}

/// The longest length stays the whole batch's (pads are attended up to it), and so do the splits, which a
/// plan would choose by the number of sequences.
void LaunchJob::cut_decode(const RowWindow& window, const DeviceTraits& traits) {
  step_.config.num_splits = plan_decode(decode_shape(step_, *inputs_.model), traits).num_splits;
  const auto first = static_cast<std::size_t>(window.first_seq),
             count = static_cast<std::size_t>(window.num_seqs);
  StepRecord cut = launched_step(step_, {});
  cut.num_scheduled = window.num_seqs;
  cut.cu_seqlens_q.assign(1, 0);
  cut.cu_seqlens_k.assign(1, 0);
  cut.block_tables->clear();
  for (std::size_t b = first; b < first + count; ++b) {
    cut.cu_seqlens_q.push_back(static_cast<std::int32_t>(b - first + 1));
    cut.cu_seqlens_k.push_back(cut.cu_seqlens_k.back() + k_len(step_, b));
    cut.block_tables->push_back((*step_.block_tables)[b]);
  }
  step_ = std::move(cut);
}

}  // namespace attn::trace
