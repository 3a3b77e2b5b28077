// The container under a trace: a magic, a version, then checksummed chunks one after the other. Knows
// bytes, not steps. Layout: FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace attn::trace {

inline constexpr std::uint32_t kTraceVersion = 4;

/// What a chunk holds; the four letters are readable in a hex dump. A reader skips kinds it does not know.
enum class ChunkKind : std::uint32_t {
  manifest = 0x494e414d,  // "MANI": Manifest as JSON, the first chunk
  step = 0x50455453,      // "STEP": StepRecord
  label = 0x4c42414c,     // "LABL": text, the label of the next request that entered later
  bookmarks = 0x4b4f4f42  // "BOOK": all bookmarks, replacing those of an earlier chunk
};

/// Size of magic + version, and of the header in front of each chunk's payload.
inline constexpr std::size_t kFileHeaderBytes = 12;
inline constexpr std::size_t kChunkHeaderBytes = 24;

/// XXH3 of a payload, seeded with its kind, so that a damaged kind is noticed too.
std::uint64_t chunk_checksum(ChunkKind kind, std::span<const std::byte> payload);

/// An open file descriptor with an owner.
class FileHandle {
 public:
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  ~FileHandle();
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Writes chunks. Each is handed to the system whole before append returns, under a lock of the file, so that
/// two writers (a live run and the bookmarks) do not mix. Throws InputError with the system's reason when the
/// file cannot be created or written.
class ChunkWriter {
 public:
  /// A new file, in place of one that is there.
  explicit ChunkWriter(std::filesystem::path path);
  void append(ChunkKind kind, std::span<const std::byte> payload);

  /// For appending to a trace that is there. A chunk that was cut short at its end can never be read and is
  /// removed first, or nothing behind it could be read either.
  static ChunkWriter open(std::filesystem::path path);

 private:
  ChunkWriter(std::filesystem::path path, int descriptor) : path_(std::move(path)), file_(descriptor) {}
  void write_all(std::span<const std::byte> bytes);
  std::filesystem::path path_;
  FileHandle file_;
};

/// Where a chunk's payload lies.
struct ChunkPlace {
  ChunkKind kind{};
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t checksum = 0;
};

/// Reads chunks, by scanning from the front or at a known place. Reading at a place is thread-safe.
class ChunkReader {
 public:
  /// Throws InputError when there is no such file, it is not a trace, or of another version.
  explicit ChunkReader(std::filesystem::path path);

  /// Reads the chunk that begins at `offset` into `payload`. Nothing when the file ends there, or when what
  /// is there is not a whole, undamaged chunk: then `problem` says so. Never allocates more than is left.
  std::optional<ChunkPlace> scan(std::uint64_t offset, std::vector<std::byte>& payload,
                                 std::string& problem) const;
  /// Where the chunk that begins at `offset` lies, from its header alone: the payload is not read and its
  /// checksum not compared. Nothing when no whole chunk can lie there.
  std::optional<ChunkPlace> place_at(std::uint64_t offset) const;
  /// The payload of a chunk found earlier; throws InputError when the file has changed since.
  std::vector<std::byte> read(const ChunkPlace& place) const;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

 private:
  bool read_at(std::uint64_t offset, std::span<std::byte> out) const;
  std::filesystem::path path_;
  FileHandle file_;
  std::uint64_t size_ = 0;
};

}  // namespace attn::trace
