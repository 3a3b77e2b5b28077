#include "core/model/byte_level.h"

#include <array>

#include "core/model/utf8.h"

namespace attn {

namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> make_alphabet() {
  std::array<char32_t, 256> alphabet = {};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) alphabet[byte] = stands_for_itself(byte) ? byte : next++;
  return alphabet;
}
constexpr std::array<char32_t, 256> kAlphabet = make_alphabet();
constexpr char32_t kLast = 0x143;  // 68 bytes have a stand-in from U+0100 on

constexpr std::array<int, kLast + 1> make_inverse() {
  std::array<int, kLast + 1> inverse = {};
  for (int& byte : inverse) byte = -1;
  for (unsigned byte = 0; byte < 256; ++byte) inverse[kAlphabet[byte]] = static_cast<int>(byte);
  return inverse;
}
constexpr std::array<int, kLast + 1> kInverse = make_inverse();

}  // namespace

std::string byte_level_char(unsigned char byte) {
  const char32_t code = kAlphabet[byte];
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | (code >> 6U)), static_cast<char>(0x80U | (code & 0x3FU))};
}

std::optional<std::string> byte_level_bytes(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const Utf8Char front = utf8_front(token);
    if (front.length == 0 || front.code > kLast || kInverse[front.code] < 0) return std::nullopt;
    bytes += static_cast<char>(kInverse[front.code]);
    token.remove_prefix(front.length);
  }
  return bytes;
}

}  // namespace attn
