// measure.h where there is a CUDA compiler.
#include <algorithm>
#include <vector>

#include "kernels/common/cuda_text.h"
#include "kernels/measure.h"

namespace attn {
namespace {

using on_cuda::cuda_check;

constexpr std::size_t kMostCeilingBytes = std::size_t{4} << 30U;
constexpr int kThreads = 256;
constexpr int kChains = 8;        // independent, so that no thread waits for its own last result
constexpr int kRounds = 4096;     // of kChains operations
constexpr float kSlowMs = 50.0F;  // such a call is timed alone, and fewer times
constexpr float kGraphMs = 5.0F;  // of calls in one graph

/// Reads everything and keeps nothing: the sum goes out only if it is a value that it never is.
__global__ void read_kernel(const float4* from, std::size_t count, float* out) {
  float sum = 0.0F;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 8
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const float4 x = from[i];
    sum += x.x + x.y + x.z + x.w;
  }
  if (sum == 12345.678F) *out = sum;
}

/// A grid of one thread an element does not loop: the way of the cache kernels, which may beat the loop.
__global__ void copy_kernel(const float4* from, std::size_t count, float4* to) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 8
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    to[i] = from[i];
}

__global__ void fma_kernel(float a, float b, float* out) {
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = static_cast<float>(threadIdx.x + c);
  for (int i = 0; i < kRounds; ++i) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = fmaf(x[c], a, b);
  }
  float sum = 0.0F;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += x[c];
  if (sum == 12345.678F) *out = sum;
}

__global__ void exp_kernel(float start, float* out) {
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = start - static_cast<float>(threadIdx.x + c);
  for (int i = 0; i < kRounds; ++i) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[c]));
  }
  float sum = 0.0F;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += x[c];
  if (sum == 12345.678F) *out = sum;
}

__global__ void empty_kernel() {}

cudaStream_t stream_of(Device& device) { return static_cast<cudaStream_t>(device.context().stream); }

/// Some calls as one graph, which lives as long as this.
class CallGraph {
 public:
  CallGraph(cudaStream_t stream, const TimedCall& call, int calls, int sets) : stream_(stream) {
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < calls; ++i) call(i % sets);
    cuda_check(cudaStreamEndCapture(stream, &graph_), "capture");
    cuda_check(cudaGraphInstantiate(&exec_, graph_, 0), "graph");
  }
  ~CallGraph() {
    cudaGraphExecDestroy(exec_);
    cudaGraphDestroy(graph_);
  }
  CallGraph(const CallGraph&) = delete;
  CallGraph& operator=(const CallGraph&) = delete;
  float replay() {
    return on_cuda::time_on_stream(stream_, [&] { cuda_check(cudaGraphLaunch(exec_, stream_), "graph"); });
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

double gigabytes_per_second(double bytes, double ms) { return bytes / ms * 1e-6; }

void measure_memory(Device& device, Ceilings& rates) {
  std::size_t free_bytes = 0, all_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  const std::size_t bytes = std::min(kMostCeilingBytes, free_bytes / 8 / sizeof(float4) * sizeof(float4));
  const Buffer a(device, bytes, "from"), b(device, bytes, "to");
  device.fill(a.as<>(), 0x3C, bytes);
  const auto* from = a.as<float4>();
  const std::size_t count = bytes / sizeof(float4);
  std::vector<unsigned> grids{static_cast<unsigned>((count + kThreads - 1) / kThreads)};
  for (const int blocks : {4, 8, 16, 32})
    grids.push_back(static_cast<unsigned>(blocks * device.traits().num_sms));
  for (const unsigned grid : grids) {
    const double read = gpu_milliseconds(
        device,
        [&](int) { read_kernel<<<grid, kThreads, 0, stream_of(device)>>>(from, count, b.as<float>()); }, 1);
    const double copy = gpu_milliseconds(
        device,
        [&](int) { copy_kernel<<<grid, kThreads, 0, stream_of(device)>>>(from, count, b.as<float4>()); }, 1);
    rates.read_gbs = std::max(rates.read_gbs, gigabytes_per_second(static_cast<double>(bytes), read));
    rates.copy_gbs = std::max(rates.copy_gbs, gigabytes_per_second(2.0 * static_cast<double>(bytes), copy));
  }
}

void measure_arithmetic(Device& device, Ceilings& rates) {
  const Buffer out(device, sizeof(float), "out");
  const auto grid = static_cast<unsigned>(8 * device.traits().num_sms);
  const double operations = static_cast<double>(grid) * kThreads * kChains * kRounds;
  const double fma = gpu_milliseconds(
      device, [&](int) { fma_kernel<<<grid, kThreads, 0, stream_of(device)>>>(0.5F, 1.0F, out.as<float>()); },
      1);
  const double exp = gpu_milliseconds(
      device, [&](int) { exp_kernel<<<grid, kThreads, 0, stream_of(device)>>>(0.0F, out.as<float>()); }, 1);
  const double empty = gpu_milliseconds(
      device, [&](int) { empty_kernel<<<1, 32, 0, stream_of(device)>>>(); }, 1);
  rates.fp32_tflops = 2.0 * operations / fma * 1e-9;
  rates.exp_tps = operations / exp * 1e-9;
  rates.launch_us = empty * 1e3;
}

}  // namespace

double gpu_once_milliseconds(Device& device, const TimedCall& call) {
  call(0);
  return on_cuda::time_on_stream(stream_of(device), [&] { call(0); });
}

double gpu_milliseconds(Device& device, const TimedCall& call, int sets) {
  for (int i = 0; i < 2; ++i) call(i % sets);
  const float once = on_cuda::time_on_stream(stream_of(device), [&] { call(0); });
  const bool slow = once > kSlowMs;
  const int wanted = std::max(sets, std::min(60, static_cast<int>(kGraphMs / once)));
  const int calls = slow ? 1 : wanted / sets * sets;
  CallGraph graph(stream_of(device), call, calls, sets);
  graph.replay();
  std::vector<float> times;
  for (int i = 0; i < (slow ? 3 : 7); ++i) times.push_back(graph.replay() / static_cast<float>(calls));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

Ceilings measure_gpu(Device& device) {
  Ceilings rates;
  measure_memory(device, rates);
  measure_arithmetic(device, rates);
  return rates;
}

}  // namespace attn
