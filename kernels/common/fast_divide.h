// Division by a number known before the launch, as a multiplication. On a GPU an integer division goes
// through the unit for reciprocals and exponentials, where it waits behind a softmax.
#pragma once

#include <cstdint>

#include "kernels/common/host_device.h"

namespace attn {

/// n / divisor for 0 <= n < 2^31. PRECOND: divisor >= 1.
struct FastDivide {
  std::uint32_t divisor = 1, multiplier = 1U << 31U, shift = 31;

  FastDivide() = default;
  explicit FastDivide(int by) : divisor(static_cast<std::uint32_t>(by)) {
    // shift = 31 + ceil(log2(divisor)): 2^shift / divisor, rounded up, has 32 bits and is right for 31.
    for (shift = 31; (std::uint64_t{1} << (shift - 31)) < divisor; ++shift) {
    }
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << shift) + divisor - 1) / divisor);
  }
  ATTN_HD int quotient(int n) const {
    return static_cast<int>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)) * multiplier) >>
                            shift);
  }
  ATTN_HD int remainder(int n) const { return n - quotient(n) * static_cast<int>(divisor); }
};

}  // namespace attn
