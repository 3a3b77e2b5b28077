#include "core/trace/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/launch_job.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

std::string_view path_text(AttentionPath path) {
  switch (path) {
    case AttentionPath::identity:
      return "identity (o = q)";
    case AttentionPath::prefill_packed:
      return "packed";
    case AttentionPath::prefill_paged:
    case AttentionPath::decode_paged:
      return "paged";
    case AttentionPath::prefill_gather_flatten:
      return "gather + flatten";
    case AttentionPath::decode_gather_masked:
      return "gather, masked by length";
    case AttentionPath::decode_gather_padded:
      return "gather + zero padding";
  }
  return "";
}

std::string_view mask_text(MaskAlignment mask) {
  if (mask == MaskAlignment::bottom_right) return "bottom-right mask";
  return mask == MaskAlignment::top_left ? "top-left mask" : "no mask";
}

bool in_decode(const StepRecord& step) {
  return step.path == AttentionPath::identity ? step.kind == StepKind::decode : is_decode(step.path);
}

std::vector<AttentionPath> paths_of(const StepRecord& step) {
  if (in_decode(step)) {
    return {AttentionPath::decode_paged, AttentionPath::decode_gather_masked,
            AttentionPath::decode_gather_padded};
  }
  return {AttentionPath::prefill_packed, AttentionPath::prefill_paged, AttentionPath::prefill_gather_flatten};
}

/// Tiles worth trying beside the one that ran: a fraction of the plan's, so that a row of any length has
/// more.
std::vector<int> tiles_of(const StepRecord& step, const ModelShape& model, const DeviceTraits& device) {
  std::vector<int> tiles;
  const int ran = planned_grid(step, model, 0, -1).k_tile;
  for (const int tile : {4, 16, 64}) {
    if (tile != ran && why_not({.k_tile = tile}, step, model, device).empty()) tiles.push_back(tile);
  }
  return tiles;
}

}  // namespace

std::string variant_text(const Variant& variant, const StepRecord& step, const ModelShape& model,
                         const DeviceTraits& device) {
  const StepRecord launched = launched_step(step, variant);
  std::string text = variant.as_recorded() ? "as recorded: " : "";
  text += path_text(launched.path);
  if (launched.path == AttentionPath::identity || launched.num_scheduled == 0) return text;
  const EngineConfig& config = launched.config;
  const bool decode = is_decode(launched.path);
  const int asked = decode ? config.decode_level : config.prefill_level;
  const int level = launched_level(launched, model, device);
  text += fmt::format(", level {}", level);
  if (level != asked) text += fmt::format(" (not {})", asked);
  if (level == 1) text += ", one tile";
  const MaskAlignment mask = launched_mask(launched);
  if (mask != (decode ? MaskAlignment::none : MaskAlignment::bottom_right) || variant.mask) {
    text += fmt::format(", {}", mask_text(mask));
  }
  if (config.head_map != HeadMap::grouped || variant.head_map) {
    text += config.head_map == HeadMap::grouped ? ", head h / group" : ", head h % Hkv";
  }
  if (level > 1 && config.k_tile != 0) text += fmt::format(", {} keys per tile", config.k_tile);
  if (decode && level > 1 && config.num_splits != 0) {
    text += fmt::format(", {} split{}", config.num_splits, config.num_splits == 1 ? "" : "s");
  }
  return text;
}

std::vector<Variant> variants_of(const StepRecord& step, const ModelShape& model,
                                 const DeviceTraits& device) {
  std::vector<Variant> variants{{}};
  if (step.num_scheduled == 0) return variants;
  const auto offer = [&](const Variant& variant) {
    if (why_not(variant, step, model, device).empty()) variants.push_back(variant);
  };
  for (const AttentionPath path : paths_of(step)) {
    if (path != step.path) offer({.path = path});
  }
  if (step.path == AttentionPath::identity) return variants;
  const bool decode = in_decode(step);
  const StepRecord launched = launched_step(step, {});
  const int level = launched_level(launched, model, device);
  for (const int other : levels_of(launched, model, device)) {
    if (other != level) offer({.level = other});
  }
  for (const MaskAlignment mask :
       {MaskAlignment::bottom_right, MaskAlignment::top_left, MaskAlignment::none}) {
    const bool same = decode && mask == MaskAlignment::none;  // one query: as bottom-right
    if (!same && mask != step.config.mask_alignment) offer({.mask = mask});
  }
  if (model.num_heads != model.num_kv_heads) {
    const bool grouped = step.config.head_map == HeadMap::grouped;
    offer({.head_map = grouped ? HeadMap::modulo : HeadMap::grouped});
  }
  if (level == 1) return variants;
  for (const int tile : tiles_of(step, model, device)) offer({.k_tile = tile});
  for (const int splits : {1, 2, 4}) {
    if (decode && splits != step.config.num_splits) offer({.num_splits = splits});
  }
  return variants;
}

std::pair<Variant, Variant> first_comparison(const StepRecord& step, const ModelShape& model,
                                             const DeviceTraits& device) {
  const bool padded = step.path == AttentionPath::decode_gather_padded;
  Variant other{.path = padded ? AttentionPath::decode_paged : AttentionPath::decode_gather_padded};
  if (!in_decode(step)) other = {.level = step.config.prefill_level == 1 ? 2 : 1};
  if (step.num_scheduled > 0 && !why_not(other, step, model, device).empty()) {
    const std::vector<Variant> variants = variants_of(step, model, device);
    other = variants.size() > 1 ? variants[1] : Variant{};
  }
  return {{}, other};
}

CompareView compare_sides(const CompareSide& a, const TensorRecord& o_a, const CompareSide& b,
                          const TensorRecord& o_b) {
  CompareView compare;
  compare.a = a;
  compare.b = b;
  const std::vector<float> left = to_floats(o_a), right = to_floats(o_b);
  const AttentionView& view = *a.view;
  const auto rows = static_cast<std::size_t>(view.num_q), heads = static_cast<std::size_t>(view.num_heads);
  const std::size_t width = rows * heads == 0 ? 0 : left.size() / (rows * heads);
  ATTN_CHECK(left.size() == right.size(), "outputs of {} and {} values", left.size(), right.size());
  compare.max_abs_diff_o.assign(heads * rows, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t head = 0; head < heads; ++head) {
      float& largest = compare.max_abs_diff_o[head * rows + row];
      for (std::size_t i = (row * heads + head) * width; i < (row * heads + head + 1) * width; ++i) {
        const float difference = std::abs(left[i] - right[i]);
        if (!(difference <= largest)) largest = difference;
        if (std::isnan(largest)) break;
      }
      if (!(largest > compare.worst)) continue;
      compare.worst = largest;
      compare.worst_head = static_cast<int>(head);
      compare.worst_row = view.first_row + static_cast<int>(row);
    }
  }
  return compare;
}

}  // namespace attn::trace
