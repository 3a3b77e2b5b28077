#include "core/engine/model_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/engine/host_memory.h"
#include "core/trace/batch_rows.h"
#include "kernels/common/check.h"

namespace attn {

using trace::Stage;

namespace {

constexpr int kTopLogits = 5;
constexpr double kMiB = 1 << 20;

/// The `kTopLogits` best tokens of one row, best first; the lower id wins ties and NaN counts as -inf, as in
/// sampling.
std::vector<std::pair<std::int32_t, float>> best_logits(const float* row, int vocab) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(vocab));
  std::iota(ids.begin(), ids.end(), 0);
  const auto end = ids.begin() + std::min(kTopLogits, vocab);
  const auto rank = [row](int id) { return std::isnan(row[id]) ? -INFINITY : row[id]; };
  std::partial_sort(ids.begin(), end, ids.end(),
                    [rank](int a, int b) { return rank(a) != rank(b) ? rank(a) > rank(b) : a < b; });
  std::vector<std::pair<std::int32_t, float>> best;
  for (auto id = ids.begin(); id != end; ++id) best.emplace_back(*id, row[*id]);
  return best;
}

}  // namespace

ModelRunner::ModelRunner(Device& device, Transformer& transformer, const EngineConfig& config)
    : device_(device),
      transformer_(transformer),
      config_(config),
      paths_(device, transformer.config(), config),
      temperature_(device, "temperature"),
      top_k_(device, "top_k"),
      top_p_(device, "top_p"),
      counter_(device, "sample counter"),
      token_ids_(device, "token_ids") {}

void ModelRunner::allocate_kv_cache() {
  const ModelConfig& model = transformer_.config();
  const double slots = static_cast<double>(config_.num_blocks) * config_.block_size;
  const double bytes =
      slots * model.num_key_value_heads * model.head_dim * static_cast<double>(dtype_size(model.dtype));
  const double total = 2.0 * model.num_hidden_layers * bytes;
  const auto fail = [&](std::string_view why) {
    k_cache_.clear();
    v_cache_.clear();
    throw DeviceError(
        fmt::format("the K/V pool of {} blocks of {} tokens needs {:.1f} MiB: {}; lower engine.num_blocks",
                    config_.num_blocks, config_.block_size, total / kMiB, why));
  };
  // The emulator's memory is the host's, which overcommits: taking too much would end the process instead.
  const double available = static_cast<double>(available_host_memory());
  if (device_.kind() == DeviceKind::simt && total > available) {
    fail(fmt::format("{:.1f} MiB of memory are free", available / kMiB));
  }
  try {
    for (int layer = 0; layer < model.num_hidden_layers; ++layer) {
      k_cache_.emplace_back(device_, static_cast<std::size_t>(bytes), "k_cache");
      v_cache_.emplace_back(device_, static_cast<std::size_t>(bytes), "v_cache");
    }
  } catch (const DeviceError& error) {
    fail(error.what());
  }
  if (!config_.cuda_graphs) return;
  try {
    graphs_ = std::make_unique<DecodeGraphs>(device_, transformer_, config_, cache());
  } catch (const Stopped&) {  // as if this had not been called
    k_cache_.clear();
    v_cache_.clear();
    throw;
  }
}

std::vector<KvLayer> ModelRunner::cache() const {
  std::vector<KvLayer> layers(static_cast<std::size_t>(transformer_.config().num_hidden_layers));
  for (std::size_t layer = 0; layer < k_cache_.size(); ++layer) {
    layers[layer] = {k_cache_[layer].as(), v_cache_[layer].as()};
  }
  return layers;
}

std::vector<trace::Sampled> ModelRunner::run(const std::vector<SequencePtr>& seqs,
                                             trace::StepRecord& record) {
  StepAt at{.kind = record.kind,
            .num_tokens = static_cast<int>(record.input_ids.size()),
            .num_layers = transformer_.config().num_hidden_layers};
  StageLog log(device_, record, [&](Stage stage, int layer) {
    if (!watch_) return;
    at.stage = stage;
    at.layer = layer;
    watch_(at);
  });
  try {
    return forward(seqs, record, log);
  } catch (const Stopped&) {
    paths_.reset_tickets();
    if (graphs_) graphs_->reset_tickets();
    throw;
  }
}

std::vector<trace::Sampled> ModelRunner::forward(const std::vector<SequencePtr>& seqs,
                                                 trace::StepRecord& record, StageLog& log) {
  const ModelConfig& model = transformer_.config();
  log.enter(Stage::prepare);
  note_inputs(record, log);
  const bool replayed = graphs_ && record.kind == trace::StepKind::decode && graphs_->replay(record, log);
  if (!replayed) run_eagerly(record, log);

  log.enter(Stage::lm_head);
  const std::vector<std::int32_t> rows = trace::lm_head_rows(record);
  const auto batch = static_cast<std::int64_t>(rows.size());
  log.shape("hidden_states", dtype_name(model.dtype), {batch, model.hidden_size},
            "rows cu_seqlens_q[1:] - 1");
  const float* logits = (replayed ? graphs_->transformer() : transformer_).logits(rows);
  log.shape("logits", "F32", {batch, model.vocab_size});
  return sample(seqs, logits, log);
}

void ModelRunner::note_inputs(const trace::StepRecord& record, StageLog& log) const {
  const auto vector = [&log](std::string_view name, const std::vector<std::int32_t>& values,
                             std::string note = {}) {
    log.shape(name, "I32", {static_cast<std::int64_t>(values.size())}, std::move(note));
  };
  vector("input_ids", record.input_ids);
  vector("positions", record.positions);
  vector("slot_mapping", record.slot_mapping);
  vector("cu_seqlens_q", record.cu_seqlens_q);
  vector("cu_seqlens_k", record.cu_seqlens_k);
  if (record.context_lens) vector("context_lens", *record.context_lens, "counts the token of this step");
  if (record.block_tables) {
    const auto& tables = *record.block_tables;
    log.shape("block_tables", "I32",
              {static_cast<std::int64_t>(tables.size()), static_cast<std::int64_t>(tables.front().size())},
              "-1 padded");
  }
}

void ModelRunner::run_eagerly(trace::StepRecord& record, StageLog& log) {
  paths_.begin(record);
  transformer_.begin(record.input_ids, record.positions);
  const int n = static_cast<int>(record.input_ids.size());
  run_layers(transformer_, paths_, cache(), n, log,
             [&](int layer, const QkvView& qkv, const AttentionOutput& out) {
               if (config_.record_layers >= 0 && layer >= config_.record_layers) return;
               record.layers.push_back(read_layer(device_, transformer_.config(), layer, qkv, out, n, n));
             });
}

std::vector<trace::Sampled> ModelRunner::sample(const std::vector<SequencePtr>& seqs, const float* logits,
                                                StageLog& log) {
  log.enter(Stage::sample);  // @sample
  std::vector<float> temperature, top_p;
  std::vector<std::int32_t> top_k;
  std::vector<std::uint64_t> counter;
  for (const SequencePtr& seq : seqs) {
    temperature.push_back(seq->sampling.temperature);
    top_p.push_back(seq->sampling.top_p);
    top_k.push_back(seq->sampling.top_k);
    const auto position = static_cast<std::uint32_t>(seq->num_cached_tokens + seq->num_scheduled_tokens);
    counter.push_back((static_cast<std::uint64_t>(seq->seq_id) << 32U) + position);
  }
  const int batch = static_cast<int>(seqs.size());
  const int vocab = transformer_.config().vocab_size;
  auto* token_ids = token_ids_.get<std::int32_t>(sizeof(std::int32_t) * seqs.size());
  device_.kernels().sample({.batch = batch,
                            .vocab = vocab,
                            .logits = logits,
                            .temperature = temperature_.upload(temperature),
                            .top_k = top_k_.upload(top_k),
                            .top_p = top_p_.upload(top_p),
                            .counter = counter_.upload(counter),
                            .seed = config_.seed,
                            .token_ids = token_ids},
                           device_.context());
  log.shape("token_ids", "I32", {batch}, "one per sequence");

  return sampled(seqs, token_ids, logits);
}

std::vector<trace::Sampled> ModelRunner::sampled(const std::vector<SequencePtr>& seqs,
                                                 const std::int32_t* token_ids, const float* logits) const {
  const int vocab = transformer_.config().vocab_size;
  std::vector<std::int32_t> ids(seqs.size());
  std::vector<float> rows(record_logits_ ? seqs.size() * static_cast<std::size_t>(vocab) : 0);
  device_.synchronize();
  device_.download(ids.data(), token_ids, ids.size() * sizeof(std::int32_t));
  if (record_logits_) device_.download(rows.data(), logits, rows.size() * sizeof(float));
  std::vector<trace::Sampled> sampled;
  for (std::size_t b = 0; b < seqs.size(); ++b) {
    sampled.push_back({.seq_id = seqs[b]->seq_id, .token_id = ids[b], .text = {}, .top_logits = {}});
    if (record_logits_)
      sampled.back().top_logits = best_logits(rows.data() + b * static_cast<std::size_t>(vocab), vocab);
  }
  return sampled;
}

}  // namespace attn
