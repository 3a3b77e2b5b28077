// A step that is stopped leaves nothing behind: run again, it and all that follow have the bits they would
// have had. And what a step says of itself while it is computed.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "engine_support.h"

namespace attn::test {
namespace {

using trace::Stage;

/// An engine on the emulator whose steps can be stopped.
struct Stoppable {
  Stoppable(const TinyModel& model, const EngineConfig& config)
      : device(make_simt_device()), transformer(*device, model.dir()), engine(*device, &transformer, config) {
    for (const Request& one : three_prompts()) engine.add_request(one);
  }
  /// Runs to the end; a step that is stopped is run again.
  std::vector<StepPtr> run() {
    std::vector<StepPtr> steps;
    while (engine.has_work()) {
      std::stop_source stop;
      device->context().stop = stop.get_token();
      before_step(stop);
      try {
        steps.push_back(engine.step());
      } catch (const Stopped&) {
        ++stopped;
      }
    }
    return steps;
  }

  std::unique_ptr<Device> device;
  Transformer transformer;
  Engine engine;
  std::function<void(std::stop_source stop)> before_step = [](const std::stop_source&) {};
  int stopped = 0;
};

std::vector<EngineConfig> engines() {
  EngineConfig plain = pool(4, 16);
  EngineConfig graphs = graph_pool(4, 16);
  EngineConfig warm = graph_pool(4, 16);
  warm.warmup = true;
  warm.max_num_batched_tokens = 24;
  EngineConfig tickets = pool(4, 16);
  tickets.decode_level = 3;
  tickets.num_splits = 3;
  EngineConfig graph_tickets = tickets;
  graph_tickets.cuda_graphs = true;
  EngineConfig gather = pool(4, 7);  // too few blocks: sequences are preempted
  gather.prefill_path = PrefillPath::gather_flatten;
  gather.decode_path = DecodePath::gather_padded;
  EngineConfig chunks = pool(4, 16);
  chunks.max_num_batched_tokens = 5;
  return {plain, graphs, warm, tickets, graph_tickets, gather, chunks};
}

TEST(EngineStop, AtWhateverStageTheStepIsRunAgainWithTheSameBits) {
  const TinyModel model;
  for (const EngineConfig& config : engines()) {
    int stages = 0;
    Stoppable plain(model, config);
    plain.engine.watch([&](const StepAt&) { ++stages; });
    const auto expected = plain.run();
    ASSERT_GT(stages, 20);
    for (int at = 0; at < stages; at += 5) {
      Stoppable one(model, config);
      std::stop_source now;
      one.before_step = [&](const std::stop_source& stop) { now = stop; };
      int seen = 0;
      one.engine.watch([&](const StepAt&) {
        if (seen++ == at) now.request_stop();
      });
      expect_same_bits(one.run(), expected);
      EXPECT_EQ(one.stopped, 1) << "at stage " << at;
    }
  }
}

TEST(EngineStopThread, InTheMiddleOfLaunchesTheBitsAreTheSame) {
  const TinyModel model;
  int stopped = 0;
  for (const EngineConfig& config : engines()) {
    Stoppable plain(model, config);
    const auto expected = plain.run();
    Stoppable often(model, config);
    Dice dice(7);
    std::jthread other;
    int left = 30;
    often.before_step = [&](std::stop_source stop) {
      if (left-- <= 0) return;
      other = std::jthread([stop, after = std::chrono::microseconds(dice.roll(20, 3000))]() mutable {
        std::this_thread::sleep_for(after);
        stop.request_stop();
      });
    };
    expect_same_bits(often.run(), expected);
    stopped += often.stopped;
  }
  EXPECT_GT(stopped, 0);
}

TEST(EngineStop, ARequestThatComesAfterAStopEntersAfterTheStepThatIsRunAgain) {
  const TinyModel model;
  Stoppable stopped(model, pool(4, 24)), plain(model, pool(4, 24));
  std::stop_source stop;
  stop.request_stop();
  stopped.device->context().stop = stop.get_token();
  EXPECT_EQ(stopped.engine.next_entry(), 0);
  EXPECT_THROW(stopped.engine.step(), Stopped);
  EXPECT_EQ(stopped.engine.next_entry(), 1);
  stopped.engine.add_request(request(range(40, 45), 2, stopped.engine.next_entry()));
  plain.engine.add_request(request(range(40, 45), 2, 1));
  expect_same_bits(stopped.run(), plain.run());
}

TEST(EngineStop, AStepSaysWhatItIsAtAndHowMuchIsDone) {
  const TinyModel model;
  Stoppable engine(model, pool(4, 16));
  std::vector<StepAt> told;
  engine.engine.watch([&](const StepAt& at) { told.push_back(at); });
  const StepPtr step = engine.engine.step();
  ASSERT_GT(told.size(), 4U);
  EXPECT_EQ(told.front().stage, Stage::prepare);
  EXPECT_EQ(told.front().done(0.0F), 0.0F);
  EXPECT_EQ(told.back().stage, Stage::sample);
  float done = 0.0F;
  for (const StepAt& at : told) {
    EXPECT_EQ(at.kind, trace::StepKind::prefill);
    EXPECT_EQ(at.num_tokens, static_cast<int>(step->input_ids.size()));
    EXPECT_EQ(at.num_layers, 2);
    EXPECT_GE(at.done(0.0F), done);
    EXPECT_GT(at.done(1.0F), at.done(0.0F));
    EXPECT_LE(at.done(1.0F), 1.0F);
    done = at.done(0.0F);
  }
  EXPECT_EQ(told.back().done(1.0F), 1.0F);
}

}  // namespace
}  // namespace attn::test
