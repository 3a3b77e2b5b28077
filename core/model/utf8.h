// UTF-8 on the byte level: how long is the next character, is it one at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// One character at the start of a text; length 0 when the bytes there are not valid UTF-8 (stray
/// continuation, overlong form, surrogate, above U+10FFFF, cut short) or the text is empty.
struct Utf8Char {
  char32_t code = 0;
  std::size_t length = 0;
};
Utf8Char utf8_front(std::string_view text);

/// Bytes of the longest valid beginning.
std::size_t utf8_valid_prefix(std::string_view text);

/// Valid characters as they are, every other byte as <0xE4>.
std::string utf8_printable(std::string_view bytes);

}  // namespace attn
