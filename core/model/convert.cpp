#include "core/model/convert.h"

#include <cstdint>
#include <cstring>

#include "kernels/simt/half_types.h"

namespace attn {

std::vector<float> to_floats(std::span<const std::byte> data, DType from) {
  std::vector<float> values(data.size() / dtype_size(from));
  if (from == DType::f32) {
    if (!values.empty()) std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data.data() + i * sizeof bits, sizeof bits);
    values[i] = from == DType::f16 ? simt::half_bits_to_float(bits) : simt::bf16_bits_to_float(bits);
  }
  return values;
}

std::vector<std::byte> from_floats(std::span<const float> values, DType to) {
  std::vector<std::byte> data(values.size() * dtype_size(to));
  if (to == DType::f32) {
    if (!data.empty()) std::memcpy(data.data(), values.data(), data.size());
    return data;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits =
        to == DType::f16 ? simt::float_to_half_bits(values[i]) : simt::float_to_bf16_bits(values[i]);
    std::memcpy(data.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return data;
}

std::vector<std::byte> convert(std::span<const std::byte> data, DType from, DType to) {
  if (from == to) return {data.begin(), data.end()};
  return from_floats(to_floats(data, from), to);
}

}  // namespace attn
