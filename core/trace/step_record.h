// What one engine step leaves behind: the spine of the program. The engine fills it, the trace file
// stores it, the viewer draws it. Field names are nano-vllm's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/config.h"
#include "kernels/common/dtype.h"
#include "kernels/common/launch.h"
#include "kernels/common/paged_kv.h"

namespace attn::trace {

enum class StepKind : std::uint8_t { warmup, prefill, decode };
enum class SeqStatus : std::uint8_t { waiting, running, finished };

/// In the order they run; qkv_rope .. out_mlp repeat per layer.
enum class Stage : std::uint8_t {
  schedule,
  prepare,
  qkv_rope,
  store_kvcache,
  gather,
  flatten,
  repeat,
  attention,
  out_mlp,
  lm_head,
  sample,
  commit
};

/// The way attention read its keys in this step.
enum class AttentionPath : std::uint8_t {
  identity,        // no context or no cache: output is q (warmup guard of the gather variant)
  prefill_packed,  // fresh packed k, v
  prefill_paged,   // cache through block_tables
  prefill_gather_flatten,
  decode_paged,
  decode_gather_masked,
  decode_gather_padded
};

struct SeqState {
  int id = 0;
  SeqStatus status = SeqStatus::waiting;
  int num_tokens = 0;
  int num_prompt_tokens = 0;
  int num_cached_tokens = 0;
  int num_scheduled_tokens = 0;  // 0 when not in this step
  std::vector<std::int32_t> block_table;
  std::vector<std::int32_t> token_ids;  // all known tokens, prompt first
  bool operator==(const SeqState&) const = default;
};

struct BlockState {
  int id = 0;
  int ref_count = 0;
  std::optional<std::uint64_t> hash;    // set once full and registered; kept while cached-free
  std::vector<std::int32_t> token_ids;  // tokens of a full block, as nano-vllm keeps them
  int num_filled = 0;                   // slots that hold computed K/V
  bool operator==(const BlockState&) const = default;
};

enum class EventKind : std::uint8_t {
  allocate,
  prefix_hit,
  share,
  free,
  evict,
  preempt,
  hash,
  reject,
  finish,
  admit,
  poison  // NaN in a recorded tensor or in the logits: something read what nobody wrote
};
struct Event {
  EventKind kind = EventKind::allocate;
  int seq_id = -1;
  int block_id = -1;
  std::string text;  // one plain sentence
  bool operator==(const Event&) const = default;
};

/// A tensor's values with its dtype; `data` is little-endian, row-major.
struct TensorRecord {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};

/// One line of the "how shapes change on the way" list, in order of execution.
struct ShapeNote {
  Stage stage = Stage::schedule;
  int layer = -1;     // -1: not in a layer
  std::string name;   // "q", "k_flat", "o", "slot_mapping", ...
  std::string dtype;  // "F32", "I32", ...
  std::vector<std::int64_t> shape;
  std::string note;  // "unsqueeze(1)", "zero-padded to max_len", or ""
};

struct LayerRecord {
  int layer = 0;
  TensorRecord q;    // [N, H, D] after norm and RoPE
  TensorRecord k;    // [N, Hkv, D] the new rows, as stored
  TensorRecord v;    // [N, Hkv, D]
  TensorRecord o;    // [N, H, D]
  TensorRecord lse;  // F32 [H, N]
  // The whole cache before this step's store, [num_blocks, block_size, Hkv, D]; empty (no shape) unless the
  // contents came from outside the trace (a tensor case), for no earlier step then explains them.
  TensorRecord k_cache;
  TensorRecord v_cache;
};

struct Sampled {
  int seq_id = 0;
  std::int32_t token_id = 0;
  std::string text;        // token as text; invalid UTF-8 bytes as <0xE4>
  bool discarded = false;  // chunk not finished: nano-vllm throws the sample away
  std::vector<std::pair<std::int32_t, float>> top_logits;  // best first
};

struct Rejected {
  int id = 0;
  std::string reason;
};

struct LaunchEntry {
  Stage stage = Stage::schedule;
  int layer = -1;
  LaunchRecord launch;
};

/// The decode step as the engine handed it to a captured graph (switch cuda_graphs). The arrays are the
/// graph's static inputs when it was replayed: rows from `fresh_rows` on are padding (slot -1, context_len 0;
/// their input_ids, positions and tables are left over from earlier steps), and so are the columns of
/// block_tables from `fresh_columns` on.
struct GraphRecord {
  int bucket = 0;                          // rows of the graph; 0: no graph fits and the step ran eagerly
  std::string eager_reason;                // why, when bucket is 0
  std::vector<int> buckets;                // sizes captured, ascending
  bool skips_cache_ops = false;            // captured without store_kvcache and attention
  int fresh_rows = 0;                      // sequences of this step
  int fresh_columns = 0;                   // columns of block_tables that this step wrote
  std::vector<std::int32_t> input_ids;     // [bucket]
  std::vector<std::int32_t> positions;     // [bucket]
  std::vector<std::int32_t> slot_mapping;  // [bucket]
  std::vector<std::int32_t> context_lens;  // [bucket]
  std::vector<std::vector<std::int32_t>> block_tables;  // [bucket][ceil(max_model_len / block_size)]
  float max_abs_o_padding = 0.0F;  // over the padding rows of the recorded layers; NaN if one of them is NaN
  bool operator==(const GraphRecord&) const = default;
};

/// `seqs`, tables and cu_seqlens are as they were when the step ran; pool, free list and hash map as
/// they are after commit.
struct StepRecord {
  int step = 0;  // 1-based; warmup is 0
  StepKind kind = StepKind::prefill;
  AttentionPath path = AttentionPath::prefill_packed;
  EngineConfig config;               // switches in force
  std::vector<SeqState> seqs;        // every sequence alive, scheduled ones first and in batch order
  int num_scheduled = 0;             // the first num_scheduled of seqs run in this step
  std::vector<SeqState> seqs_after;  // the same sequences after commit

  std::vector<std::int32_t> cu_seqlens_q;  // [B+1]; decode: 0..B
  std::vector<std::int32_t> cu_seqlens_k;
  int max_seqlen_q = 0;
  int max_seqlen_k = 0;
  std::optional<std::vector<std::int32_t>> context_lens;               // [B], decode only
  std::optional<std::vector<std::vector<std::int32_t>>> block_tables;  // [B][width], -1 padded
  std::vector<std::int32_t> slot_mapping;                              // [N]
  std::vector<std::int32_t> input_ids;                                 // [N]
  std::vector<std::int32_t> positions;                                 // [N]
  bool paged = false;                                                  // block_tables passed
  bool stored = true;  // false: slot_mapping was prepared but no store_kvcache ran (graph without cache ops)
  std::optional<GraphRecord> graph;  // decode steps under cuda_graphs

  std::vector<std::int32_t> free_blocks;                              // head (next to be taken) first
  std::vector<std::pair<std::uint64_t, std::int32_t>> hash_to_block;  // sorted by hash
  std::vector<BlockState> blocks;                                     // by id

  std::vector<Event> events;
  std::vector<int> preempted;  // ids
  std::vector<Rejected> rejected;
  std::vector<Sampled> sampled;  // batch order
  std::vector<int> finished;     // ids

  std::vector<ShapeNote> shapes;
  std::vector<LaunchEntry> launches;
  std::vector<LayerRecord> layers;                                // recorded layers
  std::vector<std::pair<std::int32_t, std::string>> token_texts;  // ids first seen in this step
  std::uint64_t state_hash = 0;  // over the bookkeeping after commit (trace/state_hash.h)
};

/// ModelShape::architecture of a tensor case.
inline constexpr const char* kTensorArchitecture = "tensors";

/// Shape of the model, enough to read a trace without the model.
struct ModelShape {
  std::string name;
  std::string architecture;  // "LlamaForCausalLM"
  int num_layers = 0;
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;
  int hidden_size = 0;
  int vocab_size = 0;
  DType dtype = DType::f32;
  std::optional<float> scale;  // softmax scale; nothing = 1 / sqrt(head_dim)
};

struct Manifest {
  std::string scenario_name;
  std::string scenario_json;  // as run, "" for a tensor case
  EngineConfig config;
  ModelShape model;
  std::string device;                       // Device::name()
  std::string build;                        // version and compiler
  std::vector<std::string> request_labels;  // by id: how the user named them, or the prompt's start
  /// A user's own tensors through one attention kernel: no engine, so no schedule, free queue or sample.
  bool is_tensor_case() const { return model.architecture == kTensorArchitecture; }
};

}  // namespace attn::trace
