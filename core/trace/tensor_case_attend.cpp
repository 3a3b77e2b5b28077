#include <algorithm>
#include <cmath>
#include <set>

#include "core/trace/attention_launch.h"
#include "core/trace/input_check.h"
#include "core/trace/names.h"
#include "core/trace/record_check.h"
#include "core/trace/state_hash.h"
#include "core/trace/tensor_case.h"
#include "core/trace/tensor_values.h"
#include "core/trace/trace_file.h"
#include "kernels/common/tiles.h"

namespace attn::trace {
namespace {

using Ints = std::vector<std::int32_t>;

AttentionPath choose_path(const TensorCase& tensors, const AttendOptions& options) {
  const bool prefill = options.op == AttendOp::prefill;
  const std::string short_name = !options.path.empty()  ? options.path
                                 : prefill && tensors.k ? "packed"
                                                        : "paged";
  const auto path = from_name<AttentionPath>((prefill ? "prefill_" : "decode_") + short_name);
  ATTN_INPUT(path.has_value(), "--path {} does not exist for {}; choose {}", short_name,
             prefill ? "prefill" : "decode",
             prefill ? "packed, paged or gather_flatten" : "paged, gather_masked or gather_padded");
  return *path;
}

MaskAlignment choose_mask(const std::string& name) {
  if (name.empty()) return MaskAlignment::bottom_right;
  const auto mask = from_name<MaskAlignment>(name);
  ATTN_INPUT(mask.has_value(), "--mask {} does not exist; choose {}", name, all_names<MaskAlignment>());
  return *mask;
}

/// Turns a case into the record that an engine's step would have left.
class RecordBuilder {
 public:
  RecordBuilder(const TensorCase& tensors, const AttendOptions& options) : case_(tensors), options_(options) {
    r_.path = choose_path(case_, options_);
  }

  std::shared_ptr<StepRecord> build() {
    r_.step = 1;
    r_.kind = options_.op == AttendOp::prefill ? StepKind::prefill : StepKind::decode;
    r_.config.mask_alignment = choose_mask(options_.mask);
    const int levels = options_.op == AttendOp::prefill ? kPrefillLevels : kDecodeLevels;
    ATTN_INPUT(options_.level >= 1 && options_.level <= levels,
               "--level {} does not exist; choose 1 (naive), 2 (tiled) and so on up to {}", options_.level,
               levels);
    r_.config.prefill_level = options_.level;
    r_.config.decode_level = std::min(options_.level, kDecodeLevels);
    fill_tiles();
    fill_lengths();
    reads_cache(r_.path) ? fill_tables() : check_packed();
    fill_pool();
    fill_sequences();
    fill_layer();
    r_.state_hash = state_hash(r_);
    return std::make_shared<StepRecord>(std::move(r_));
  }

 private:
  std::size_t batch() const { return static_cast<std::size_t>(r_.num_scheduled); }
  int q_len(std::size_t b) const { return r_.cu_seqlens_q[b + 1] - r_.cu_seqlens_q[b]; }

  void fill_tiles() {
    const auto head_dim = static_cast<int>(case_.q.shape.back());
    ATTN_INPUT(options_.k_tile >= 0 && options_.k_tile <= max_k_tile(head_dim),
               "k_tile {} does not exist for head_dim {}; choose 1 to {}, or 0 for the plan's own",
               options_.k_tile, head_dim, max_k_tile(head_dim));
    r_.config.k_tile = options_.k_tile;
    r_.config.num_splits = options_.num_splits;
  }

  void fill_lengths() {
    const auto num_q = static_cast<std::int32_t>(case_.q.shape[0]);
    if (options_.op == AttendOp::prefill) {
      ATTN_INPUT(
          case_.cu_seqlens_q && case_.cu_seqlens_k,
          "prefill needs 'cu_seqlens_q' and 'cu_seqlens_k'; for one query per sequence use --op decode");
      r_.cu_seqlens_q = *case_.cu_seqlens_q;
      r_.cu_seqlens_k = *case_.cu_seqlens_k;
      ATTN_INPUT(
          r_.cu_seqlens_q.size() == r_.cu_seqlens_k.size(),
          "cu_seqlens_q has {} entries but cu_seqlens_k has {}; both need one more than there are sequences",
          r_.cu_seqlens_q.size(), r_.cu_seqlens_k.size());
      ATTN_INPUT(r_.cu_seqlens_q.back() == num_q, "cu_seqlens_q ends with {} but q has {} rows",
                 r_.cu_seqlens_q.back(), num_q);
    } else {
      ATTN_INPUT(case_.context_lens.has_value(),
                 "decode needs 'context_lens', the number of keys of each sequence");
      ATTN_INPUT(static_cast<std::int32_t>(case_.context_lens->size()) == num_q,
                 "context_lens has {} entries but q has {} rows; decode takes one query per sequence",
                 case_.context_lens->size(), num_q);
      r_.context_lens = case_.context_lens;
      r_.cu_seqlens_q = r_.cu_seqlens_k = {0};
      for (const std::int32_t length : *r_.context_lens) {
        const std::int64_t end = static_cast<std::int64_t>(r_.cu_seqlens_k.back()) + length;
        ATTN_INPUT(end <= INT32_MAX, "context_lens add up to more than {}", INT32_MAX);
        r_.cu_seqlens_k.push_back(static_cast<std::int32_t>(end));
        r_.cu_seqlens_q.push_back(r_.cu_seqlens_q.back() + 1);
      }
    }
    r_.num_scheduled = static_cast<int>(r_.cu_seqlens_q.size()) - 1;
    for (std::size_t b = 0; b < batch(); ++b) {
      r_.max_seqlen_q = std::max(r_.max_seqlen_q, q_len(b));
      r_.max_seqlen_k = std::max(r_.max_seqlen_k, k_len(r_, b));
    }
  }

  void check_packed() const {
    ATTN_INPUT(case_.k.has_value(), "path packed needs 'k' and 'v'; with a cache use --path paged");
    ATTN_INPUT(r_.cu_seqlens_k.back() == case_.k->shape[0], "cu_seqlens_k ends with {} but k has {} rows",
               r_.cu_seqlens_k.back(), case_.k->shape[0]);
  }

  /// Every block that a length needs must be named and exist; what lies beyond is never read.
  void fill_tables() {
    ATTN_INPUT(case_.k_cache && case_.block_tables, "path {} needs 'k_cache', 'v_cache' and 'block_tables'",
               name_of(r_.path));
    r_.block_tables = case_.block_tables;
    r_.paged = true;
    const std::int64_t num_blocks = case_.k_cache->shape[0], block_size = case_.k_cache->shape[1];
    const std::string_view lengths = r_.context_lens ? "context_lens" : "cu_seqlens_k";
    ATTN_INPUT(r_.block_tables->size() == batch(), "block_tables has {} rows but {} describes {} sequences",
               r_.block_tables->size(), lengths, batch());
    for (std::size_t b = 0; b < batch(); ++b) {
      Ints& row = (*r_.block_tables)[b];
      const auto needed = static_cast<std::size_t>((k_len(r_, b) + block_size - 1) / block_size);
      ATTN_INPUT(needed <= row.size(),
                 "sequence {} has {} keys ({}), its block_tables row holds {} blocks of {}", b, k_len(r_, b),
                 lengths, row.size(), block_size);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i >= needed) {
          row[i] = -1;  // shown as padding, whatever the file has there
          continue;
        }
        ATTN_INPUT(row[i] >= 0 && row[i] < num_blocks,
                   "block_tables[{}][{}] is {}; {} keys need a block 0 to {} there", b, i, row[i],
                   k_len(r_, b), num_blocks - 1);
      }
    }
  }

  /// The blocks as the tables use them: ref_count is the number of tables. Nobody keeps a free list, and a
  /// packed case has no blocks at all.
  void fill_pool() {
    const bool cache = reads_cache(r_.path);
    r_.config.num_blocks = cache ? static_cast<int>(case_.k_cache->shape[0]) : 1;
    r_.config.block_size = cache ? static_cast<int>(case_.k_cache->shape[1]) : 1;
    if (!cache) return;
    r_.blocks.resize(static_cast<std::size_t>(r_.config.num_blocks));
    for (std::size_t i = 0; i < r_.blocks.size(); ++i) r_.blocks[i].id = static_cast<int>(i);
    for (std::size_t b = 0; b < batch(); ++b) {
      int left = k_len(r_, b);
      for (const std::int32_t id : (*r_.block_tables)[b]) {
        if (left <= 0) break;
        BlockState& block = r_.blocks[static_cast<std::size_t>(id)];
        ++block.ref_count;
        block.num_filled = std::max(block.num_filled, std::min(left, r_.config.block_size));
        left -= r_.config.block_size;
      }
    }
    if (case_.slot_mapping) r_.slot_mapping = *case_.slot_mapping;
  }

  /// There is no text: token ids are key positions, and their texts say so.
  void fill_sequences() {
    std::set<std::int32_t> named;
    for (std::size_t b = 0; b < batch(); ++b) {
      SeqState seq;
      seq.id = static_cast<int>(b);
      seq.status = SeqStatus::running;
      seq.num_tokens = k_len(r_, b);
      seq.num_scheduled_tokens = q_len(b);
      seq.num_cached_tokens = std::max(0, k_len(r_, b) - q_len(b));
      seq.num_prompt_tokens = options_.op == AttendOp::prefill ? seq.num_tokens : seq.num_cached_tokens;
      for (int i = 0; i < seq.num_tokens; ++i) seq.token_ids.push_back(i);
      if (r_.block_tables) {
        for (const std::int32_t id : (*r_.block_tables)[b]) {
          if (id >= 0) seq.block_table.push_back(id);
        }
      }
      for (int i = 0; i < q_len(b); ++i) {
        const int position = std::max(0, k_len(r_, b) - q_len(b) + i);
        r_.positions.push_back(position);
        r_.input_ids.push_back(position);
      }
      r_.seqs.push_back(std::move(seq));
    }
    r_.seqs_after = r_.seqs;
    for (int i = 0; i < std::max(r_.max_seqlen_k, r_.max_seqlen_q); ++i) {
      r_.token_texts.emplace_back(i, fmt::format("[{}]", i));
    }
  }

  void fill_layer() {
    LayerRecord& layer = r_.layers.emplace_back();
    layer.q = case_.q;
    if (!reads_cache(r_.path)) {
      layer.k = *case_.k;
      layer.v = *case_.v;
      return;
    }
    layer.k_cache = *case_.k_cache;
    layer.v_cache = *case_.v_cache;
    if (case_.k_new) {
      layer.k = *case_.k_new;
      layer.v = *case_.v_new;
    }
  }

  const TensorCase& case_;
  const AttendOptions& options_;
  StepRecord r_;
};

Manifest manifest_of(const TensorCase& tensors, const StepRecord& step, const Device& device) {
  const TensorRecord& keys = reads_cache(step.path) ? *tensors.k_cache : *tensors.k;
  Manifest manifest;
  manifest.scenario_name = tensors.name;
  manifest.model = {.name = tensors.name,
                    .architecture = kTensorArchitecture,
                    .num_layers = 1,
                    .num_heads = static_cast<int>(tensors.q.shape[1]),
                    .num_kv_heads = static_cast<int>(keys.shape[keys.shape.size() - 2]),
                    .head_dim = static_cast<int>(tensors.q.shape[2]),
                    .hidden_size = static_cast<int>(tensors.q.shape[1] * tensors.q.shape[2]),
                    .vocab_size = static_cast<int>(step.token_texts.size()),
                    .dtype = tensors.q.dtype,
                    .scale = tensors.scale};
  manifest.config = step.config;
  manifest.device = device.name();
  for (const SeqState& seq : step.seqs) manifest.request_labels.push_back(fmt::format("row {}", seq.id));
  return manifest;
}

/// The case's cache after the store kernel put the new rows in, if there are any.
Pool stored_pool(Device& device, const StepRecord& step, const ModelShape& model,
                 std::vector<LaunchEntry>& launches) {
  const LayerRecord& layer = step.layers.front();
  Pool pool;
  pool.kv = {step.config.num_blocks, step.config.block_size, model.num_kv_heads, model.head_dim};
  pool.dtype = model.dtype;
  pool.k = layer.k_cache.data;
  pool.v = layer.v_cache.data;
  if (step.slot_mapping.empty()) return pool;
  const auto upload = [&](const auto& values, std::string_view label) {
    Buffer buffer(device, values.size() * sizeof(values[0]), label);
    buffer.upload(values);
    return buffer;
  };
  const Buffer k = upload(layer.k.data, "k_new"), v = upload(layer.v.data, "v_new");
  const Buffer slots = upload(step.slot_mapping, "slot_mapping");
  const Buffer k_cache = upload(pool.k, "k_cache"), v_cache = upload(pool.v, "v_cache");
  LaunchLog log(device);
  device.kernels().store_kvcache({.dtype = model.dtype,
                                  .num_tokens = static_cast<int>(step.slot_mapping.size()),
                                  .kv = pool.kv,
                                  .k = k.as(),
                                  .v = v.as(),
                                  .slot_mapping = slots.as<std::int32_t>(),
                                  .k_cache = k_cache.as(),
                                  .v_cache = v_cache.as()},
                                 device.context());
  device.synchronize();
  pool.k = k_cache.download<std::byte>();
  pool.v = v_cache.download<std::byte>();
  for (LaunchRecord& record : log.records) launches.push_back({Stage::store_kvcache, 0, std::move(record)});
  return pool;
}

/// Probe weights with zeros where the mask hides the key, so that rows can be compared with a softmax.
TensorRecord visible_weights(const StepRecord& step, const AttentionView& view) {
  std::vector<float> weights = view.weights;
  for (std::size_t b = 0; b + 1 < step.cu_seqlens_q.size(); ++b) {
    const int q_len = step.cu_seqlens_q[b + 1] - step.cu_seqlens_q[b];
    for (int row = step.cu_seqlens_q[b]; row < step.cu_seqlens_q[b + 1]; ++row) {
      const int visible =
          visible_keys(step.config.mask_alignment, row - step.cu_seqlens_q[b], q_len, view.attended[b]);
      for (int head = 0; head < view.num_heads; ++head) {
        const std::size_t begin = (static_cast<std::size_t>(head) * view.num_q + row) * view.max_k;
        std::fill(weights.begin() + static_cast<std::ptrdiff_t>(begin + visible),
                  weights.begin() + static_cast<std::ptrdiff_t>(begin + view.max_k), 0.0F);
      }
    }
  }
  return float_tensor({view.num_heads, view.num_q, view.max_k}, weights);
}

ShapeNote shape_note(Stage stage, std::string name, const TensorRecord& tensor, std::string note) {
  return {stage, 0, std::move(name), std::string(dtype_name(tensor.dtype)), tensor.shape, std::move(note)};
}

void note_shapes(StepRecord& step) {
  const LayerRecord& layer = step.layers.front();
  step.shapes.push_back(shape_note(Stage::attention, "q", layer.q, ""));
  if (reads_cache(step.path)) {
    step.shapes.push_back(
        shape_note(Stage::attention, "k_cache", layer.k_cache, "read through block_tables"));
  } else {
    step.shapes.push_back(shape_note(Stage::attention, "k", layer.k, "packed"));
  }
  step.shapes.push_back(shape_note(Stage::attention, "o", layer.o, "one row per query"));
  step.shapes.push_back(shape_note(Stage::attention, "lse", layer.lse, "natural log"));
}

}  // namespace

AttendResult attend(Device& device, const TensorCase& tensors, const AttendOptions& options) {
  std::shared_ptr<StepRecord> step;
  try {
    step = RecordBuilder(tensors, options).build();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (tensor case '{}')", error.what(), tensors.name));
  }
  Manifest manifest = manifest_of(tensors, *step, device);
  if (!options.title.empty()) manifest.scenario_name = options.title;
  Pool pool;
  if (reads_cache(step->path)) pool = stored_pool(device, *step, manifest.model, step->launches);
  LayerRecord& layer = step->layers.front();
  AttentionOutputs out = launch_attention(device,
                                          {.step = step.get(),
                                           .model = &manifest.model,
                                           .q = &layer.q,
                                           .k = &layer.k,
                                           .v = &layer.v,
                                           .pool = &pool},
                                          options.weights);
  layer.o = out.o;
  layer.lse = out.lse;
  for (LaunchEntry& entry : out.launches) step->launches.push_back({entry.stage, 0, std::move(entry.launch)});
  note_shapes(*step);
  AttendResult result{std::move(out.o), std::move(out.lse), std::nullopt, nullptr};
  if (options.weights) result.weights = visible_weights(*step, out.view);
  auto recording = std::make_shared<Recording>(std::move(manifest));
  recording->append(std::move(step));
  result.store = std::move(recording);
  return result;
}

void write_attend_result(const std::filesystem::path& path, const AttendResult& result) {
  const auto view = [](const TensorRecord& tensor) {
    return TensorView{tensor_dtype(tensor.dtype), tensor.shape, tensor.data};
  };
  TensorMap tensors{{"o", view(result.o)}, {"lse", view(result.lse)}};
  if (result.weights) tensors["weights"] = view(*result.weights);
  write_safetensors(path, tensors);
}

}  // namespace attn::trace
