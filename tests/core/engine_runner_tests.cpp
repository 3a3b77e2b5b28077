// What the model runner writes into the record, and how it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine_support.h"
#include "engine_tiny_model.h"
#include "kernels/common/check.h"

namespace attn::test {
namespace {

using trace::Stage;

struct Bench {
  explicit Bench(const EngineConfig& config)
      : device(make_simt_device()),
        transformer(*device, model.dir()),
        engine(*device, &transformer, config) {}
  TinyModel model;
  std::unique_ptr<Device> device;
  Transformer transformer;
  Engine engine;
};

std::vector<std::string> notes(const trace::StepRecord& record, int layer) {
  std::vector<std::string> lines;
  for (const trace::ShapeNote& note : record.shapes) {
    if (note.layer != layer) continue;
    lines.push_back(fmt::format("{} {} [{}] {}", static_cast<int>(note.stage), note.name,
                                fmt::join(note.shape, ","), note.note));
  }
  return lines;
}

TEST(EngineRunner, ShapesOnTheWayThroughThePrefillWalkthrough) {
  EngineConfig config = pool(4, 8);
  config.prefill_path = PrefillPath::gather_flatten;
  Bench bench(config);
  bench.engine.add_request(request(range(3, 12), 4));
  Ints second = range(3, 10);
  second.insert(second.end(), {31, 32});
  bench.engine.add_request(request(second, 4, 1));
  const auto steps = run_to_end(bench.engine);
  EXPECT_EQ(notes(*steps[1], 1), (std::vector<std::string>{
                                     "2 q [2,4,8] ",
                                     "2 k [2,2,8] ",
                                     "2 v [2,2,8] ",
                                     "3 k_cache [8,4,2,8] 2 rows written at slot_mapping",
                                     "3 v_cache [8,4,2,8] 2 rows written at slot_mapping",
                                     "4 k_gathered [1,10,2,8] zero-padded to max_len",
                                     "4 v_gathered [1,10,2,8] zero-padded to max_len",
                                     "5 k_flat [10,2,8] pads dropped, packed",
                                     "5 v_flat [10,2,8] pads dropped, packed",
                                     "5 cached_len_per_seq [1,3] (cached_len, q_len, kv_len): (8, 2, 10)",
                                     "7 o [2,4,8] one row per new token",
                                     "7 lse [4,2] ",
                                     "8 o [2,32] flatten(1, -1)",
                                     "8 hidden_states [2,32] ",
                                 }));
  EXPECT_EQ(notes(*steps[1], -1), (std::vector<std::string>{
                                      "1 input_ids [2] ",
                                      "1 positions [2] ",
                                      "1 slot_mapping [2] ",
                                      "1 cu_seqlens_q [2] ",
                                      "1 cu_seqlens_k [2] ",
                                      "1 block_tables [1,3] -1 padded",
                                      "1 hidden_states [2,32] embedding",
                                      "9 hidden_states [1,32] rows cu_seqlens_q[1:] - 1",
                                      "9 logits [1,61] ",
                                      "10 token_ids [1] one per sequence",
                                  }));
}

TEST(EngineRunner, ShapesOnTheWayThroughTheDecodeWalkthrough) {
  EngineConfig config = pool(4, 8);
  config.decode_path = DecodePath::gather_padded;
  Bench bench(config);
  bench.engine.add_request(request(range(3, 5), 2));
  bench.engine.add_request(request(range(3, 9), 2));
  const auto steps = run_to_end(bench.engine);
  EXPECT_EQ(notes(*steps[1], 0), (std::vector<std::string>{
                                     "2 q [2,4,8] ",
                                     "2 k [2,2,8] ",
                                     "2 v [2,2,8] ",
                                     "3 k_cache [8,4,2,8] 2 rows written at slot_mapping",
                                     "3 v_cache [8,4,2,8] 2 rows written at slot_mapping",
                                     "4 k_gathered [2,8,2,8] zero-padded to max_len",
                                     "4 v_gathered [2,8,2,8] zero-padded to max_len",
                                     "6 k_gathered [2,8,4,8] repeat_interleave(2, dim=2)",
                                     "6 v_gathered [2,8,4,8] repeat_interleave(2, dim=2)",
                                     "7 q [2,1,4,8] unsqueeze(1)",
                                     "7 o [2,1,4,8] one row per sequence",
                                     "7 o [2,4,8] squeeze(1)",
                                     "7 lse [4,2] ",
                                     "8 o [2,32] flatten(1, -1)",
                                     "8 hidden_states [2,32] ",
                                 }));
}

TEST(EngineRunner, LaunchesKnowTheirStageAndLayer) {
  Bench bench(pool(4, 8));
  bench.engine.add_request(request(range(3, 7), 2));
  const auto steps = run_to_end(bench.engine);
  std::vector<std::pair<Stage, int>> order;
  for (const trace::LaunchEntry& entry : steps[1]->launches) {
    EXPECT_FALSE(entry.launch.kernel.empty());
    if (order.empty() || order.back() != std::pair(entry.stage, entry.layer))
      order.emplace_back(entry.stage, entry.layer);
  }
  EXPECT_EQ(order, (std::vector<std::pair<Stage, int>>{{Stage::prepare, -1},
                                                       {Stage::qkv_rope, 0},
                                                       {Stage::store_kvcache, 0},
                                                       {Stage::attention, 0},
                                                       {Stage::out_mlp, 0},
                                                       {Stage::qkv_rope, 1},
                                                       {Stage::store_kvcache, 1},
                                                       {Stage::attention, 1},
                                                       {Stage::out_mlp, 1},
                                                       {Stage::lm_head, -1},
                                                       {Stage::sample, -1}}));
}

TEST(EngineRunner, TheBestLogitsComeInOrderAndGreedyTakesTheFirst) {
  Bench bench(pool(4, 8));
  bench.engine.add_request(request(range(3, 7), 6));
  for (const StepPtr& step : run_to_end(bench.engine)) {
    const auto& best = step->sampled[0].top_logits;
    ASSERT_EQ(best.size(), 5U);
    EXPECT_EQ(best[0].first, step->sampled[0].token_id);
    EXPECT_TRUE(std::ranges::is_sorted(best, std::greater{}, [](const auto& entry) { return entry.second; }));
  }
}

TEST(EngineRunner, RecordsTheLayersAskedFor) {
  for (const int layers : {-1, 0, 1, 5}) {
    EngineConfig config = pool(4, 8);
    config.record_layers = layers;
    Bench bench(config);
    bench.engine.add_request(request(range(3, 7), 2));
    const std::size_t expected = layers < 0 ? 2 : std::min(layers, 2);
    for (const StepPtr& step : run_to_end(bench.engine)) {
      ASSERT_EQ(step->layers.size(), expected);
      for (const trace::LayerRecord& layer : step->layers) {
        const auto n = static_cast<std::int64_t>(step->input_ids.size());
        EXPECT_EQ(layer.q.shape, (std::vector<std::int64_t>{n, 4, 8}));
        EXPECT_EQ(layer.k.shape, (std::vector<std::int64_t>{n, 2, 8}));
        EXPECT_EQ(layer.lse.shape, (std::vector<std::int64_t>{4, n}));
        EXPECT_EQ(layer.o.data.size(), static_cast<std::size_t>(n) * 4 * 8 * sizeof(float));
      }
    }
  }
}

TEST(EngineRunner, TheModelsLimitsAreTheEngines) {
  EngineConfig config = pool(4, 64);
  config.max_model_len = 1000;
  Bench bench(config);
  EXPECT_EQ(bench.engine.config().max_model_len, 96) << "max_position_embeddings";
  EXPECT_EQ(bench.engine.model_shape().num_kv_heads, 2);
  bench.engine.add_request(request({3, 61, 4}, 1));
  bench.engine.add_request(request(Ints(97, 5), 1));
  bench.engine.add_request(request(Ints(94, 5), 9));
  const auto steps = run_to_end(bench.engine);
  ASSERT_EQ(steps[0]->rejected.size(), 2U);
  EXPECT_EQ(steps[0]->rejected[0].reason, "token id 61 is outside the vocabulary; use 0 to 60");
  EXPECT_EQ(steps[0]->rejected[1].reason, "the prompt has 97 tokens and max_model_len is 96; shorten it");
  EXPECT_EQ(steps.size(), 2U) << "94 + 2 = 96";
}

TEST(EngineRunner, APoolThatDoesNotFitTheMemorySaysHowLargeItIs) {
  EngineConfig config = pool(1 << 10, (1 << 21) - 1);
  try {
    const Bench bench(config);
    FAIL() << "took hundreds of GiB";
  } catch (const DeviceError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("2097151 blocks of 1024 tokens needs"), std::string::npos) << message;
    EXPECT_NE(message.find("lower engine.num_blocks"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace attn::test
