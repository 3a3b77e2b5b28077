// Decode graphs at level 3, whose kernel keeps counters between its launches and cuts the batch by lengths it
// reads itself: replayed again and again, over fewer sequences than the graph has rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/trace/inspector.h"
#include "core/trace/tensor_values.h"
#include "core/trace/trace_file.h"
#include "engine_support.h"
#include "kernels/common/check.h"

namespace attn::test {
namespace {

using trace::Recording;
using trace::Stage;
using trace::StepKind;
using trace::StepRecord;

const TinyShape kHalfShape{.head_dim = 64, .dtype = "bfloat16"};  // what level 3 takes

EngineConfig level_3_pool(bool graphs) {
  EngineConfig config = pool(16, 24);
  config.cuda_graphs = graphs;
  config.decode_level = 3;
  return config;
}

Request request_of_length(int length, int max_tokens) {
  Ints tokens = range(1, length);
  for (std::int32_t& token : tokens) token %= kHalfShape.vocab;
  return request(tokens, max_tokens);
}

/// The second one's keys are more than a tile, and the end of a slice cuts them: its parts are merged, by who
/// comes last at its counter. The first one leaves first, so rows of the graphs go stale.
std::vector<Request> three_lengths() {
  return {request_of_length(10, 6), request_of_length(70, 9), request_of_length(3, 12)};
}
std::vector<Request> four_lengths() {
  return {request_of_length(70, 8), request_of_length(10, 8), request_of_length(75, 8),
          request_of_length(3, 8)};
}

double largest(const trace::TensorRecord& tensor) {
  double most = 0.0;
  for (const float x : trace::to_floats(tensor)) most = std::max<double>(most, std::abs(x));
  return most;
}

struct RecordedRun {
  std::vector<StepPtr> steps;
  std::shared_ptr<Recording> recording;
};
RecordedRun run_on(Device& device, const EngineConfig& config, const std::vector<Request>& requests) {
  const TinyModel model(kHalfShape);
  Transformer transformer(device, model.dir());
  Engine engine(device, &transformer, config);
  for (const Request& r : requests) engine.add_request(r);
  trace::Manifest manifest;
  manifest.config = engine.config();
  manifest.model = engine.model_shape();
  RecordedRun run{run_to_end(engine), std::make_shared<Recording>(manifest)};
  for (const StepPtr& step : run.steps) run.recording->append(step);
  return run;
}

/// Attention kernels of a step, without what merges.
std::vector<std::string> attention_kernels(const StepRecord& step) {
  std::vector<std::string> kernels;
  for (const auto& entry : step.launches) {
    if (entry.stage == Stage::attention && entry.launch.kernel.starts_with("decode_"))
      kernels.push_back(entry.launch.kernel);
  }
  return kernels;
}

/// What the graphs replayed is level 3 and leaves dead rows 0; launched alone on the recorded q, K and V, the
/// same kernel gives every recorded bit of o. Returns how many replays had dead rows.
int expect_replays_right(Device& device, const RecordedRun& run) {
  trace::Inspector inspector(device, run.recording);
  int padded = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const StepRecord& step = *run.steps[i];
    if (step.kind != StepKind::decode) continue;
    SCOPED_TRACE(testing::Message() << "step " << step.step);
    EXPECT_GE(step.graph->bucket, step.num_scheduled);
    padded += step.graph->bucket > step.num_scheduled ? 1 : 0;
    EXPECT_EQ(step.graph->max_abs_o_padding, 0.0F);
    EXPECT_EQ(attention_kernels(step), std::vector<std::string>(2, "decode_l3_stream_kernel<bfloat16>"));
    for (const int layer : {0, 1}) {
      EXPECT_GT(largest(step.layers[static_cast<std::size_t>(layer)].o), 0.1);
      EXPECT_EQ(inspector.inspect(static_cast<int>(i), layer)->max_abs_diff_o, 0.0) << "layer " << layer;
    }
  }
  return padded;
}

TEST(EngineGraphsLevel3, EmptyRowsAndManyReplaysGiveTheBitsOfEagerSteps) {
  const auto device = make_simt_device();
  const RecordedRun graphs = run_on(*device, level_3_pool(true), three_lengths());
  EXPECT_EQ(expect_replays_right(*device, graphs), 5) << "three sequences in the graph of four";
  expect_same_bits(graphs.steps, run_on(*device, level_3_pool(false), three_lengths()).steps);
}

TEST(EngineGraphsLevel3, FullGraphsGiveTheBitsOfEagerSteps) {
  const auto device = make_simt_device();
  const RecordedRun graphs = run_on(*device, level_3_pool(true), four_lengths());
  EXPECT_EQ(expect_replays_right(*device, graphs), 0);
  expect_same_bits(graphs.steps, run_on(*device, level_3_pool(false), four_lengths()).steps);
}

TEST(GpuEngineGraphsLevel3, EmptyRowsAndManyReplays) {
  std::unique_ptr<Device> device;
  try {
    device = make_cuda_device();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  const RecordedRun graphs = run_on(*device, level_3_pool(true), three_lengths());
  EXPECT_EQ(expect_replays_right(*device, graphs), 5);
  // cuBLAS may add in another order for a batch of three than for four, so against eager steps this is no
  // question of bits, and only the first decode step has the same texts for certain.
  const RecordedRun eager = run_on(*device, level_3_pool(false), three_lengths());
  ASSERT_EQ(eager.steps[1]->kind, StepKind::decode);
  for (const std::size_t l : {0U, 1U}) {
    const auto &o = graphs.steps[1]->layers[l].o, &expected = eager.steps[1]->layers[l].o;
    EXPECT_LE(trace::max_abs_diff(o, expected), 0.03 * largest(expected)) << "layer " << l;
  }
  // Where the batch fills the graph, all launches are the same.
  const RecordedRun full = run_on(*device, level_3_pool(true), four_lengths());
  EXPECT_EQ(expect_replays_right(*device, full), 0);
  expect_same_bits(full.steps, run_on(*device, level_3_pool(false), four_lengths()).steps);
}

}  // namespace
}  // namespace attn::test
