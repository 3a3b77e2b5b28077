// One attention of one layer, launched from host data exactly as the engine launches it: cache paths read a
// rebuilt pool, gather paths run the gather (and flatten or repeat) kernels first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/attention_view.h"
#include "core/trace/launch_shape.h"
#include "core/trace/pool_history.h"
#include "core/trace/step_record.h"
#include "kernels/device.h"

namespace attn::trace {

/// What a launch needs; tensors are borrowed. N tokens, B sequences.
struct AttentionInputs {
  const StepRecord* step = nullptr;   // path, switches, cu_seqlens, tables, lengths
  const ModelShape* model = nullptr;  // heads, head_dim, dtype, scale
  const TensorRecord* q = nullptr;    // [N, H, D]
  const TensorRecord* k = nullptr;    // [Nk, Hkv, D] packed; prefill_packed only
  const TensorRecord* v = nullptr;    // [Nk, Hkv, D]
  const Pool* pool = nullptr;         // every path that reads the cache
  int probe_columns = 0;              // of scores and weights; 0 = max_seqlen_k, fewer is not enough
};

struct AttentionOutputs {
  TensorRecord o;    // [N, H, D]
  TensorRecord lse;  // F32 [H, N]
  std::vector<LaunchEntry> launches;
  int level = 0;       // that ran: the probe knows only levels 1 and 2
  AttentionView view;  // probe contents; without the probe only kernel, device, sizes and lse
};

/// Collects the launches of a device while it lives, then gives the device its own log back.
class LaunchLog {
 public:
  explicit LaunchLog(Device& device) : device_(device), previous_(device.context().log) {
    device.context().log = &records;
  }
  ~LaunchLog() { device_.context().log = previous_; }
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;

  std::vector<LaunchRecord> records;

 private:
  Device& device_;
  std::vector<LaunchRecord>* previous_;
};

/// PRECOND: the record passed check_record, path is not identity. Throws InputError when the probe's
/// buffers would be unreasonably large.
AttentionOutputs launch_attention(Device& device, const AttentionInputs& inputs, bool probe);
/// The records which that launch leaves (without a probe), from the same launchers; no kernel runs.
std::vector<LaunchEntry> attention_records(Device& device, const AttentionInputs& inputs);

/// K as the gather and flatten kernels hand it to attention: [cu_seqlens_k[B], Hkv, D], read from the pool
/// through the step's block tables. PRECOND: as above, and the step has block tables.
TensorRecord gathered_keys(Device& device, const AttentionInputs& inputs);

}  // namespace attn::trace
