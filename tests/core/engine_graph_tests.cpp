// Decode steps as captured graphs: the same bits as eager ones, padding rows and stale columns as nano-vllm
// leaves them, and what a graph captured without cache operations does to a text.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/engine/decode_graphs.h"
#include "core/trace/describe.h"
#include "core/trace/inspector.h"
#include "core/trace/jsonl.h"
#include "core/trace/record_check.h"
#include "core/trace/tensor_values.h"
#include "core/trace/trace_file.h"
#include "engine_support.h"
#include "tests/core/trace_random.h"

namespace attn::test {
namespace {

using trace::AttentionPath;
using trace::EventKind;
using trace::GraphRecord;
using trace::LayerRecord;
using trace::Stage;
using trace::StepKind;
using trace::StepRecord;

EngineConfig graph_pool(int block_size, int num_blocks) {
  EngineConfig config = pool(block_size, num_blocks);
  config.cuda_graphs = true;
  return config;
}

std::vector<Request> three_prompts() {
  return {request(range(3, 8), 5), request(range(30, 39), 5), request({50, 51, 52}, 5)};
}

void expect_same_bits(const std::vector<StepPtr>& a, const std::vector<StepPtr>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "step " << a[i]->step);
    EXPECT_EQ(a[i]->path, b[i]->path);
    EXPECT_EQ(a[i]->state_hash, b[i]->state_hash);
    ASSERT_EQ(a[i]->layers.size(), b[i]->layers.size());
    for (std::size_t l = 0; l < a[i]->layers.size(); ++l) {
      const LayerRecord &x = a[i]->layers[l], &y = b[i]->layers[l];
      for (const auto& [p, q] : {std::pair(&x.q, &y.q), std::pair(&x.k, &y.k), std::pair(&x.v, &y.v),
                                 std::pair(&x.o, &y.o), std::pair(&x.lse, &y.lse)}) {
        EXPECT_EQ(p->shape, q->shape);
        EXPECT_EQ(p->data, q->data) << "layer " << l;
      }
    }
    ASSERT_EQ(a[i]->sampled.size(), b[i]->sampled.size());
    for (std::size_t s = 0; s < a[i]->sampled.size(); ++s) {
      EXPECT_EQ(a[i]->sampled[s].token_id, b[i]->sampled[s].token_id);
    }
  }
}

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

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int roll(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 random_;
};

EngineConfig random_config(Dice& dice) {
  EngineConfig config = pool(dice.roll(1, 6), dice.roll(8, 30));
  config.max_num_seqs = dice.roll(1, 20);
  config.max_num_batched_tokens = dice.roll(6, 40);
  config.max_model_len = dice.roll(24, 90);
  config.prefix_caching = dice.roll(0, 3) > 0;
  config.decode_level = dice.roll(1, 2);
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
  Transformer transformer(*device, std::filesystem::path(ATTN_SOURCE_DIR) / "assets/models/shakespeare-1m");
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

// ---- a graph captured without cache operations

EngineConfig skipping() {
  EngineConfig config = graph_pool(4, 16);
  config.graph_skip_cache_ops = true;
  return config;
}

TEST(EngineGraphs, WithoutCacheOperationsEveryReplayReturnsQAndStoresNothing) {
  const TinyModel model;
  const auto steps = run_model(model, skipping(), three_prompts());
  for (const StepPtr& step : steps) {
    if (step->kind == StepKind::prefill) {
      EXPECT_TRUE(step->stored);
      continue;
    }
    EXPECT_TRUE(step->graph->skips_cache_ops);
    EXPECT_EQ(step->path, AttentionPath::identity);
    EXPECT_FALSE(step->stored);
    EXPECT_TRUE(step->context_lens) << "the engine passes the context, the graph does not look at it";
    for (const LayerRecord& layer : step->layers) {
      EXPECT_EQ(layer.o.data, layer.q.data);
      EXPECT_TRUE(layer.lse.shape.empty());
    }
    for (const auto& entry : step->launches) {
      EXPECT_NE(entry.stage, Stage::store_kvcache);
      EXPECT_NE(entry.stage, Stage::attention);
      EXPECT_NE(entry.stage, Stage::gather);
    }
  }
  EngineConfig right = skipping();
  right.graph_skip_cache_ops = false;
  EXPECT_NE(texts(steps), texts(run_model(model, right, three_prompts())));
}

/// A text whose generated tokens fill a block, then the same text as a prompt: the block is hit.
std::vector<StepPtr> continue_own_text(const TinyModel& model, const EngineConfig& config) {
  const auto device = make_simt_device();
  Transformer transformer(*device, model.dir());
  Engine engine(*device, &transformer, config);
  engine.add_request(request(range(3, 6), 6));
  std::vector<StepPtr> steps = run_to_end(engine);
  Ints prompt = steps.back()->seqs_after[0].token_ids;
  prompt.push_back(7);
  engine.add_request(request(prompt, 2));
  for (const StepPtr& step : run_to_end(engine)) steps.push_back(step);
  return steps;
}

TEST(EngineGraphs, WithoutCacheOperationsALaterPrefixHitReadsWhatNobodyWrote) {
  const TinyModel model;
  const auto steps = continue_own_text(model, skipping());
  const auto prefill = std::ranges::find_if(steps, [](const StepPtr& s) {
    return s->kind == StepKind::prefill && s->seqs[0].num_cached_tokens == 8;
  });
  ASSERT_NE(prefill, steps.end()) << "the block of generated tokens is hit, for its hash is registered";
  const auto poison = events_of(**prefill, EventKind::poison);
  ASSERT_EQ(poison.size(), 1U);
  EXPECT_NE(poison[0].text.find("NaN in o of layer 0"), std::string::npos);
  EngineConfig right = skipping();
  right.graph_skip_cache_ops = false;
  for (const StepPtr& step : continue_own_text(model, right)) {
    EXPECT_TRUE(events_of(*step, EventKind::poison).empty());
  }
}

TEST(EngineGraphs, WithoutCacheOperationsTheGatherPathsAreCapturedToo) {
  // That is why the variant has the shortcut.
  const TinyModel model;
  EngineConfig config = skipping();
  config.decode_path = DecodePath::gather_padded;
  expect_same_bits(run_model(model, config, three_prompts()), run_model(model, skipping(), three_prompts()));
}

TEST(EngineGraphs, RecordsSurviveTheFileAndTheInspectorKnowsThatNothingWasStored) {
  trace::test::TemporaryFolder folder;
  const TinyModel model;
  for (const bool skip : {false, true}) {
    EngineConfig config = skipping();
    config.graph_skip_cache_ops = skip;
    const auto steps = continue_own_text(model, config);
    trace::Manifest manifest;
    manifest.config = steps[0]->config;
    manifest.model = {.name = "tiny",
                      .architecture = "LlamaForCausalLM",
                      .num_layers = 2,
                      .num_heads = 4,
                      .num_kv_heads = 2,
                      .head_dim = 8,
                      .hidden_size = 32,
                      .vocab_size = 61,
                      .dtype = DType::f32,
                      .scale = {}};
    const auto path = folder / (skip ? "skip.attn" : "graph.attn");
    {
      trace::Writer writer(path, manifest);
      for (const StepPtr& step : steps) writer.append(*step);
    }
    const std::shared_ptr<const trace::Store> store = trace::open_trace(path);
    ASSERT_EQ(store->num_steps(), static_cast<int>(steps.size()));
    const auto device = make_simt_device();
    trace::Inspector inspector(*device, store);
    for (int i = 0; i < store->num_steps(); ++i) {
      const StepRecord& step = *steps[static_cast<std::size_t>(i)];
      EXPECT_EQ(store->step(i)->graph, step.graph);
      EXPECT_EQ(store->step(i)->stored, step.stored);
      EXPECT_EQ(inspector.inspect(i, 1)->max_abs_diff_o, 0.0) << "step " << i << " skip " << skip;
      EXPECT_EQ(trace::to_json_line(step).find("\"graph\":") != std::string::npos, step.graph.has_value());
      if (step.graph) {
        EXPECT_NE(trace::describe_step(*store, i).find("Graph of 1 row replayed, 0 padding"),
                  std::string::npos);
      }
    }
  }
}

TEST(GpuEngineGraphs, TheTextsAndAlmostTheLogitsOfEagerSteps) {
  std::unique_ptr<Device> device;
  try {
    device = make_cuda_device();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  const TinyModel model;
  Transformer transformer(*device, model.dir());
  const auto run = [&](EngineConfig config) {
    Engine engine(*device, &transformer, config);
    for (const Request& r : three_prompts()) engine.add_request(r);
    return run_to_end(engine);
  };
  EngineConfig config = graph_pool(4, 16);
  const auto graphs = run(config);
  config.cuda_graphs = false;
  const auto eager = run(config);
  ASSERT_EQ(graphs.size(), eager.size());
  EXPECT_EQ(texts(graphs), texts(eager));
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i]->kind == StepKind::decode) {
      EXPECT_GT(graphs[i]->graph->bucket, 0);
    }
    EXPECT_EQ(graphs[i]->launches.size(), eager[i]->launches.size());
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_LT(trace::max_abs_diff(graphs[i]->layers[l].o, eager[i]->layers[l].o), 1e-4);
    }
  }
  const auto broken = run(skipping());
  for (const LayerRecord& layer : broken[1]->layers) EXPECT_EQ(layer.o.data, layer.q.data);
}

}  // namespace
}  // namespace attn::test
