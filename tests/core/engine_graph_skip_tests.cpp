// A graph captured without cache operations: what it holds, what it does to a text, what a trace says of it.
// And graphs on the GPU, where there is one.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/trace/describe.h"
#include "core/trace/inspector.h"
#include "core/trace/jsonl.h"
#include "core/trace/tensor_values.h"
#include "core/trace/trace_file.h"
#include "engine_support.h"
#include "kernels/common/check.h"
#include "tests/core/trace_random.h"

namespace attn::test {
namespace {

using trace::AttentionPath;
using trace::EventKind;
using trace::LayerRecord;
using trace::Stage;
using trace::StepKind;
using trace::StepRecord;

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
    manifest.model = model.model_shape();
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

std::ptrdiff_t launches_but_merges(const trace::StepRecord& step) {
  return std::count_if(step.launches.begin(), step.launches.end(), [](const trace::LaunchEntry& entry) {
    return entry.launch.kernel.find("merge_states") == std::string::npos;
  });
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
    // The frozen plan is made for max_model_len and may split the keys where the eager one does not.
    EXPECT_EQ(launches_but_merges(*graphs[i]), launches_but_merges(*eager[i]));
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_LT(trace::max_abs_diff(graphs[i]->layers[l].o, eager[i]->layers[l].o), 1e-4);
    }
  }
  const auto broken = run(skipping());
  for (const LayerRecord& layer : broken[1]->layers) EXPECT_EQ(layer.o.data, layer.q.data);
}

}  // namespace
}  // namespace attn::test
