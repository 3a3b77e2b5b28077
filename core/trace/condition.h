// What a run can stop at: break points and "run to". A menu, not a language.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/trace/attention_view.h"
#include "core/trace/step_record.h"

namespace attn::trace {

enum class ConditionKind : std::uint8_t {
  block_written,      // block a gets a slot written; any block when a = -1
  ref_count_changes,  // of block a; of any block when a = -1
  block_allocated,
  preemption,
  eviction,  // a cached-free block is taken and loses its hash
  prefix_hit,
  rescale,      // alpha < 1 in some tile behind the first of its row
  stolen_mass,  // more than x (0 .. 1) of some row's mass lies on zero pads
  nan_or_inf,   // in o, LSE or logits of the step
  error_above,  // inspected o against the recorded one above x
  wrong_above,  // recorded o against that of the same run with nothing broken above x
  token_equals  // token id a is sampled
};

struct Condition {
  ConditionKind kind = ConditionKind::preemption;
  int a = -1;
  double x = 0.0;
  bool operator==(const Condition&) const = default;
};

/// "block 3 is written", "stolen mass above 5 %".
std::string condition_text(const Condition& condition);
/// Whether the kind can only be answered from an AttentionView (the kernel launched again with its probe).
bool needs_attention(ConditionKind kind);
/// Whether the kind needs the same step of the run with nothing broken.
bool needs_right_run(ConditionKind kind);

/// Where in a step the condition holds; -1 = the step as a whole.
struct ConditionHit {
  int head = -1;
  int q_row = -1;  // packed row of the batch
  int tile = -1;
  int block = -1;
  std::string text;  // "block 3: ref_count 1 -> 2"
};

/// Nothing when it does not hold. `previous` is the step before (null at the first). `attention` is needed
/// only for needs_attention kinds and is one layer's, `right` only for needs_right_run kinds; null then means
/// "not known" and gives nothing.
std::optional<ConditionHit> check_condition(const Condition& condition, const StepRecord& step,
                                            const StepRecord* previous, const AttentionView* attention,
                                            const StepRecord* right = nullptr);

}  // namespace attn::trace
