// What one inspected launch runs on: the recorded step as a variant of it would have run, and of a large
// batch only a window of query rows, cut so that every row is computed exactly as in the whole.
#pragma once

#include "core/trace/attention_launch.h"
#include "core/trace/compare.h"
#include "core/trace/inspector.h"

namespace attn::trace {

/// Levels that the kernels have for this step's path, element type and head_dim, and that the device can run.
std::vector<int> levels_of(const StepRecord& step, const ModelShape& model, const DeviceTraits& device);

/// Why the step cannot run that variant there, as one sentence; "" when it can. The step itself ("as
/// recorded") always can.
std::string why_not(const Variant& variant, const StepRecord& step, const ModelShape& model,
                    const DeviceTraits& device);

/// The step as the variant runs it: batch arrays, path and switches, without tensors and bookkeeping.
/// PRECOND: why_not gave "".
StepRecord launched_step(const StepRecord& step, const Variant& variant);

/// Query rows to launch. Whole sequences in decode; a part of one sequence in prefill.
struct RowWindow {
  int first_seq = 0;  // of the batch
  int num_seqs = 0;
  int first_row = 0;  // packed
  int num_rows = 0;
  bool operator==(const RowWindow&) const = default;
};
/// All rows of the batch.
RowWindow whole_batch(const StepRecord& step);
/// All rows when the probe's buffers for them stay under `max_bytes`, else those around the focus: the batch
/// is cut into windows of the same size from the front of each sequence.
RowWindow choose_window(const StepRecord& step, const ModelShape& model, const Focus& focus,
                        double max_bytes);

/// Owns what is cut out of a step; whole batches are borrowed.
class LaunchJob {
 public:
  /// PRECOND: path is not identity; `step` (from launched_step), `layer` and `pool` outlive the job.
  LaunchJob(const StepRecord& step, const ModelShape& model, const LayerRecord& layer, const Pool* pool,
            const RowWindow& window, const DeviceTraits& traits);
  AttentionInputs inputs() const { return inputs_; }

 private:
  void cut_prefill(const RowWindow& window);
  void cut_decode(const RowWindow& window, const DeviceTraits& traits);
  StepRecord step_;
  TensorRecord q_, k_, v_;
  AttentionInputs inputs_;
};

/// What two launches on the same rows gave; index and layer are the caller's.
CompareView compare_sides(const CompareSide& a, const TensorRecord& o_a, const CompareSide& b,
                          const TensorRecord& o_b);

/// Rows [first, first + count) of a tensor whose first axis is rows.
TensorRecord cut_rows(const TensorRecord& tensor, std::int64_t first, std::int64_t count);

}  // namespace attn::trace
