// Values from one float type to another, on the host.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/dtype.h"

namespace attn {

/// `data` as `to` in little-endian; rounds to nearest even. `data` may be unaligned.
std::vector<std::byte> convert(std::span<const std::byte> data, DType from, DType to);

/// `data` as float, and floats as bytes of a type.
std::vector<float> to_floats(std::span<const std::byte> data, DType from);
std::vector<std::byte> from_floats(std::span<const float> values, DType to);

}  // namespace attn
