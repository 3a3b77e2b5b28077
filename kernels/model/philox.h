// Philox4x32-10: random numbers without a state. The generator is a keyed scrambling of a counter, so the
// number for (seed, request, position, token) is the same whoever asks, in whatever order, on any device:
// integer arithmetic only. Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
#pragma once

#include <cstdint>

#include "kernels/common/host_device.h"

namespace attn {

struct Philox {
  std::uint32_t word[4];
};

/// Four random words for a 128-bit counter under a 64-bit key.
ATTN_HD inline Philox philox4x32(Philox counter, std::uint64_t key) {
  auto key_low = static_cast<std::uint32_t>(key);
  auto key_high = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = static_cast<std::uint64_t>(0xD2511F53U) * counter.word[0];
    const std::uint64_t product1 = static_cast<std::uint64_t>(0xCD9E8D57U) * counter.word[2];
    counter = {{static_cast<std::uint32_t>(product1 >> 32U) ^ counter.word[1] ^ key_low,
                static_cast<std::uint32_t>(product1),
                static_cast<std::uint32_t>(product0 >> 32U) ^ counter.word[3] ^ key_high,
                static_cast<std::uint32_t>(product0)}};
    key_low += 0x9E3779B9U;   // golden ratio
    key_high += 0xBB67AE85U;  // sqrt(3) - 1
  }
  return counter;
}

/// A uniform number strictly between 0 and 1: 52 random bits and a half, exact in double.
ATTN_HD inline double philox_uniform(std::uint64_t seed, std::uint64_t counter, std::uint32_t token) {
  const Philox random = philox4x32(
      {{token, 0, static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32U)}}, seed);
  const std::uint64_t bits = (static_cast<std::uint64_t>(random.word[0]) << 20U) | (random.word[1] >> 12U);
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

}  // namespace attn
