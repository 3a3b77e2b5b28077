// The element types a tensor can have. Kernels compute in float whatever they store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attn {

enum class DType : std::uint8_t { f32, f16, bf16 };

constexpr std::size_t dtype_size(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

/// Names as safetensors writes them.
constexpr std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
  }
  return "?";
}

inline DType dtype_from_name(std::string_view name) {
  if (name == "F32") return DType::f32;
  if (name == "F16") return DType::f16;
  if (name == "BF16") return DType::bf16;
  throw std::runtime_error("dtype '" + std::string(name) + "' is not supported; use F32, F16 or BF16");
}

}  // namespace attn
