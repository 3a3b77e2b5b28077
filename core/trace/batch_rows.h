// Rows of the packed batch: whose they are and which of them go on to the LM head; a step's record of a
// layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/trace/step_record.h"

namespace attn::trace {

/// Query rows of the sequence at place b of the batch.
inline int q_len(const StepRecord& step, std::size_t b) {
  return step.cu_seqlens_q[b + 1] - step.cu_seqlens_q[b];
}

/// The step's record of a layer; null where that layer was not recorded.
inline const LayerRecord* find_layer(const StepRecord& step, int layer) {
  const auto found = std::find_if(step.layers.begin(), step.layers.end(),
                                  [&](const LayerRecord& record) { return record.layer == layer; });
  return found == step.layers.end() ? nullptr : &*found;
}

/// The last row of each sequence, which alone reaches the LM head.
inline std::vector<std::int32_t> lm_head_rows(const StepRecord& step) {
  std::vector<std::int32_t> rows;
  for (std::size_t b = 1; b < step.cu_seqlens_q.size(); ++b) rows.push_back(step.cu_seqlens_q[b] - 1);
  return rows;
}

/// The place in the batch of the sequence that a packed row belongs to; num_scheduled when there is no such
/// row.
inline std::size_t owner_of_row(const StepRecord& step, int row) {
  std::size_t b = 0;
  while (b + 1 < step.cu_seqlens_q.size() && step.cu_seqlens_q[b + 1] <= row) ++b;
  return row < 0 ? static_cast<std::size_t>(step.num_scheduled) : b;
}

}  // namespace attn::trace
