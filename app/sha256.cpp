#include "app/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "kernels/common/check.h"

namespace attn::app {

std::string sha256(std::span<const std::uint8_t> bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw InputError("pictures cannot be hashed: OpenSSL offers no SHA-256 here (look at its configuration)");
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace attn::app
