// Decode steps as captured graphs, as nano-vllm runs them when it does not enforce eager mode: one graph per
// batch size of a short list, captured before the first request, replayed with static input buffers.
//
// A graph repeats its launches with the arguments it was captured with. So everything that differs from step
// to step must reach the kernels through memory: a step writes its rows into the static buffers and leaves
// the rest as it was. Rows beyond the batch have slot -1 (store_kvcache skips them) and context_len 0 (they
// attend to nothing, o = 0); their input_ids, positions and block tables are stale and do no harm, nor do the
// columns of a block table beyond the context. The plan of the attention kernel is frozen too: it is made for
// max_model_len keys, so where it cuts the keys into other splits than the eager plan, results differ in the
// last bits.
//
// Differences from nano-vllm: capturing writes nothing to the cache (slot -1 instead of 0), sizes above
// max_num_seqs are left out, and a batch that no size holds runs eagerly instead of failing.
//
// Switch graph_skip_cache_ops is the gather variant's shortcut: its forward() asks whether the stream is
// capturing and if so skips store and attention over the cache. What the graph then holds is o = q, and
// every replay does that, with real requests too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine/layers.h"

namespace attn {

/// Batch sizes to capture, ascending: 1, 2, 4, 8, then multiples of 16, none above max_num_seqs or 512.
std::vector<int> graph_buckets(int max_num_seqs);

class DecodeGraphs {
 public:
  /// Captures one graph per bucket, largest first, so that all of them share the buffers of the first. None
  /// when decode gathers: those paths read lengths on the host, which a graph cannot hold; replay() says so.
  /// `cache` has an entry per layer and stays where it is. PRECOND: config.max_model_len > 0.
  DecodeGraphs(Device& device, const Transformer& transformer, const EngineConfig& config,
               std::vector<KvLayer> cache);

  /// Runs a decode step up to the last layer if a graph fits it, else returns false. Fills record.graph
  /// either way; after a replay also shapes, launches and layers, and, without cache operations, path and
  /// stored.
  bool replay(trace::StepRecord& record, StageLog& log);
  /// After a replay that was stopped half way.
  void reset_tickets() { paths_.reset_tickets(); }
  /// Holds the hidden states of the last replay, for the LM head.
  Transformer& transformer() { return *transformer_; }

 private:
  struct Captured {
    int bucket = 0;
    std::unique_ptr<Graph> graph;
    std::vector<trace::LaunchEntry> launches;  // stage and layer of each launch, in order
    std::vector<trace::ShapeNote> shapes;
  };
  /// One layer's tensors, copied out inside the graph: the next layer overwrites them.
  struct Taps {
    Buffer q, k, v, o, lse;
  };

  void allocate_inputs();
  void allocate_taps();
  void capture(int bucket);
  void forward(const trace::StepRecord& sizes, StageLog& log);
  void tap(int layer, int rows, const QkvView& qkv, const AttentionOutput& out);
  const Captured* choose(const trace::StepRecord& record, std::string& eager_reason) const;
  void fill_inputs(const trace::StepRecord& record, trace::GraphRecord& graph);
  void read_layers(int bucket, trace::StepRecord& record);
  void note_padding(const Taps& taps, int bucket, trace::StepRecord& record);

  Device& device_;
  EngineConfig config_;
  std::vector<KvLayer> cache_;
  std::unique_ptr<Transformer> transformer_;  // the engine's weights, own activations
  AttentionPaths paths_;
  int table_width_;

  // Static inputs, [largest bucket] each, and what they hold.
  Buffer input_ids_, positions_, slot_mapping_, context_lens_, block_tables_;
  std::vector<std::int32_t> host_input_ids_, host_positions_;
  std::vector<std::vector<std::int32_t>> host_block_tables_;  // [largest bucket][table_width]

  std::vector<Taps> taps_;          // of the recorded layers
  std::vector<Captured> captured_;  // ascending
};

}  // namespace attn
