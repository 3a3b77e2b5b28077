#include "core/trace/tensor_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace attn::trace {

float half_to_float(std::uint16_t bits) {
  const bool negative = (bits & 0x8000U) != 0;
  const int exponent = (bits >> 10U) & 0x1F;
  const int fraction = bits & 0x3FF;
  float magnitude = 0.0F;
  if (exponent == 31) {
    magnitude = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);  // subnormal: fraction * 2^-24
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return negative ? -magnitude : magnitude;
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::vector<float> to_floats(const TensorRecord& tensor) {
  std::vector<float> values(tensor.data.size() / dtype_size(tensor.dtype));
  if (tensor.dtype == DType::f32) {
    if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), values.size() * sizeof(float));
    return values;
  }
  const auto convert = tensor.dtype == DType::f16 ? half_to_float : bfloat16_to_float;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.data.data() + 2 * i, 2);
    values[i] = convert(bits);
  }
  return values;
}

TensorRecord float_tensor(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  TensorRecord tensor{DType::f32, std::move(shape), {}};
  tensor.data.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

double max_abs_diff(const TensorRecord& a, const TensorRecord& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.shape != b.shape || a.data.size() != b.data.size() || a.dtype != b.dtype) return kInfinity;
  if (a.data == b.data) return 0.0;
  const std::vector<float> left = to_floats(a), right = to_floats(b);
  double largest = 0.0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(static_cast<double>(left[i]) - static_cast<double>(right[i]));
    if (std::isnan(left[i]) && std::isnan(right[i])) continue;
    largest = std::isnan(difference) ? kInfinity : std::max(largest, difference);
  }
  return largest;
}

}  // namespace attn::trace
