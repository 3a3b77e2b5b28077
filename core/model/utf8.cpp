#include "core/model/utf8.h"

#include <fmt/format.h>

#include <iterator>

namespace attn {

Utf8Char utf8_front(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  constexpr char32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};  // below: an overlong form
  if (code < kLowest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length};
}

std::size_t utf8_valid_prefix(std::string_view text) {
  std::size_t end = 0;
  while (const std::size_t length = utf8_front(text.substr(end)).length) end += length;
  return end;
}

std::string utf8_printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t valid = utf8_valid_prefix(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    fmt::format_to(std::back_inserter(text), "<0x{:02X}>", static_cast<unsigned char>(bytes.front()));
    bytes.remove_prefix(1);
  }
  return text;
}

}  // namespace attn
