// What the emulator itself costs: `bench_simt`. "per switch" counters are the time of one thread giving way
// to the next at a barrier or a warp operation.
#include <benchmark/benchmark.h>

#include "kernels/common/device_text.h"
#include "kernels/device.h"

namespace attn::on_simt {
namespace {

__global__ void barrier_kernel(int rounds) {
  for (int i = 0; i < rounds; ++i) __syncthreads();
}

__global__ void shuffle_kernel(int rounds, int* out) {
  int value = static_cast<int>(threadIdx.x);
  for (int i = 0; i < rounds; ++i) value += __shfl_xor_sync(0xFFFFFFFFU, value, 1 << (i % 5));
  if (value == -1) *out = value;
}

__global__ void straight_kernel(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0F; }

Device& device() {
  static const std::unique_ptr<Device> one_thread = make_simt_device({.num_threads = 1});
  return *one_thread;
}

template <class... KernelArgs, class... Args>
void launch(unsigned grid, unsigned block, void (*kernel)(KernelArgs...), Args... args) {
  LaunchRecord record;
  record.kernel = "bench";
  record.grid.x = grid;
  record.block.x = block;
  launch_kernel(device().context(), record, kernel, args...);
}

constexpr int kRounds = 100;

void per_item(benchmark::State& state, const char* name, double items) {
  state.counters[name] = benchmark::Counter(items * static_cast<double>(state.iterations()),
                                            benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void bench_barrier(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state) launch(1, threads, barrier_kernel, kRounds);
  per_item(state, "per switch", static_cast<double>(threads) * kRounds);
}
BENCHMARK(bench_barrier)->Arg(32)->Arg(128)->Arg(256)->Arg(1024);

void bench_shuffle(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  for (auto _ : state) launch(1, threads, shuffle_kernel, kRounds, static_cast<int*>(nullptr));
  per_item(state, "per switch", static_cast<double>(threads) * kRounds);
}
BENCHMARK(bench_shuffle)->Arg(32)->Arg(128)->Arg(1024);

void bench_straight(benchmark::State& state) {
  const Buffer out(device(), 256 * 256 * sizeof(float), "out");
  for (auto _ : state) launch(256, 256, straight_kernel, out.as<float>());
  per_item(state, "per thread", 256.0 * 256.0);
}
BENCHMARK(bench_straight);

void bench_launch(benchmark::State& state) {
  const Buffer out(device(), 32 * sizeof(float), "out");
  for (auto _ : state) launch(1, 32, straight_kernel, out.as<float>());
  per_item(state, "per launch", 1.0);
}
BENCHMARK(bench_launch);

}  // namespace
}  // namespace attn::on_simt

BENCHMARK_MAIN();
