// The ways attention can reach its keys, whole: what nano-vllm does (packed, paged) and what the gather
// variant does instead (the two walkthroughs).
//
//   prefill, nothing cached   packed          q, k, v of the step as they are
//   prefill, cached prefix    paged           keys read through block_tables, lengths from cu_seqlens_k
//                             gather_flatten  cache -> dense [B, max_len] zero-padded -> packed, then as
//                             above
//   decode                    paged           keys read through block_tables, lengths from context_lens
//                             gather_masked   cache -> dense zero-padded (-> repeat_kv), pads left out
//                             gather_padded   the same, every column attended: P pads turn o into o * Z/(Z+P)
//   no cache or no context    identity        the gather variant's guard: o is q
//
// In all of them but identity the new rows of the whole batch are stored before any attention of the layer,
// so sequences of one batch may share blocks, and the masks hang from the bottom right.
#pragma once

#include <cstdint>

#include "core/engine/config.h"
#include "core/engine/scratch.h"
#include "core/engine/stage_log.h"
#include "core/model/transformer.h"
#include "core/trace/step_record.h"
#include "kernels/common/paged_kv.h"

namespace attn {

/// The model as records and launches describe it; its name is left empty.
trace::ModelShape shape_of(const ModelConfig& model);

/// The path of a step: `record` has kind, config and block_tables set.
trace::AttentionPath select_path(const trace::StepRecord& record);

/// One layer's cache, each T [num_blocks, block_size, Hkv, D]; null before the pool exists (warmup).
struct KvLayer {
  void* k_cache = nullptr;
  void* v_cache = nullptr;
};

/// Device arrays of a decode step.
struct StaticInputs {
  const std::int32_t* slot_mapping = nullptr;  // [B]
  const std::int32_t* context_lens = nullptr;  // [B]
  const std::int32_t* block_tables = nullptr;  // [B, table_width]
  int table_width = 0;
};

struct AttentionOutput {
  const void* o = nullptr;     // T [N, H, D]
  const float* lse = nullptr;  // [H, N]; null on the identity path, which computes none
};

/// Runs attention of one layer after the other for one step at a time; owns the buffers in between.
class AttentionPaths {
 public:
  AttentionPaths(Device& device, const ModelConfig& model, const EngineConfig& config);

  /// Uploads the step's arrays. `step` is read until the next begin().
  void begin(const trace::StepRecord& step);
  /// The same for decode with arrays that are on the device already and stay there: what a graph is captured
  /// with. `step` gives the sizes: num_scheduled, max_seqlen_k, path.
  void begin(const trace::StepRecord& step, const StaticInputs& inputs);
  /// Stores k and v, then attends along step.path. Valid until the next forward().
  AttentionOutput forward(int layer, const QkvView& qkv, const KvLayer& cache, StageLog& log);
  /// After a launch that was stopped half way.
  void reset_tickets();

 private:
  struct Keys {
    const void* k;
    const void* v;
    bool paged;
  };
  void store(const QkvView& qkv, const KvLayer& cache, StageLog& log);
  Keys gather(const KvLayer& cache, StageLog& log);  // [B, max_len, Hkv, D]
  Keys flatten(const Keys& dense, StageLog& log);    // [cu_seqlens_k[B], Hkv, D]
  Keys repeat(const Keys& dense, StageLog& log);     // [B, max_len, H, D]
  void prefill(const void* q, const Keys& keys, StageLog& log);
  void decode(const void* q, const Keys& keys, StageLog& log);
  std::uint32_t* tickets(int count);
  std::size_t kv_bytes(std::int64_t rows, int heads) const;

  Device& device_;
  trace::ModelShape shape_;
  DType dtype_;
  int num_heads_;
  int num_kv_heads_;
  int head_dim_;
  PagedKv kv_;

  const trace::StepRecord* step_ = nullptr;
  int layer_ = 0;
  int batch_ = 0;
  int num_tokens_ = 0;
  int table_width_ = 0;
  const std::int32_t* slot_mapping_ = nullptr;  // [N]
  const std::int32_t* cu_seqlens_q_ = nullptr;  // [B+1]
  const std::int32_t* cu_seqlens_k_ = nullptr;  // [B+1]
  const std::int32_t* seqlens_k_ = nullptr;     // [B]; in decode this is context_lens
  const std::int32_t* block_tables_ = nullptr;  // [B, table_width] or null

  Scratch slots_, cu_q_, cu_k_, lens_, tables_;
  Scratch k_dense_, v_dense_, k_flat_, v_flat_, k_repeated_, v_repeated_;
  Scratch o_, lse_, workspace_;
  Buffer tickets_;  // 0 between launches: level 3 of decode and 4 of prefill give them back
};

}  // namespace attn
