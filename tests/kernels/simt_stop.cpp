// Work that nobody wants any more: the emulator leaves a launch between two of its blocks, and can go on.
#include <atomic>
#include <numeric>

#include "simt_testing.h"

namespace attn::on_simt {
namespace {

using namespace simt_test;

constexpr unsigned kBlocks = 5000;

/// Counts its blocks and, in the block of that number, has the launch stopped.
__global__ void stopping_kernel(std::atomic<unsigned>* run, unsigned last, std::stop_source* stop) {
  if (threadIdx.x == 0 && run->fetch_add(1) + 1 == last) stop->request_stop();
  __syncthreads();
}

TEST(SimtStop, ALaunchEndsBetweenItsBlocksAndTheNextOneRunsWhole) {
  for (const int threads : {1, 2, 4}) {
    Emulator emulator({.num_threads = threads});
    LaunchContext& context = emulator.device().context();
    std::stop_source stop;
    context.stop = stop.get_token();
    std::atomic<unsigned> run = 0;
    EXPECT_THROW(emulator.launch({kBlocks}, {64}, 0, stopping_kernel, &run, 10U, &stop), Stopped);
    EXPECT_GE(run, 10U);
    EXPECT_LT(run, 10U + static_cast<unsigned>(threads)) << "each worker ends the block that it is in";
    EXPECT_THROW(emulator.launch({kBlocks}, {64}, 0, stopping_kernel, &run, 0U, &stop), Stopped);
    EXPECT_LT(run, 10U + static_cast<unsigned>(threads)) << "a launch that comes later does not begin";

    context.stop = {};
    run = 0;
    emulator.launch({kBlocks}, {64}, 0, stopping_kernel, &run, 0U, &stop);
    EXPECT_EQ(run, kBlocks);
  }
}

TEST(SimtStop, AGraphEndsWithinALaunchAndIsReplayedWhole) {
  Emulator emulator;
  LaunchContext& context = emulator.device().context();
  std::stop_source stop;
  std::atomic<unsigned> run = 0;
  Capture capture(emulator.device());
  for (int i = 0; i < 3; ++i) emulator.launch({kBlocks}, {64}, 0, stopping_kernel, &run, kBlocks + 7, &stop);
  const std::unique_ptr<Graph> graph = capture.finish();
  context.stop = stop.get_token();
  EXPECT_THROW(graph->replay(), Stopped);
  EXPECT_GE(run, kBlocks + 7);
  EXPECT_LT(run, 2 * kBlocks);
  context.stop = {};
  run = 2 * kBlocks;  // no block of that number any more
  graph->replay();
  EXPECT_EQ(run, 5 * kBlocks);
}

TEST(SimtStop, AProductEndsToo) {
  Emulator emulator;
  constexpr int kSize = 64;
  std::vector<float> host(kSize * kSize);
  std::iota(host.begin(), host.end(), 0.0F);
  const Buffer x = emulator.upload(host);
  const Buffer y = emulator.buffer(x.bytes());
  const MatmulParams product{
      .dtype = DType::f32, .m = kSize, .n = kSize, .k = kSize, .x = x.as<>(), .w = x.as<>(), .y = y.as<>()};
  std::stop_source stop;
  stop.request_stop();
  emulator.device().context().stop = stop.get_token();
  EXPECT_THROW(emulator.device().matmul(product), Stopped);
  emulator.device().context().stop = {};
  emulator.device().matmul(product);
  EXPECT_EQ(y.download<float>()[0],
            std::inner_product(host.begin(), host.begin() + kSize, host.begin(), 0.0F));
}

/// What another thread would read, at the begin of each block.
__global__ void watching_kernel(const BlocksBegun* blocks, std::atomic<unsigned>* wrong) {
  if (blocks->all != gridDim.x || blocks->begun != blockIdx.x) ++*wrong;
}

TEST(SimtStop, TellsHowFarALaunchIs) {
  Emulator emulator({.num_threads = 1});
  BlocksBegun blocks;
  emulator.device().context().blocks = &blocks;
  std::atomic<unsigned> wrong = 0;
  for (const unsigned grid : {12U, 5U}) {
    emulator.launch({grid}, {1}, 0, watching_kernel, &blocks, &wrong);
    EXPECT_EQ(blocks.all, grid);
    EXPECT_EQ(blocks.begun, grid - 1);
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace attn::on_simt
