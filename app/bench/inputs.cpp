#include "app/bench/inputs.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/common/tiles.h"
#include "kernels/simt/half_types.h"

namespace attn::app {
namespace {

// Odd, so that rows, whose lengths are powers of two, do not repeat each other.
constexpr std::size_t kPattern = (std::size_t{1} << 20U) + 7;
constexpr double kBeyondCache = 300e6;  // bytes of a rotation, several times an L2
constexpr int kMostSets = 8;

}  // namespace

BenchValues::BenchValues(Device& device, std::size_t count, std::uint32_t seed)
    : pattern_(std::min(count, kPattern)), buffer_(device, count * sizeof(std::uint16_t), "bench input") {
  std::mt19937 rng(seed);
  for (auto& x : pattern_) {
    const auto bits = static_cast<std::uint32_t>(rng());
    x = static_cast<std::uint16_t>((bits & 0x807FU) | (0x3E80U + ((bits >> 9U) & 0x0080U)));
  }
  device.upload(buffer_.as<>(), pattern_.data(), pattern_.size() * sizeof(std::uint16_t));
  for (std::size_t done = pattern_.size(); done < count; done *= 2)
    device.copy(buffer_.as<std::uint16_t>() + done, buffer_.as<>(),
                std::min(done, count - done) * sizeof(std::uint16_t));
}

double BenchValues::at(std::size_t i) const { return simt::bf16_bits_to_float(bits(i)); }

Buffer bench_ints(Device& device, const std::vector<std::int32_t>& values) {
  Buffer buffer(device, values.size() * sizeof(std::int32_t), "bench ints");
  buffer.upload(values);
  return buffer;
}

int input_sets(const Device& device, double bytes) {
  if (device.kind() != DeviceKind::cuda) return 1;
  return std::clamp(static_cast<int>(kBeyondCache / bytes) + 1, 2, kMostSets);
}

ScatteredTables::ScatteredTables(const std::vector<int>& lens)
    : width(ceil_div(*std::max_element(lens.begin(), lens.end()), kBenchBlock)) {
  for (const int len : lens) blocks += ceil_div(len, kBenchBlock);
  std::vector<std::int32_t> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  ids.assign(lens.size() * static_cast<std::size_t>(width), -1);
  auto next = order.begin();
  for (std::size_t b = 0; b < lens.size(); ++b) {
    for (int i = 0; i < ceil_div(lens[b], kBenchBlock); ++i)
      ids[b * static_cast<std::size_t>(width) + static_cast<std::size_t>(i)] = *next++;
  }
}

}  // namespace attn::app
