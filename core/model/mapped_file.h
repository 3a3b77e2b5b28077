// A file mapped read-only into memory: weights are paged in as they are used, never copied twice.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace attn {

/// Moves, never copies. The bytes are valid as long as the object lives.
class MappedFile {
 public:
  /// Throws InputError naming the file and the system's reason. An empty file gives no bytes.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace attn
