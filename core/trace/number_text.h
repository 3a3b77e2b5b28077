// Numbers as people read them: what is no number says so in one way everywhere.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace attn {

/// Wrapped for fmt: num(x) in "{:.4f}" is written as x would be when it is finite, else as "NaN", "+inf" or
/// "−inf" (with a minus sign, not a hyphen), whatever the format asks for. The sign of a NaN means nothing.
struct Num {
  double value = 0.0;
};
constexpr Num num(double value) { return {value}; }

}  // namespace attn

template <>
struct fmt::formatter<attn::Num> : fmt::formatter<double> {
  template <class Context>
  auto format(const attn::Num& number, Context& context) const {
    const double value = number.value;
    if (std::isfinite(value)) return fmt::formatter<double>::format(value, context);
    const std::string_view text = std::isnan(value) ? "NaN" : value > 0.0 ? "+inf" : "\xE2\x88\x92inf";
    return fmt::format_to(context.out(), "{}", text);
  }
};
