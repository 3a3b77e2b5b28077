// __half and __nv_bfloat16 conversions: the bits CUDA gives.
#include <bit>
#include <cmath>

#include "simt_testing.h"

namespace attn::on_simt {
namespace {

TEST(SimtHalf, EveryHalfPatternSurvivesTheTripThroughFloat) {
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float value = __half2float(__ushort_as_half(pattern));
    const bool is_nan = (bits & 0x7C00U) == 0x7C00U && (bits & 0x3FFU) != 0;
    ASSERT_EQ(std::isnan(value), is_nan);
    ASSERT_EQ(__half_as_ushort(__float2half_rn(value)), is_nan ? 0x7FFFU : pattern);
    if (is_nan) continue;
    // The definition: (-1)^s * 2^(e-15) * 1.m, or 2^-14 * 0.m for e = 0.
    const int exponent = static_cast<int>((bits >> 10U) & 0x1FU);
    const int mantissa = static_cast<int>(bits & 0x3FFU);
    double want = exponent == 31  ? INFINITY
                  : exponent == 0 ? std::ldexp(mantissa, -24)
                                  : std::ldexp(1024 + mantissa, exponent - 25);
    if (bits & 0x8000U) want = -want;
    ASSERT_EQ(static_cast<double>(value), want);
  }
}

TEST(SimtHalf, EveryBfloat16PatternSurvivesTheTripThroughFloat) {
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float value = __bfloat162float(__ushort_as_bfloat16(pattern));
    const bool is_nan = (bits & 0x7F80U) == 0x7F80U && (bits & 0x7FU) != 0;
    ASSERT_EQ(std::isnan(value), is_nan);
    ASSERT_EQ(__bfloat16_as_ushort(__float2bfloat16_rn(value)), is_nan ? 0x7FFFU : pattern);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16U);
  }
}

/// Between any two neighbours: the middle goes to the even one, a little to either side goes to the nearer.
template <class ToBits, class FromBits>
void expect_nearest_even(unsigned largest_finite, ToBits to_bits, FromBits from_bits) {
  for (unsigned low = 0; low < largest_finite; ++low) {
    const float a = from_bits(low), b = from_bits(low + 1);
    const float middle = static_cast<float>((static_cast<double>(a) + b) / 2);
    for (const float sign : {1.0F, -1.0F}) {
      const unsigned s = sign < 0 ? 0x8000U : 0U;
      ASSERT_EQ(to_bits(sign * middle), s | (low + (low & 1U))) << low;
      ASSERT_EQ(to_bits(sign * std::nextafter(middle, 0.0F)), s | low) << low;
      ASSERT_EQ(to_bits(sign * std::nextafter(middle, INFINITY)), s | (low + 1)) << low;
    }
  }
}

TEST(SimtHalf, RoundsToNearestEven) {
  expect_nearest_even(
      0x7BFFU, [](float f) -> unsigned { return __half_as_ushort(__float2half_rn(f)); },
      [](unsigned bits) { return __half2float(__ushort_as_half(static_cast<std::uint16_t>(bits))); });
  expect_nearest_even(
      0x7F7FU, [](float f) -> unsigned { return __bfloat16_as_ushort(__float2bfloat16_rn(f)); },
      [](unsigned bits) { return __bfloat162float(__ushort_as_bfloat16(static_cast<std::uint16_t>(bits))); });
}

TEST(SimtHalf, OverflowUnderflowAndSpecials) {
  const auto half = [](float f) { return __half_as_ushort(__float2half(f)); };
  EXPECT_EQ(half(65504.0F), 0x7BFF);
  EXPECT_EQ(half(65519.996F), 0x7BFF);
  EXPECT_EQ(half(65520.0F), 0x7C00);  // tie with 65536 goes to the even one: infinity
  EXPECT_EQ(half(-1e30F), 0xFC00);
  EXPECT_EQ(half(INFINITY), 0x7C00);
  EXPECT_EQ(half(-NAN), 0x7FFF);
  EXPECT_EQ(half(0x1p-25F), 0x0000);  // tie with zero
  EXPECT_EQ(half(0x1.000002p-25F), 0x0001);
  EXPECT_EQ(half(-0.0F), 0x8000);
  const auto bf16 = [](float f) { return __bfloat16_as_ushort(__float2bfloat16(f)); };
  EXPECT_EQ(bf16(3.4028235e38F), 0x7F80);  // FLT_MAX rounds up to infinity
  EXPECT_EQ(bf16(-INFINITY), 0xFF80);
  EXPECT_EQ(bf16(-NAN), 0x7FFF);
  EXPECT_EQ(bf16(1e-45F), 0x0000);
}

TEST(SimtHalf, PairsAndTheGenericHelpers) {
  const __half2 h = __floats2half2_rn(1.5F, -2.0F);
  EXPECT_EQ(__half22float2(h).x, 1.5F);
  EXPECT_EQ(__high2float(h), -2.0F);
  const __nv_bfloat162 b = __float22bfloat162_rn(make_float2(0.5F, 3.0F));
  EXPECT_EQ(__low2float(b), 0.5F);
  EXPECT_EQ(__bfloat1622float2(b).y, 3.0F);
  EXPECT_EQ(to_float(from_float<__half>(0.1F)), 0.0999755859375F);
  EXPECT_EQ(to_float(from_float<__nv_bfloat16>(0.1F)), 0.10009765625F);
  EXPECT_EQ(to_float(from_float<float>(0.1F)), 0.1F);
}

}  // namespace
}  // namespace attn::on_simt
