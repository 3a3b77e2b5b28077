// bench_timer.h where there is a CUDA compiler.
#include "kernels/common/cuda_text.h"
#include "tests/bench/bench_timer.h"

namespace attn::bench {
namespace {

using on_cuda::cuda_check;

constexpr std::size_t kCeilingBytes = std::size_t{4} << 30U;

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

__global__ void copy_kernel(const float4* from, std::size_t count, float4* to) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 8
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    to[i] = from[i];
}

cudaStream_t stream_of(Device& device) { return static_cast<cudaStream_t>(device.context().stream); }

float replay(cudaGraphExec_t graph, cudaStream_t stream) {
  return on_cuda::time_on_stream(stream, [&] { cuda_check(cudaGraphLaunch(graph, stream), "graph"); });
}

double gigabytes_per_second(double bytes, double ms) { return bytes / ms * 1e-6; }

}  // namespace

double gpu_milliseconds(Device& device, const std::function<void(int)>& call, int rotation) {
  cudaStream_t stream = stream_of(device);
  for (int i = 0; i < 2; ++i) call(i % rotation);
  const float once = on_cuda::time_on_stream(stream, [&] { call(0); });
  const bool slow = once > 50.0F;
  const int calls =
      slow ? 1 : std::max(rotation, std::min(60, static_cast<int>(5.0F / once))) / rotation * rotation;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < calls; ++i) call(i % rotation);
  cuda_check(cudaStreamEndCapture(stream, &graph), "capture");
  cuda_check(cudaGraphInstantiate(&exec, graph, 0), "graph");
  replay(exec, stream);
  std::vector<float> times;
  for (int i = 0; i < (slow ? 3 : 7); ++i) times.push_back(replay(exec, stream) / static_cast<float>(calls));
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

Ceilings measure_ceilings(Device& device) {
  if (device.kind() != DeviceKind::cuda) return {};
  const Buffer a(device, kCeilingBytes, "from"), b(device, kCeilingBytes, "to");
  device.fill(a.as<>(), 0x3C, kCeilingBytes);
  Ceilings rates;
  const auto* from = a.as<float4>();
  const std::size_t count = kCeilingBytes / sizeof(float4);
  for (const int blocks : {4, 8, 16, 32}) {  // of 256 threads an SM
    const unsigned grid = static_cast<unsigned>(blocks * device.traits().num_sms);
    const double read = gpu_milliseconds(
        device, [&](int) { read_kernel<<<grid, 256, 0, stream_of(device)>>>(from, count, b.as<float>()); },
        1);
    const double copy = gpu_milliseconds(
        device, [&](int) { copy_kernel<<<grid, 256, 0, stream_of(device)>>>(from, count, b.as<float4>()); },
        1);
    rates.read_gbs = std::max(rates.read_gbs, gigabytes_per_second(kCeilingBytes, read));
    rates.copy_gbs = std::max(rates.copy_gbs, gigabytes_per_second(2.0 * kCeilingBytes, copy));
  }
  return rates;
}

}  // namespace attn::bench
