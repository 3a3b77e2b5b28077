#include "core/trace/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "core/trace/step_diff.h"
#include "core/trace/stolen_mass.h"
#include "core/trace/tensor_values.h"
#include "core/trace/tile_splits.h"

namespace attn::trace {
namespace {

using Hit = std::optional<ConditionHit>;

bool meant(int wanted, int id) { return wanted < 0 || wanted == id; }

Hit hit_of_block(int block, std::string text) {
  return ConditionHit{.block = block, .text = std::move(text)};
}

Hit block_written(int wanted, const StepRecord& step) {
  for (std::size_t row = 0; step.stored && row < step.slot_mapping.size(); ++row) {
    const int slot = step.slot_mapping[row];
    if (slot < 0 || !meant(wanted, slot / step.config.block_size)) continue;
    const int block = slot / step.config.block_size;
    return ConditionHit{.q_row = static_cast<int>(row),
                        .block = block,
                        .text = fmt::format("block {}: slot {} written by row {}", block, slot, row)};
  }
  return std::nullopt;
}

/// Before the first step every block is free.
Hit ref_count_changes(int wanted, const StepRecord& step, const StepRecord* previous) {
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    if (!meant(wanted, step.blocks[i].id)) continue;
    const int before = previous && i < previous->blocks.size() ? previous->blocks[i].ref_count : 0;
    const int after = step.blocks[i].ref_count;
    if (before == after) continue;
    return hit_of_block(step.blocks[i].id,
                        fmt::format("block {}: ref_count {} -> {}", step.blocks[i].id, before, after));
  }
  return std::nullopt;
}

Hit event(EventKind kind, int wanted, const StepRecord& step) {
  for (const Event& event : step.events) {
    if (event.kind == kind && meant(wanted, event.block_id)) return hit_of_block(event.block_id, event.text);
  }
  return std::nullopt;
}

Hit preemption(const StepRecord& step) {
  if (step.preempted.empty()) return std::nullopt;
  return ConditionHit{.text = fmt::format("sequence {} is preempted", step.preempted.front())};
}

/// Four decimals, or scientific where they would round a small one to nothing.
std::string alpha_text(float alpha) {
  return alpha != 0.0F && alpha < 0.001F ? fmt::format("{:.2e}", alpha) : fmt::format("{:.4f}", num(alpha));
}

/// The first tile of a row, or of a split of its keys, rescales nothing: there is nothing yet.
Hit rescale(const AttentionView& view) {
  for (int head = 0; head < view.num_heads; ++head) {
    for (int row = view.first_row; row < view.first_row + view.num_q; ++row) {
      for (int tile = 0; tile < view.num_tiles; ++tile) {
        const float alpha = view.tile_alpha[view.tile_at(head, row, tile)];
        if (begins_at(view, tile) || !(alpha < 1.0F)) continue;
        return ConditionHit{.head = head,
                            .q_row = row,
                            .tile = tile,
                            .text = fmt::format("head {}, row {}: tile {} rescales by {}", head, row, tile,
                                                alpha_text(alpha))};
      }
    }
  }
  return std::nullopt;
}

Hit stolen(double limit, const AttentionView& view) {
  if (view.path != AttentionPath::decode_gather_padded) return std::nullopt;
  for (int b = 0; b < static_cast<int>(view.k_lens.size()); ++b) {
    for (int head = 0; view.has_row(b) && head < view.num_heads; ++head) {
      const StolenMass mass = stolen_mass(view, b, head);
      if (mass.pads == 0 || !(mass.measured > limit)) continue;
      return ConditionHit{.head = head,
                          .q_row = b,
                          .text = fmt::format("head {}, row {}: {} pads took {:.1f} % of the mass", head, b,
                                              mass.pads, num(100.0 * mass.measured))};
    }
  }
  return std::nullopt;
}

/// LSE is -inf by right where a row sees no key.
bool is_bad(float value, bool lse) {
  return std::isnan(value) || (std::isinf(value) && !(lse && value < 0.0F));
}

Hit bad_value(const TensorRecord& tensor, bool lse, int layer) {
  if (tensor.shape.size() < 2) return std::nullopt;
  const std::vector<float> values = to_floats(tensor);
  const auto found =
      std::find_if(values.begin(), values.end(), [&](float value) { return is_bad(value, lse); });
  if (found == values.end()) return std::nullopt;
  const auto at = static_cast<std::int64_t>(found - values.begin());
  const std::int64_t inner = tensor.shape.back(), middle = tensor.shape[tensor.shape.size() - 2];
  // o is [N, H, D], lse [H, N].
  const auto head = static_cast<int>(lse ? at / inner : at / inner % middle);
  const auto row = static_cast<int>(lse ? at % inner : at / inner / middle);
  return ConditionHit{.head = head,
                      .q_row = row,
                      .text = fmt::format("{} of layer {}: {} in head {}, row {}", lse ? "lse" : "o", layer,
                                          num(*found), head, row)};
}

Hit nan_or_inf(const StepRecord& step) {
  for (const LayerRecord& layer : step.layers) {
    if (Hit hit = bad_value(layer.o, false, layer.layer)) return hit;
    if (Hit hit = bad_value(layer.lse, true, layer.layer)) return hit;
  }
  for (const Sampled& sample : step.sampled) {
    for (const auto& [token, logit] : sample.top_logits) {
      if (!is_bad(logit, false)) continue;
      return ConditionHit{
          .text = fmt::format("logit of token {} for sequence {}: {}", token, sample.seq_id, num(logit))};
    }
  }
  return std::nullopt;
}

Hit error_above(double limit, const AttentionView& view) {
  if (!(view.max_abs_diff_o > limit)) return std::nullopt;
  return ConditionHit{.text = fmt::format("layer {}: o differs from the recorded one by {:.3g}", view.layer,
                                          num(view.max_abs_diff_o))};
}

Hit wrong_above(double limit, const StepRecord& step, const StepRecord& right) {
  const StepDiff diff = diff_steps(right, step);
  for (std::size_t i = 0; i < diff.layers.size(); ++i) {
    const double by = diff.max_abs_diff_o[i];  // NaN: no rows in common
    if (by > limit)
      return ConditionHit{.text = fmt::format("layer {}: o is off by {:.3g}", diff.layers[i], num(by))};
  }
  return std::nullopt;
}

Hit token_equals(int wanted, const StepRecord& step) {
  for (const Sampled& sample : step.sampled) {
    if (sample.discarded || sample.token_id != wanted) continue;
    return ConditionHit{.text = fmt::format("token {} is sampled for sequence {}", wanted, sample.seq_id)};
  }
  return std::nullopt;
}

std::string block_text(int a) { return a < 0 ? "a block" : fmt::format("block {}", a); }

}  // namespace

std::string condition_text(const Condition& condition) {
  const std::string block = block_text(condition.a);
  switch (condition.kind) {
    case ConditionKind::block_written:
      return block + " is written";
    case ConditionKind::ref_count_changes:
      return "ref_count of " + block + " changes";
    case ConditionKind::block_allocated:
      return block + " is allocated";
    case ConditionKind::preemption:
      return "a sequence is preempted";
    case ConditionKind::eviction:
      return block + " is evicted";
    case ConditionKind::prefix_hit:
      return condition.a < 0 ? "a prefix hit" : fmt::format("a prefix hit on block {}", condition.a);
    case ConditionKind::rescale:
      return "a tile rescales (alpha < 1)";
    case ConditionKind::stolen_mass:
      return fmt::format("stolen mass above {:g} %", 100.0 * condition.x);
    case ConditionKind::nan_or_inf:
      return "NaN or Inf in o, lse or logits";
    case ConditionKind::error_above:
      return fmt::format("o differs from the record by more than {:g}", condition.x);
    case ConditionKind::wrong_above:
      return fmt::format("o differs from the right run by more than {:g}", condition.x);
    case ConditionKind::token_equals:
      return fmt::format("token {} is sampled", condition.a);
  }
  return "";
}

bool needs_attention(ConditionKind kind) {
  return kind == ConditionKind::rescale || kind == ConditionKind::stolen_mass ||
         kind == ConditionKind::error_above;
}

bool needs_right_run(ConditionKind kind) { return kind == ConditionKind::wrong_above; }

std::optional<ConditionHit> check_condition(const Condition& condition, const StepRecord& step,
                                            const StepRecord* previous, const AttentionView* attention,
                                            const StepRecord* right) {
  if (needs_attention(condition.kind) && !attention) return std::nullopt;
  if (needs_right_run(condition.kind) && !right) return std::nullopt;
  switch (condition.kind) {
    case ConditionKind::block_written:
      return block_written(condition.a, step);
    case ConditionKind::ref_count_changes:
      return ref_count_changes(condition.a, step, previous);
    case ConditionKind::block_allocated:
      return event(EventKind::allocate, condition.a, step);
    case ConditionKind::preemption:
      return preemption(step);
    case ConditionKind::eviction:
      return event(EventKind::evict, condition.a, step);
    case ConditionKind::prefix_hit:
      return event(EventKind::prefix_hit, condition.a, step);
    case ConditionKind::rescale:
      return rescale(*attention);
    case ConditionKind::stolen_mass:
      return stolen(condition.x, *attention);
    case ConditionKind::nan_or_inf:
      return nan_or_inf(step);
    case ConditionKind::error_above:
      return error_above(condition.x, *attention);
    case ConditionKind::wrong_above:
      return wrong_above(condition.x, step, *right);
    case ConditionKind::token_equals:
      return token_equals(condition.a, step);
  }
  return std::nullopt;
}

}  // namespace attn::trace
