// SHA-256, for lists of picture hashes that others can check with `sha256sum`.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace attn::app {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::uint8_t> bytes);

}  // namespace attn::app
