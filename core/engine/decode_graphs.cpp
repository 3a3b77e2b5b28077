#include "core/engine/decode_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/attention_launch.h"
#include "core/trace/names.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"

namespace attn {

using trace::AttentionPath;
using trace::GraphRecord;
using trace::Stage;
using trace::StepRecord;

namespace {

constexpr int kLargestBucket = 512;

/// A decode step of `rows` sequences, as far as launches need to know it.
StepRecord sizes_of(const EngineConfig& config, int rows) {
  StepRecord record;
  record.kind = trace::StepKind::decode;
  record.config = config;
  record.path = config.graph_skip_cache_ops ? AttentionPath::identity : AttentionPath::decode_paged;
  record.num_scheduled = rows;
  record.max_seqlen_q = 1;
  record.max_seqlen_k = config.max_model_len;
  record.cu_seqlens_k = {0};  // how many keys there will be is not known
  return record;
}

}  // namespace

std::vector<int> graph_buckets(int max_num_seqs) {
  const int most = std::min(max_num_seqs, kLargestBucket);
  std::vector<int> sizes;
  for (const int size : {1, 2, 4, 8}) {
    if (size <= most) sizes.push_back(size);
  }
  for (int size = 16; size <= most; size += 16) sizes.push_back(size);
  return sizes;
}

DecodeGraphs::DecodeGraphs(Device& device, const Transformer& transformer, const EngineConfig& config,
                           std::vector<KvLayer> cache)
    : device_(device),
      config_(config),
      cache_(config.graph_skip_cache_ops ? std::vector<KvLayer>(cache.size()) : std::move(cache)),
      transformer_(transformer.with_own_activations()),
      paths_(device, transformer.config(), config),
      table_width_((config.max_model_len + config.block_size - 1) / config.block_size) {
  // The gather paths read every length on the host to size their dense tensors, which no graph can hold.
  if (config_.decode_path != DecodePath::paged && !config_.graph_skip_cache_ops) return;
  std::vector<int> sizes = graph_buckets(config_.max_num_seqs);
  allocate_inputs();
  allocate_taps();
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) capture(*size);
  std::ranges::reverse(captured_);
}

void DecodeGraphs::allocate_inputs() {
  const auto rows = static_cast<std::size_t>(graph_buckets(config_.max_num_seqs).back());
  const auto static_buffer = [&](const char* label, const std::vector<std::int32_t>& start) {
    Buffer buffer(device_, start.size() * sizeof(std::int32_t), label);
    buffer.upload(start);
    return buffer;
  };
  host_input_ids_.assign(rows, 0);
  host_positions_.assign(rows, 0);
  host_block_tables_.assign(rows, std::vector<std::int32_t>(static_cast<std::size_t>(table_width_), 0));
  input_ids_ = static_buffer("graph input_ids", host_input_ids_);
  positions_ = static_buffer("graph positions", host_positions_);
  slot_mapping_ = static_buffer("graph slot_mapping", std::vector<std::int32_t>(rows, -1));
  context_lens_ = static_buffer("graph context_lens", std::vector<std::int32_t>(rows, 0));
  block_tables_ = static_buffer("graph block_tables",
                                std::vector<std::int32_t>(rows * static_cast<std::size_t>(table_width_), 0));
}

void DecodeGraphs::allocate_taps() {
  const ModelConfig& model = transformer_->config();
  const int layers = config_.record_layers < 0 ? model.num_hidden_layers
                                               : std::min(config_.record_layers, model.num_hidden_layers);
  const auto rows = host_input_ids_.size();
  const auto heads = static_cast<std::size_t>(model.num_attention_heads);
  const auto row = static_cast<std::size_t>(model.head_dim) * dtype_size(model.dtype);
  const std::size_t q_bytes = rows * heads * row;
  const std::size_t kv_bytes = rows * static_cast<std::size_t>(model.num_key_value_heads) * row;
  for (int layer = 0; layer < layers; ++layer) {
    taps_.push_back({Buffer(device_, q_bytes, "graph q"), Buffer(device_, kv_bytes, "graph k"),
                     Buffer(device_, kv_bytes, "graph v"), Buffer(device_, q_bytes, "graph o"),
                     Buffer(device_, rows * heads * sizeof(float), "graph lse")});
  }
}

void DecodeGraphs::capture(int bucket) {
  StepRecord eager = sizes_of(config_, bucket);
  {
    // Once for real, as nano-vllm does: buffers reach their size and libraries load what they need.
    StageLog log(device_, eager);
    forward(eager, log);
    device_.synchronize();
  }
  StepRecord captured = sizes_of(config_, bucket);
  StageLog log(device_, captured);
  Capture capture(device_);
  forward(captured, log);
  captured_.push_back({.bucket = bucket,
                       .graph = capture.finish(),
                       .launches = std::move(eager.launches),
                       .shapes = std::move(eager.shapes)});
}

void DecodeGraphs::forward(const StepRecord& sizes, StageLog& log) {
  const int rows = sizes.num_scheduled;
  log.enter(Stage::prepare);
  paths_.begin(sizes, {.slot_mapping = slot_mapping_.as<std::int32_t>(),
                       .context_lens = context_lens_.as<std::int32_t>(),
                       .block_tables = block_tables_.as<std::int32_t>(),
                       .table_width = table_width_});
  transformer_->begin(input_ids_.as<std::int32_t>(), positions_.as<std::int32_t>(), rows);
  run_layers(*transformer_, paths_, cache_, rows, log,
             [&](int layer, const QkvView& qkv, const AttentionOutput& out) { tap(layer, rows, qkv, out); });
}

void DecodeGraphs::tap(int layer, int rows, const QkvView& qkv, const AttentionOutput& out) {
  if (static_cast<std::size_t>(layer) >= taps_.size()) return;
  const ModelConfig& model = transformer_->config();
  const Taps& taps = taps_[static_cast<std::size_t>(layer)];
  const auto row =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(model.head_dim) * dtype_size(model.dtype);
  const auto heads = static_cast<std::size_t>(model.num_attention_heads);
  const auto kv_heads = static_cast<std::size_t>(model.num_key_value_heads);
  device_.copy(taps.q.as(), qkv.q, heads * row);
  device_.copy(taps.k.as(), qkv.k, kv_heads * row);
  device_.copy(taps.v.as(), qkv.v, kv_heads * row);
  device_.copy(taps.o.as(), out.o, heads * row);
  if (out.lse) device_.copy(taps.lse.as(), out.lse, heads * static_cast<std::size_t>(rows) * sizeof(float));
}

const DecodeGraphs::Captured* DecodeGraphs::choose(const StepRecord& record,
                                                   std::string& eager_reason) const {
  if (!record.context_lens) {
    eager_reason = "decode gets no context (identity_decode)";
  } else if (captured_.empty()) {
    eager_reason = fmt::format("{} sizes its dense tensors by lengths read on the host, which no graph holds",
                               trace::name_of(config_.decode_path));
  } else {
    const auto fits = std::ranges::find_if(
        captured_, [&](const Captured& captured) { return captured.bucket >= record.num_scheduled; });
    if (fits != captured_.end()) return &*fits;
    eager_reason = fmt::format("{} sequences are more than the largest graph has rows", record.num_scheduled);
  }
  return nullptr;
}

/// nano-vllm's graph_vars: this step's rows over what the last steps left.
void DecodeGraphs::fill_inputs(const StepRecord& record, GraphRecord& graph) {
  const auto batch = static_cast<std::size_t>(record.num_scheduled);
  const auto rows = static_cast<std::size_t>(graph.bucket);
  const auto width = record.block_tables->front().size();
  ATTN_CHECK(width <= static_cast<std::size_t>(table_width_), "a block table of {} columns, max_model_len {}",
             width, config_.max_model_len);
  std::ranges::copy(record.input_ids, host_input_ids_.begin());
  std::ranges::copy(record.positions, host_positions_.begin());
  for (std::size_t b = 0; b < batch; ++b) {
    std::ranges::copy((*record.block_tables)[b], host_block_tables_[b].begin());
  }
  graph.fresh_rows = record.num_scheduled;
  graph.fresh_columns = static_cast<int>(width);
  graph.input_ids.assign(host_input_ids_.begin(), host_input_ids_.begin() + graph.bucket);
  graph.positions.assign(host_positions_.begin(), host_positions_.begin() + graph.bucket);
  graph.slot_mapping = record.slot_mapping;
  graph.slot_mapping.resize(rows, -1);
  graph.context_lens = *record.context_lens;
  graph.context_lens.resize(rows, 0);
  graph.block_tables.assign(host_block_tables_.begin(), host_block_tables_.begin() + graph.bucket);

  std::vector<std::int32_t> tables;
  for (const auto& row : graph.block_tables) tables.insert(tables.end(), row.begin(), row.end());
  input_ids_.upload(graph.input_ids);
  positions_.upload(graph.positions);
  slot_mapping_.upload(graph.slot_mapping);
  context_lens_.upload(graph.context_lens);
  block_tables_.upload(tables);
}

bool DecodeGraphs::replay(StepRecord& record, StageLog& log) {
  GraphRecord& graph = record.graph.emplace();
  for (const Captured& captured : captured_) graph.buckets.push_back(captured.bucket);
  const Captured* captured = choose(record, graph.eager_reason);
  if (!captured) return false;
  graph.bucket = captured->bucket;
  graph.skips_cache_ops = config_.graph_skip_cache_ops;
  if (graph.skips_cache_ops) {
    record.path = AttentionPath::identity;
    record.stored = false;
  }
  fill_inputs(record, graph);

  log.enter(Stage::prepare);  // what was launched before comes first
  trace::LaunchLog launches(device_);
  captured->graph->replay();
  transformer_->replayed(captured->bucket);
  ATTN_CHECK(launches.records.size() == captured->launches.size(), "a graph of {} launches ran {}",
             captured->launches.size(), launches.records.size());
  for (std::size_t i = 0; i < launches.records.size(); ++i) {
    const trace::LaunchEntry& as = captured->launches[i];
    record.launches.push_back({as.stage, as.layer, std::move(launches.records[i])});
  }
  record.shapes.insert(record.shapes.end(), captured->shapes.begin(), captured->shapes.end());
  read_layers(captured->bucket, record);
  return true;
}

void DecodeGraphs::read_layers(int bucket, StepRecord& record) {
  const bool has_lse = record.path != AttentionPath::identity;
  for (std::size_t l = 0; l < taps_.size(); ++l) {
    const Taps& taps = taps_[l];
    record.layers.push_back(read_layer(
        device_, transformer_->config(), static_cast<int>(l), {taps.q.as(), taps.k.as(), taps.v.as()},
        {.o = taps.o.as(), .lse = has_lse ? taps.lse.as<float>() : nullptr}, record.num_scheduled, bucket));
    note_padding(taps, bucket, record);
  }
}

/// What attention gave the rows that stand for no sequence.
void DecodeGraphs::note_padding(const Taps& taps, int bucket, StepRecord& record) {
  const ModelConfig& model = transformer_->config();
  const std::int64_t rows = bucket - record.num_scheduled;
  trace::TensorRecord o{model.dtype, {rows, model.num_attention_heads, model.head_dim}, {}};
  const auto row_bytes =
      static_cast<std::size_t>(o.shape[1]) * static_cast<std::size_t>(o.shape[2]) * dtype_size(model.dtype);
  o.data.resize(static_cast<std::size_t>(rows) * row_bytes);
  const auto first = static_cast<std::size_t>(record.num_scheduled) * row_bytes;
  device_.download(o.data.data(), taps.o.as<std::byte>() + first, o.data.size());
  float& largest = record.graph->max_abs_o_padding;
  for (const float value : trace::to_floats(o)) {
    if (std::isnan(largest)) return;
    if (!(std::abs(value) <= largest)) largest = std::abs(value);
  }
}

}  // namespace attn
