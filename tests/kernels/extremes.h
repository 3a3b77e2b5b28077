// The two numbers that are not finite and that the tests name often.
#pragma once

#include <limits>

namespace attn::test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

}  // namespace attn::test
