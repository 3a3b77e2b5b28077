#include "kernels/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

namespace attn {
namespace {

constexpr int kWallRepeats = 5;

double wall_milliseconds(const TimedCall& call, int set) {
  const auto begin = std::chrono::steady_clock::now();
  call(set);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Random bits make tensor cores draw the power that real data do, and lower their clock as much.
Buffer random_bf16(Device& device, std::size_t count, std::uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<std::uint16_t> values(count);
  for (auto& x : values) {
    const auto bits = static_cast<std::uint32_t>(rng());
    x = static_cast<std::uint16_t>((bits & 0x807FU) | (0x3E80U + ((bits >> 9U) & 0x0080U)));  // 1/4 .. 1
  }
  Buffer buffer(device, count * sizeof(std::uint16_t), "matmul input");
  buffer.upload(values);
  return buffer;
}

double matmul_tflops(Device& device) {
  constexpr int kSize = 8192;
  const std::size_t count = std::size_t{kSize} * kSize;
  const Buffer x = random_bf16(device, count, 1), w = random_bf16(device, count, 2);
  const Buffer y(device, count * sizeof(std::uint16_t), "matmul output");
  const MatmulParams p{DType::bf16, kSize, kSize, kSize, x.as<>(), w.as<>(), y.as<>(), false};
  const double ms = gpu_milliseconds(
      device, [&](int) { device.matmul(p); }, 1);
  return 2.0 * kSize * kSize * kSize / ms * 1e-9;
}

}  // namespace

double once_milliseconds(Device& device, const TimedCall& call) {
  if (device.kind() == DeviceKind::cuda) return gpu_once_milliseconds(device, call);
  return wall_milliseconds(call, 0);
}

double milliseconds(Device& device, const TimedCall& call, int sets) {
  if (device.kind() == DeviceKind::cuda) return gpu_milliseconds(device, call, sets);
  std::vector<double> times;
  for (int i = 0; i < kWallRepeats; ++i) times.push_back(wall_milliseconds(call, i % sets));
  std::nth_element(times.begin(), times.begin() + kWallRepeats / 2, times.end());
  return times[kWallRepeats / 2];
}

Ceilings measure_ceilings(Device& device) {
  if (device.kind() != DeviceKind::cuda) return {};
  Ceilings ceilings = measure_gpu(device);
  ceilings.matmul_tflops = matmul_tflops(device);
  return ceilings;
}

}  // namespace attn
