#include "app/wav_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

/// RIFF chunks: four letters, a little-endian size, the data, padded to even.
struct Chunk {
  std::array<char, 4> name{};
  std::uint32_t size = 0;
  bool is(std::string_view wanted) const { return std::string_view(name.data(), name.size()) == wanted; }
};

std::uint32_t read_u32(std::istream& file) {
  std::array<unsigned char, 4> bytes{};
  file.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  return bytes[0] | bytes[1] << 8U | bytes[2] << 16U | static_cast<std::uint32_t>(bytes[3]) << 24U;
}

bool read_chunk(std::istream& file, Chunk& chunk) {
  file.read(chunk.name.data(), chunk.name.size());
  chunk.size = read_u32(file);
  return static_cast<bool>(file);
}

}  // namespace

double wav_seconds(const std::filesystem::path& path) {
  const auto refuse = [&](const char* what) {
    throw InputError(fmt::format("{} ({}); record the voice as an uncompressed .wav", what, path.string()));
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("cannot read the voice ({}); check the path", path.string()));
  std::error_code error;
  const std::uintmax_t file_size = std::filesystem::file_size(path, error);
  Chunk chunk;
  std::array<char, 4> kind{};
  if (!read_chunk(file, chunk) || !chunk.is("RIFF") || !file.read(kind.data(), kind.size()) ||
      std::string_view(kind.data(), kind.size()) != "WAVE") {
    refuse("this is no .wav file");
  }
  constexpr std::streamoff kByteRateAt = 8;  // in "fmt ": after format, channels and sample rate
  std::uint32_t bytes_per_second = 0;
  while (read_chunk(file, chunk)) {
    const std::streamoff begin = file.tellg();
    if (chunk.is("fmt ")) {
      file.seekg(begin + kByteRateAt);
      bytes_per_second = read_u32(file);
    } else if (chunk.is("data")) {
      if (bytes_per_second == 0) refuse("the .wav file has data before its format");
      // A recorder that was stopped hard leaves a size that is larger than what is there.
      const auto rest = static_cast<std::uintmax_t>(file_size - static_cast<std::uintmax_t>(begin));
      return static_cast<double>(std::min<std::uintmax_t>(chunk.size, rest)) / bytes_per_second;
    }
    file.seekg(begin + static_cast<std::streamoff>(chunk.size) + (chunk.size & 1U));
  }
  refuse("the .wav file has no data");
  return 0.0;
}

}  // namespace attn::app
