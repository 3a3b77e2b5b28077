// Inputs of the attention benchmark: large, random, cheap to make, and known on the host, so that a few rows
// of every result can be checked against float64.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.h"

namespace attn::bench {

/// bf16 values that repeat every 2^20: sign and mantissa random, exponent that of 1/4 .. 1.
class Values {
 public:
  Values(Device& device, std::size_t count, std::uint32_t seed);
  double at(std::size_t i) const;
  void* device() const { return buffer_.as<>(); }
  std::size_t bytes() const { return buffer_.bytes(); }

 private:
  std::vector<std::uint16_t> pattern_;
  Buffer buffer_;
};

Buffer ints(Device& device, const std::vector<std::int32_t>& values);

/// One attention problem in bf16. decode: q_lens empty. K and V paged in scattered blocks of 16, or packed.
struct Case {
  const char* name;
  bool decode;
  std::vector<int> q_lens, k_lens;
  int heads, kv_heads, dim;
  bool paged;

  int batch() const { return static_cast<int>(k_lens.size()); }
  double keys() const;
  double pairs() const;  // visible, bottom-right
  double flop() const { return 4.0 * dim * heads * pairs(); }
  double bytes() const;  // K and V of the real context, q and o, once each
};

/// The case on the device: `sets` copies of K and V, which calls take in turn.
class Problem {
 public:
  Problem(Device& device, const Case& c);
  int sets() const { return static_cast<int>(k_.size()); }
  /// False when the level's workspace does not fit (level 1 keeps its scores).
  bool prepare(int level);
  void run(int set);
  /// Runs once more into poisoned outputs; |o - reference| / |reference| over sampled rows, and lse checked.
  /// NaN when anything is off.
  double error();
  /// The kernel that the last launch log named first after clearing tickets.
  std::string kernel();

 private:
  double row_error(int b, int i, int h, const std::vector<std::uint16_t>& o, float lse) const;
  std::size_t key_row(int b, int j) const;

  Device& device_;
  Case case_;
  std::vector<std::int32_t> table_, first_q_, first_k_;
  int width_ = 0;
  PagedKv kv_;
  Values q_;
  std::vector<Values> k_, v_;
  Buffer tables_, cu_q_, cu_k_, lens_, o_, lse_, tickets_, workspace_;
  PrefillParams prefill_;
  DecodeParams decode_;
};

}  // namespace attn::bench
