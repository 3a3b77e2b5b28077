// __half and __nv_bfloat16 for g++: storage and conversions, with the bits CUDA gives (round to nearest
// even; every NaN becomes 0x7FFF). Kernels compute in float, so arithmetic on these types is left out.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/simt/vector_types.h"

namespace attn::simt {

/// IEEE binary16 to float, exact. NaNs become 0x7FFFFFFF as in cuda_fp16.
constexpr float half_bits_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t magnitude = bits & 0x7FFFU;
  if (magnitude > 0x7C00U) return std::bit_cast<float>(0x7FFFFFFFU);
  if (magnitude == 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U);
  if (magnitude >= 0x0400U) return std::bit_cast<float>(sign | ((magnitude << 13U) + (112U << 23U)));
  // Subnormal or zero: magnitude * 2^-24 is exact in float.
  const float value = static_cast<float>(magnitude) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

constexpr std::uint16_t float_to_half_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return 0x7FFFU;
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // >= 65520 rounds to inf
  if (magnitude < 0x38800000U) {
    // Below 2^-14 the result is subnormal: adding 0.5 lets the FPU's own nearest-even rounding drop all
    // bits below 2^-24, and leaves the half mantissa in the low bits of the float.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t odd = (magnitude >> 13U) & 1U;
  const std::uint32_t rounded = magnitude + 0x0FFFU + odd - (112U << 23U);
  return static_cast<std::uint16_t>(sign | (rounded >> 13U));
}

constexpr float bf16_bits_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

constexpr std::uint16_t float_to_bf16_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FFFU;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace attn::simt

namespace attn::on_simt {

struct __half {
  std::uint16_t bits;
};
struct __nv_bfloat16 {
  std::uint16_t bits;
};
struct alignas(4) __half2 {
  __half x, y;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

inline float __half2float(__half h) { return simt::half_bits_to_float(h.bits); }
inline __half __float2half_rn(float f) { return {simt::float_to_half_bits(f)}; }
inline __half __float2half(float f) { return __float2half_rn(f); }
inline std::uint16_t __half_as_ushort(__half h) { return h.bits; }
inline __half __ushort_as_half(std::uint16_t bits) { return {bits}; }
inline float2 __half22float2(__half2 h) { return {__half2float(h.x), __half2float(h.y)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__float2half_rn(x), __float2half_rn(y)}; }
inline __half2 __float22half2_rn(float2 f) { return __floats2half2_rn(f.x, f.y); }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half __low2half(__half2 h) { return h.x; }
inline __half __high2half(__half2 h) { return h.y; }
inline float __low2float(__half2 h) { return __half2float(h.x); }
inline float __high2float(__half2 h) { return __half2float(h.y); }

inline float __bfloat162float(__nv_bfloat16 b) { return simt::bf16_bits_to_float(b.bits); }
inline __nv_bfloat16 __float2bfloat16_rn(float f) { return {simt::float_to_bf16_bits(f)}; }
inline __nv_bfloat16 __float2bfloat16(float f) { return __float2bfloat16_rn(f); }
inline std::uint16_t __bfloat16_as_ushort(__nv_bfloat16 b) { return b.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(std::uint16_t bits) { return {bits}; }
inline float2 __bfloat1622float2(__nv_bfloat162 b) { return {__bfloat162float(b.x), __bfloat162float(b.y)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __floats2bfloat162_rn(f.x, f.y); }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline float __low2float(__nv_bfloat162 b) { return __bfloat162float(b.x); }
inline float __high2float(__nv_bfloat162 b) { return __bfloat162float(b.y); }

inline float to_float(float x) { return x; }
inline float to_float(__half x) { return __half2float(x); }
inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class T>
T from_float(float x);
template <>
inline float from_float<float>(float x) {
  return x;
}
template <>
inline __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
inline __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

}  // namespace attn::on_simt
