// Recorded tensors as numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/step_record.h"

namespace attn::trace {

/// One element of a 16- or 32-bit float format as float; exact.
float half_to_float(std::uint16_t bits);
float bfloat16_to_float(std::uint16_t bits);

/// All elements of a tensor as float, row-major.
std::vector<float> to_floats(const TensorRecord& tensor);

/// A float tensor record of the given shape.
TensorRecord float_tensor(std::vector<std::int64_t> shape, const std::vector<float>& values);

/// Largest |a - b|: 0 when the bytes are equal (NaNs too), infinity when shapes differ or one side has a NaN.
double max_abs_diff(const TensorRecord& a, const TensorRecord& b);

}  // namespace attn::trace
