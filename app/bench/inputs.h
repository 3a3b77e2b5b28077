// Inputs of the benchmarks: large, random, cheap to make, and known on the host, so that a few rows of every
// result can be checked against float64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace attn::app {

/// bf16 values that repeat after a large odd count: sign and mantissa random, exponent that of 1/4 .. 1.
class BenchValues {
 public:
  BenchValues() = default;
  BenchValues(Device& device, std::size_t count, std::uint32_t seed);
  double at(std::size_t i) const;
  std::uint16_t bits(std::size_t i) const { return pattern_[i % pattern_.size()]; }
  void* device() const { return buffer_.as<>(); }
  std::size_t bytes() const { return buffer_.bytes(); }

 private:
  std::vector<std::uint16_t> pattern_;
  Buffer buffer_;
};

Buffer bench_ints(Device& device, const std::vector<std::int32_t>& values);

/// Copies of `bytes` of input that calls take in turn, so that the L2 holds none of it when its turn comes.
int input_sets(const Device& device, double bytes);

inline constexpr int kBenchBlock = 16;  // slots of a block

/// Contexts in blocks scattered over a pool that they fill: the table, -1 padded, as the engine would pass
/// it.
struct ScatteredTables {
  explicit ScatteredTables(const std::vector<int>& lens);
  std::size_t slot(int b, int pos) const {
    return static_cast<std::size_t>(ids[static_cast<std::size_t>(b) * width + pos / kBenchBlock]) *
               kBenchBlock +
           pos % kBenchBlock;
  }
  int width = 0;                  // of a row
  int blocks = 0;                 // of the pool
  std::vector<std::int32_t> ids;  // [B, width]
};

}  // namespace attn::app
