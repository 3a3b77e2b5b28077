#include "tests/core/trace_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <numeric>

#include "core/engine/config_fields.h"
#include "core/engine/switches.h"
#include "core/trace/state_hash.h"

namespace attn::trace::test {
namespace {

constexpr int kBlocks = 6, kBlockSize = 4, kLayers = 2, kHeads = 4, kKvHeads = 2, kHeadDim = 8;

}  // namespace

Manifest small_manifest() {
  Manifest manifest;
  manifest.scenario_name = "random";
  manifest.scenario_json = R"({"version": 1, "name": "random"})";
  manifest.config.block_size = kBlockSize;
  manifest.config.num_blocks = kBlocks;
  manifest.model = {.name = "tiny",
                    .architecture = "LlamaForCausalLM",
                    .num_layers = kLayers,
                    .num_heads = kHeads,
                    .num_kv_heads = kKvHeads,
                    .head_dim = kHeadDim,
                    .hidden_size = 32,
                    .vocab_size = 50,
                    .dtype = DType::f32,
                    .scale = 0.25F};
  manifest.device = "none";
  manifest.build = "test";
  manifest.request_labels = {"A", "B \"quoted\" \xc3\xa9"};
  return manifest;
}

int RandomSteps::pick(int lowest, int highest) {
  return lowest + static_cast<int>(random_() % static_cast<unsigned>(highest - lowest + 1));
}

std::string RandomSteps::text() {
  std::string text;
  for (int i = pick(0, 20); i > 0; --i) text += static_cast<char>(pick(0, 255));
  return text;
}

std::vector<std::int32_t> RandomSteps::ints(int count, int lowest, int highest) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = pick(lowest, highest);
  return values;
}

TensorRecord RandomSteps::tensor(std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  TensorRecord tensor{DType::f32, std::move(shape), {}};
  std::normal_distribution<float> normal;
  for (; count > 0; --count) {
    const auto bytes = std::bit_cast<std::array<std::byte, 4>>(normal(random_));
    tensor.data.insert(tensor.data.end(), bytes.begin(), bytes.end());
  }
  return tensor;
}

SeqState RandomSteps::seq(int id, int q_len, int k_len, const std::vector<std::int32_t>& table) {
  return {.id = id,
          .status = static_cast<SeqStatus>(pick(0, 2)),
          .num_tokens = k_len + 1,
          .num_prompt_tokens = pick(1, k_len + 1),
          .num_cached_tokens = k_len - q_len,
          .num_scheduled_tokens = q_len,
          .block_table = table,
          .token_ids = ints(k_len + 1, 0, 49)};
}

/// Lengths, block tables and slots. Tables are random blocks and may share them: no engine, no promises.
void RandomSteps::add_batch(StepRecord& record) {
  const bool decode = chance(60);
  record.kind = decode ? StepKind::decode : StepKind::prefill;
  constexpr AttentionPath kPrefill[] = {AttentionPath::prefill_packed, AttentionPath::prefill_paged,
                                        AttentionPath::prefill_gather_flatten};
  constexpr AttentionPath kDecode[] = {AttentionPath::decode_paged, AttentionPath::decode_gather_masked,
                                       AttentionPath::decode_gather_padded};
  record.path = decode ? kDecode[pick(0, 2)] : kPrefill[pick(0, 2)];
  record.paged = record.path != AttentionPath::prefill_packed;
  record.num_scheduled = pick(1, 3);
  record.cu_seqlens_q = record.cu_seqlens_k = {0};
  std::vector<std::vector<std::int32_t>> tables;
  for (int b = 0; b < record.num_scheduled; ++b) {
    const int q_len = decode ? 1 : pick(1, 5);
    const int k_len = record.paged ? pick(q_len, kBlocks * kBlockSize - 1) : q_len;
    record.cu_seqlens_q.push_back(record.cu_seqlens_q.back() + q_len);
    record.cu_seqlens_k.push_back(record.cu_seqlens_k.back() + k_len);
    record.max_seqlen_q = std::max(record.max_seqlen_q, q_len);
    record.max_seqlen_k = std::max(record.max_seqlen_k, k_len);
    const auto table = ints((k_len + kBlockSize - 1) / kBlockSize, 0, kBlocks - 1);
    tables.push_back(table);
    tables.back().resize(kBlocks, -1);
    record.seqs.push_back(seq(b, q_len, k_len, table));
  }
  record.seqs.push_back(seq(7, 0, 3, {}));
  if (record.paged) record.block_tables = std::move(tables);
  const int tokens = record.cu_seqlens_q.back();
  if (decode) {
    record.context_lens.emplace();
    for (int b = 0; b < record.num_scheduled; ++b) {
      const auto i = static_cast<std::size_t>(b);
      record.context_lens->push_back(record.cu_seqlens_k[i + 1] - record.cu_seqlens_k[i]);
    }
  }
  std::vector<std::int32_t> slots(kBlocks * kBlockSize);
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin(), slots.end(), random_);
  slots.resize(static_cast<std::size_t>(tokens), -1);
  if (chance(20)) slots[0] = -1;
  record.slot_mapping = std::move(slots);
  record.input_ids = ints(tokens, 0, 49);
  record.positions = ints(tokens, 0, 30);
  if (decode) record.graph = graph(record.num_scheduled);
}

/// Replayed with up to two padding rows, or eager for some reason.
GraphRecord RandomSteps::graph(int batch) {
  GraphRecord graph;
  graph.buckets = {1, 2, 4, 8};
  if (chance(30)) {
    graph.eager_reason = text();
    return graph;
  }
  graph.bucket = batch + pick(0, 2);
  graph.skips_cache_ops = chance(50);
  graph.fresh_rows = batch;
  graph.fresh_columns = pick(0, 3);
  graph.max_abs_o_padding = static_cast<float>(pick(0, 3));
  graph.input_ids = ints(graph.bucket, 0, 49);
  graph.positions = ints(graph.bucket, 0, 30);
  graph.slot_mapping = ints(graph.bucket, -1, kBlocks * kBlockSize - 1);
  graph.context_lens = ints(graph.bucket, 0, 20);
  for (int row = 0; row < graph.bucket; ++row) graph.block_tables.push_back(ints(5, -1, kBlocks - 1));
  return graph;
}

void RandomSteps::add_bookkeeping(StepRecord& record) {
  record.seqs_after = record.seqs;
  record.seqs_after.pop_back();
  record.free_blocks = ints(pick(1, 5), 0, kBlocks - 1);
  record.hash_to_block = {{random_(), pick(0, 5)}, {0xFFFFFFFF00000000U + random_(), pick(0, 5)}};
  for (int id = 0; id < kBlocks; ++id) {
    BlockState block{
        .id = id, .ref_count = pick(0, 3), .hash = {}, .token_ids = {}, .num_filled = pick(0, 4)};
    if (chance(50)) {
      block.hash = random_();
      block.token_ids = ints(kBlockSize, 0, 49);
    }
    record.blocks.push_back(block);
  }
  record.events = {{static_cast<EventKind>(pick(0, 10)), pick(0, 3), pick(0, 5), text()}};
  record.preempted = ints(pick(1, 2), 0, 9);
  record.rejected = {{pick(0, 9), text()}};
  record.sampled = {{0, pick(0, 49), text(), chance(50), {{3, 1.5F}, {4, -0.25F}}}};
  record.finished = ints(pick(1, 2), 0, 9);
  record.shapes = {{Stage::attention, pick(0, 1), "q", "F32", {3, kHeads, kHeadDim}, text()}};
  LaunchRecord launch{"some_kernel<float>", {3, 4, 5}, {64, 2, 1}, 4096, random_(), random_(), NAN};
  if (chance(50)) launch.ms = 0.5F;
  record.launches = {{Stage::qkv_rope, 1, launch}};
  const int token = pick(0, 49);
  record.token_texts = {{token, "t" + std::to_string(token)}};
}

void RandomSteps::add_layers(StepRecord& record) {
  const std::int64_t n = record.cu_seqlens_q.back();
  for (int layer = 0; layer < kLayers; ++layer) {
    record.layers.push_back({.layer = layer,
                             .q = tensor({n, kHeads, kHeadDim}),
                             .k = tensor({n, kKvHeads, kHeadDim}),
                             .v = tensor({n, kKvHeads, kHeadDim}),
                             .o = tensor({n, kHeads, kHeadDim}),
                             .lse = tensor({kHeads, n}),
                             .k_cache = {},
                             .v_cache = {}});
    if (step_ != 1) continue;
    record.layers.back().k_cache = tensor({kBlocks, kBlockSize, kKvHeads, kHeadDim});
    record.layers.back().v_cache = tensor({kBlocks, kBlockSize, kKvHeads, kHeadDim});
  }
}

StepRecord RandomSteps::next() {
  StepRecord record;
  record.step = ++step_;
  record.config = {.block_size = kBlockSize,
                   .num_blocks = kBlocks,
                   .max_num_seqs = pick(1, 8),
                   .max_num_batched_tokens = pick(1, 99),
                   .max_model_len = pick(1, 99),
                   .kv_cache = chance(50),
                   .prefix_caching = chance(50),
                   .decode_path = static_cast<DecodePath>(pick(0, 2)),
                   .repeat_kv = chance(50),
                   .prefill_path = static_cast<PrefillPath>(pick(0, 1)),
                   .prefill_level = pick(1, 2),
                   .decode_level = pick(1, 2),
                   .num_splits = pick(0, 3),
                   .k_tile = pick(0, 9),
                   .mask_alignment = static_cast<MaskAlignment>(pick(0, 2)),
                   .free_list = static_cast<FreeListOrder>(pick(0, 1)),
                   .free_list_seed = random_(),
                   .policy = static_cast<HashPolicy>(pick(0, 1)),
                   .warmup = chance(50),
                   .warmup_identity = chance(50),
                   .seed = random_(),
                   .record_layers = pick(-1, 2),
                   .cuda_graphs = true,
                   .head_map = static_cast<HeadMap>(pick(0, 1)),
                   .forget_store = chance(50) ? pick(1, 9) : -1,
                   .stale_hash = chance(50),
                   .positions_restart = chance(50),
                   .cu_seqlens_k_from_q = chance(50),
                   .identity_decode = chance(50),
                   .graph_skip_cache_ops = chance(50)};
  if (chance(20)) {  // no graph is captured with scores that are set
    record.config.scores = static_cast<Scores>(pick(1, 3));
    record.config.cuda_graphs = record.config.graph_skip_cache_ops = false;
  }
  add_batch(record);
  add_bookkeeping(record);
  add_layers(record);
  record.state_hash = state_hash(record);
  return record;
}

std::shared_ptr<Recording> random_recording(std::uint32_t seed, int count) {
  auto recording = std::make_shared<Recording>(small_manifest());
  RandomSteps steps(seed);
  for (int i = 0; i < count; ++i) recording->append(std::make_shared<StepRecord>(steps.next()));
  return recording;
}

namespace {

void expect_same_tensor(const TensorRecord& a, const TensorRecord& b) {
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.data, b.data);
}

void expect_same_config(const EngineConfig& a, const EngineConfig& b) {
  visit_fields(
      [&](const char* name, const auto&) { EXPECT_EQ(switch_value(a, name), switch_value(b, name)) << name; },
      a);
}

void expect_same_launch(const LaunchEntry& a, const LaunchEntry& b) {
  EXPECT_EQ(a.stage, b.stage);
  EXPECT_EQ(a.layer, b.layer);
  EXPECT_EQ(a.launch.kernel, b.launch.kernel);
  EXPECT_EQ(std::memcmp(&a.launch.grid, &b.launch.grid, sizeof(Dim3)), 0);
  EXPECT_EQ(std::memcmp(&a.launch.block, &b.launch.block, sizeof(Dim3)), 0);
  EXPECT_EQ(a.launch.shared_bytes, b.launch.shared_bytes);
  EXPECT_EQ(a.launch.bytes, b.launch.bytes);
  EXPECT_EQ(a.launch.flop, b.launch.flop);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(a.launch.ms), std::bit_cast<std::uint32_t>(b.launch.ms));
}

void expect_same_outcome(const StepRecord& a, const StepRecord& b) {
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.preempted, b.preempted);
  ASSERT_EQ(a.rejected.size(), b.rejected.size());
  for (std::size_t i = 0; i < a.rejected.size(); ++i) {
    EXPECT_EQ(a.rejected[i].id, b.rejected[i].id);
    EXPECT_EQ(a.rejected[i].reason, b.rejected[i].reason);
  }
  ASSERT_EQ(a.sampled.size(), b.sampled.size());
  for (std::size_t i = 0; i < a.sampled.size(); ++i) {
    EXPECT_EQ(a.sampled[i].seq_id, b.sampled[i].seq_id);
    EXPECT_EQ(a.sampled[i].token_id, b.sampled[i].token_id);
    EXPECT_EQ(a.sampled[i].text, b.sampled[i].text);
    EXPECT_EQ(a.sampled[i].discarded, b.sampled[i].discarded);
    EXPECT_EQ(a.sampled[i].top_logits, b.sampled[i].top_logits);
  }
  EXPECT_EQ(a.finished, b.finished);
}

void expect_same_work(const StepRecord& a, const StepRecord& b) {
  ASSERT_EQ(a.shapes.size(), b.shapes.size());
  for (std::size_t i = 0; i < a.shapes.size(); ++i) {
    EXPECT_EQ(a.shapes[i].stage, b.shapes[i].stage);
    EXPECT_EQ(a.shapes[i].layer, b.shapes[i].layer);
    EXPECT_EQ(a.shapes[i].name, b.shapes[i].name);
    EXPECT_EQ(a.shapes[i].dtype, b.shapes[i].dtype);
    EXPECT_EQ(a.shapes[i].shape, b.shapes[i].shape);
    EXPECT_EQ(a.shapes[i].note, b.shapes[i].note);
  }
  ASSERT_EQ(a.launches.size(), b.launches.size());
  for (std::size_t i = 0; i < a.launches.size(); ++i) expect_same_launch(a.launches[i], b.launches[i]);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].layer, b.layers[i].layer);
    expect_same_tensor(a.layers[i].q, b.layers[i].q);
    expect_same_tensor(a.layers[i].k, b.layers[i].k);
    expect_same_tensor(a.layers[i].v, b.layers[i].v);
    expect_same_tensor(a.layers[i].o, b.layers[i].o);
    expect_same_tensor(a.layers[i].lse, b.layers[i].lse);
    expect_same_tensor(a.layers[i].k_cache, b.layers[i].k_cache);
    expect_same_tensor(a.layers[i].v_cache, b.layers[i].v_cache);
  }
}

}  // namespace

void expect_same_record(const StepRecord& a, const StepRecord& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.path, b.path);
  expect_same_config(a.config, b.config);
  EXPECT_EQ(a.seqs, b.seqs);
  EXPECT_EQ(a.num_scheduled, b.num_scheduled);
  EXPECT_EQ(a.seqs_after, b.seqs_after);
  EXPECT_EQ(a.cu_seqlens_q, b.cu_seqlens_q);
  EXPECT_EQ(a.cu_seqlens_k, b.cu_seqlens_k);
  EXPECT_EQ(a.max_seqlen_q, b.max_seqlen_q);
  EXPECT_EQ(a.max_seqlen_k, b.max_seqlen_k);
  EXPECT_EQ(a.context_lens, b.context_lens);
  EXPECT_EQ(a.block_tables, b.block_tables);
  EXPECT_EQ(a.slot_mapping, b.slot_mapping);
  EXPECT_EQ(a.input_ids, b.input_ids);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.paged, b.paged);
  EXPECT_EQ(a.stored, b.stored);
  EXPECT_EQ(a.graph, b.graph);
  EXPECT_EQ(a.free_blocks, b.free_blocks);
  EXPECT_EQ(a.hash_to_block, b.hash_to_block);
  EXPECT_EQ(a.blocks, b.blocks);
  expect_same_outcome(a, b);
  expect_same_work(a, b);
  EXPECT_EQ(a.token_texts, b.token_texts);
  EXPECT_EQ(a.state_hash, b.state_hash);
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void write_file(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace attn::trace::test
