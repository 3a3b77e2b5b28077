// Runs the model on one batch: embedding, every layer with its attention path, LM head, sampling. Owns the
// K/V pool.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/decode_graphs.h"
#include "core/engine/sequence.h"
#include "core/engine/step_at.h"

namespace attn {

class ModelRunner {
 public:
  ModelRunner(Device& device, Transformer& transformer, const EngineConfig& config);

  /// After warmup, as nano-vllm: until then attention has no cache to store to or read from. Memory starts
  /// poisoned (NaN), so a read of a slot nobody wrote shows. Under cuda_graphs the decode graphs are captured
  /// then. Throws DeviceError when the pool does not fit.
  void allocate_kv_cache();
  bool has_kv_cache() const { return !k_cache_.empty(); }

  /// Whether samples carry their best logits. Off, logits stay on the device, and only token ids come back.
  void record_logits(bool on) { record_logits_ = on; }

  /// Told what a step is at; null: nobody.
  void watch(StepWatch watch) { watch_ = std::move(watch); }

  /// `record` has kind, path and the prepare_* arrays; shapes, launches and layers are added to it. Returns
  /// one sample per sequence (also for an unfinished chunk) with its best logits; text is left empty.
  /// Throws Stopped when the device was told to stop: the same step can then be run again.
  std::vector<trace::Sampled> run(const std::vector<SequencePtr>& seqs, trace::StepRecord& record);

 private:
  std::vector<trace::Sampled> forward(const std::vector<SequencePtr>& seqs, trace::StepRecord& record,
                                      StageLog& log);
  void note_inputs(const trace::StepRecord& record, StageLog& log) const;
  void run_eagerly(trace::StepRecord& record, StageLog& log);
  std::vector<KvLayer> cache() const;  // per layer; null before the pool exists
  std::vector<trace::Sampled> sampled(const std::vector<SequencePtr>& seqs, const std::int32_t* token_ids,
                                      const float* logits) const;
  std::vector<trace::Sampled> sample(const std::vector<SequencePtr>& seqs, const float* logits,
                                     StageLog& log);

  Device& device_;
  Transformer& transformer_;
  EngineConfig config_;
  AttentionPaths paths_;
  bool record_logits_ = true;
  StepWatch watch_;
  std::vector<Buffer> k_cache_;  // per layer, T [num_blocks, block_size, Hkv, D]
  std::vector<Buffer> v_cache_;
  std::unique_ptr<DecodeGraphs> graphs_;  // null: every step runs eagerly
  Scratch temperature_, top_k_, top_p_, counter_, token_ids_;
};

}  // namespace attn
