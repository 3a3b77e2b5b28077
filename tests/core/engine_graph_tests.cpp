// Decode steps as captured graphs: the same bits as eager ones, padding rows and stale columns as nano-vllm
// leaves them.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/engine/decode_graphs.h"
#include "engine_support.h"
#include "tests/paths.h"

namespace attn::test {
namespace {

using trace::AttentionPath;
using trace::GraphRecord;
using trace::Stage;
using trace::StepKind;
using trace::StepRecord;

const StepRecord& first_decode(const std::vector<StepPtr>& steps) {
  const auto found =
      std::ranges::find_if(steps, [](const StepPtr& s) { return s->kind == StepKind::decode; });
  return **found;
}

TEST(EngineGraphs, BucketsAreNanoVllmsWithinTheLimit) {
  EXPECT_EQ(graph_buckets(1), (std::vector<int>{1}));
  EXPECT_EQ(graph_buckets(3), (std::vector<int>{1, 2}));
  EXPECT_EQ(graph_buckets(8), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(graph_buckets(40), (std::vector<int>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(graph_buckets(100000).back(), 512);
}

TEST(EngineGraphs, ThreeSequencesRunInTheGraphOfFourWithADeadRow) {
  const TinyModel model;
  const auto steps = run_model(model, graph_pool(4, 16), three_prompts());
  EXPECT_FALSE(steps[0]->graph) << "prefill is eager";
  const StepRecord& step = *steps[1];
  ASSERT_TRUE(step.graph);
  const GraphRecord& graph = *step.graph;
  EXPECT_EQ(graph.buckets, (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(graph.bucket, 4);
  EXPECT_EQ(graph.fresh_rows, 3);
  EXPECT_EQ(graph.fresh_columns, 3);
  EXPECT_EQ(graph.slot_mapping[3], -1);
  EXPECT_EQ(graph.context_lens, (Ints{7, 11, 4, 0}));
  EXPECT_EQ(graph.block_tables.size(), 4U);
  EXPECT_EQ(graph.block_tables[0].size(), 24U) << "max_position_embeddings 96 in blocks of 4";
  EXPECT_EQ(Ints(graph.block_tables[1].begin(), graph.block_tables[1].begin() + 3), (*step.block_tables)[1]);
  EXPECT_TRUE(step.stored);
  EXPECT_EQ(graph.max_abs_o_padding, 0.0F) << "a row without keys gives 0, not NaN";
  EXPECT_EQ(step.layers[0].o.shape, (std::vector<std::int64_t>{3, 4, 8}));
  EXPECT_EQ(step.layers[0].lse.shape, (std::vector<std::int64_t>{4, 3}));
}

TEST(EngineGraphs, RowsAndColumnsBeyondTheBatchKeepWhatEarlierStepsLeft) {
  // The second sequence ends first; its row stays in the static buffers, its slot and length do not.
  const TinyModel model;
  const auto steps = run_model(model, graph_pool(4, 16),
                               {request(range(3, 8), 6), request(range(30, 39), 3), request({50, 51}, 6)});
  const StepRecord &full = *steps[2], &less = *steps[3];
  ASSERT_EQ(full.num_scheduled, 3);
  ASSERT_EQ(less.num_scheduled, 2);
  EXPECT_EQ(less.graph->bucket, 2);
  const auto later = run_model(
      model,
      [] {
        EngineConfig config = graph_pool(4, 16);
        config.max_num_seqs = 4;
        return config;
      }(),
      {request(range(3, 8), 8), request(range(30, 39), 4), request({50, 51}, 3), request({53, 54}, 8)});
  const StepRecord &four = *later[1], &three = *later[3];
  ASSERT_EQ(four.num_scheduled, 4);
  ASSERT_EQ(three.num_scheduled, 3);
  ASSERT_EQ(three.graph->bucket, 4);
  EXPECT_EQ(three.graph->slot_mapping[3], -1);
  EXPECT_EQ(three.graph->context_lens[3], 0);
  EXPECT_EQ(three.graph->input_ids[3], later[2]->graph->input_ids[3]);
  EXPECT_EQ(three.graph->positions[3], later[2]->graph->positions[3]);
  EXPECT_EQ(three.graph->block_tables[3], later[2]->graph->block_tables[3]);
  EXPECT_GT(three.graph->positions[3], 0) << "stale, not cleared";
}

TEST(EngineGraphs, ALargerBatchThanAnyGraphRunsEagerly) {
  const TinyModel model;
  EngineConfig config = graph_pool(4, 16);
  config.max_num_seqs = 3;
  const auto steps = run_model(model, config, three_prompts());
  const StepRecord& step = first_decode(steps);
  EXPECT_EQ(step.graph->bucket, 0);
  EXPECT_EQ(step.graph->buckets, (std::vector<int>{1, 2}));
  EXPECT_EQ(step.graph->eager_reason, "3 sequences are more than the largest graph has rows");
  config.cuda_graphs = false;
  expect_same_bits(steps, run_model(model, config, three_prompts()));
}

TEST(EngineGraphs, TheGatherPathsAndDecodeWithoutContextAreNotCaptured) {
  const TinyModel model;
  EngineConfig config = graph_pool(4, 16);
  config.decode_path = DecodePath::gather_padded;
  EXPECT_EQ(first_decode(run_model(model, config, three_prompts())).graph->eager_reason,
            "gather_padded sizes its dense tensors by lengths read on the host, which no graph holds");
  config.decode_path = DecodePath::paged;
  config.identity_decode = true;
  const auto steps = run_model(model, config, three_prompts());
  EXPECT_EQ(first_decode(steps).graph->eager_reason, "decode gets no context (identity_decode)");
  EXPECT_EQ(first_decode(steps).path, AttentionPath::identity);
}

TEST(EngineGraphs, LaunchesAndShapesSayTheSameAsEagerOnes) {
  const TinyModel model;
  EngineConfig config = graph_pool(4, 16);
  const auto graph = run_model(model, config, three_prompts());
  config.cuda_graphs = false;
  const auto eager = run_model(model, config, three_prompts());
  const auto kernels = [](const StepRecord& step) {
    std::vector<std::tuple<Stage, int, std::string>> list;
    for (const auto& entry : step.launches) list.emplace_back(entry.stage, entry.layer, entry.launch.kernel);
    return list;
  };
  const auto names = [](const StepRecord& step) {
    std::vector<std::tuple<Stage, int, std::string, std::string>> list;
    for (const auto& note : step.shapes) list.emplace_back(note.stage, note.layer, note.name, note.note);
    return list;
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    EXPECT_EQ(kernels(*graph[i]), kernels(*eager[i])) << "step " << i + 1;
    if (graph[i]->kind == StepKind::prefill) {
      EXPECT_EQ(names(*graph[i]), names(*eager[i]));
    }
  }
  std::vector<std::int64_t> rows;
  for (const auto& note : graph[1]->shapes) {
    if (note.name == "hidden_states") rows.push_back(note.shape[0]);
  }
  EXPECT_EQ(rows, (std::vector<std::int64_t>{4, 4, 4, 3})) << "four rows in the graph, three at the LM head";
}

EngineConfig random_config(Dice& dice) {
  EngineConfig config = pool(dice.roll(1, 6), dice.roll(8, 30));
  config.max_num_seqs = dice.roll(1, 20);
  config.max_num_batched_tokens = dice.roll(6, 40);
  config.max_model_len = dice.roll(24, 90);
  config.prefix_caching = dice.roll(0, 3) > 0;
  config.decode_level = dice.roll(1, kDecodeLevels);
  config.free_list = dice.roll(0, 1) == 0 ? FreeListOrder::ordered : FreeListOrder::scrambled;
  config.head_map = dice.roll(0, 4) == 0 ? HeadMap::modulo : HeadMap::grouped;
  config.mask_alignment = dice.roll(0, 4) == 0 ? MaskAlignment::top_left : MaskAlignment::bottom_right;
  config.forget_store = dice.roll(0, 4) == 0 ? dice.roll(1, 6) : -1;
  config.warmup = dice.roll(0, 3) == 0;
  return config;
}

TEST(EngineGraphs, RandomScenariosHaveTheSameBitsWithAndWithoutGraphs) {
  const TinyModel model;
  int replays = 0, padded = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    EngineConfig config = random_config(dice);
    std::vector<Request> requests;
    for (int i = dice.roll(1, 7); i > 0; --i) {
      const int first = dice.roll(0, 3) * 10;
      Request r = request(range(first, first + dice.roll(0, 20)), dice.roll(1, 8), dice.roll(0, 4));
      if (dice.roll(0, 2) == 0) r.sampling.temperature = 0.9F;
      requests.push_back(r);
    }
    const auto eager = run_model(model, config, requests);
    config.cuda_graphs = true;
    const auto graphs = run_model(model, config, requests);
    expect_same_bits(eager, graphs);
    for (const StepPtr& step : graphs) {
      EXPECT_EQ(step->graph.has_value(), step->kind == StepKind::decode);
      if (!step->graph || step->graph->bucket == 0) continue;
      ++replays;
      padded += step->graph->bucket > step->num_scheduled ? 1 : 0;
    }
  }
  EXPECT_GT(replays, 100);
  EXPECT_GT(padded, 20);
}

TEST(EngineGraphs, TheBundledModelWritesTheSameBits) {
  const auto device = make_simt_device();
  Transformer transformer(*device, tree::source_dir() / "assets/models/shakespeare-1m");
  const auto run = [&](bool graphs) {
    EngineConfig config = pool(16, 24);
    config.cuda_graphs = graphs;
    Engine engine(*device, &transformer, config);
    for (Request r : {request(range(300, 340), 8), request(range(500, 520), 8), request({400, 401}, 8)}) {
      engine.add_request(r);
    }
    return run_to_end(engine);
  };
  expect_same_bits(run(true), run(false));
}

}  // namespace
}  // namespace attn::test
