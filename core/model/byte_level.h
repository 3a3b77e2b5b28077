// GPT-2's byte alphabet. A tokenizer file is JSON and cannot hold arbitrary bytes, so every byte has a
// printable stand-in: the 188 printable ones of Latin-1 stand for themselves, the other 68 in order for
// U+0100, U+0101, ... (a space is U+0120, which is why token lists are full of it).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attn {

/// The stand-in of a byte as UTF-8.
std::string byte_level_char(unsigned char byte);

/// The bytes a token of the file means; nothing when a character of it is no stand-in.
std::optional<std::string> byte_level_bytes(std::string_view token);

}  // namespace attn
