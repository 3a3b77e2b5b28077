// What a decode step's CUDA graph was replayed on: the rows of its bucket, padding rows, stale columns.
#pragma once

#include <string>
#include <vector>

#include "core/trace/step_record.h"

namespace attn::viz {

/// One static input of the graph, as text.
struct GraphLine {
  std::string name;    // "graph slot_mapping"
  std::string shape;   // "[4]"
  std::string values;  // "9 28 | -1": real rows, a bar, padding rows
  std::string tip;     // the same in words
};

/// The bucket and why it was taken, then its static inputs; of a step that ran eagerly one line with the
/// reason. Empty when the step has no graph record (cuda_graphs off, or a prefill).
std::vector<GraphLine> graph_lines(const trace::StepRecord& step);

/// "CUDA graph of 4 rows", "eager: ..."; "" as above.
std::string graph_text(const trace::StepRecord& step);

}  // namespace attn::viz
