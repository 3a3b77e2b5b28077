// The text twin: what the window shows, as Markdown for a terminal, a screen reader or a diff.
#pragma once

#include <string>

#include "core/trace/attention_view.h"
#include "core/trace/store.h"

namespace attn::trace {

/// Scenario, model, device, number of steps and the store's note.
std::string describe_manifest(const Store& store);

/// One step with its numbers: batch, lengths, tables, slots, pool, samples, events. `index` counts in the
/// store.
std::string describe_step(const Store& store, int index);

/// One head of one layer: for each sequence of the batch the keys that its last query weighs most, with their
/// tokens, and for a padded decode the stolen mass next to its prediction. `view` is of step `index`.
std::string describe_attention(const Store& store, int index, const AttentionView& view, int head,
                               int top = 5);

/// Everything: the manifest, then every step.
std::string describe_trace(const Store& store);

}  // namespace attn::trace
