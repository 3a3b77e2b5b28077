#include "core/trace/chunk_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "kernels/common/check.h"

namespace attn::trace {
namespace {

// Like PNG's: a byte that is not text, a name, and line ends that a text-mode copy would change.
constexpr std::array<unsigned char, 8> kMagic{0x8a, 'a', 't', 't', 'n', '\r', '\n', 0x1a};

struct ChunkHeader {
  std::uint32_t kind;
  std::uint32_t reserved;  // 0
  std::uint64_t length;
  std::uint64_t checksum;
};
static_assert(sizeof(ChunkHeader) == kChunkHeaderBytes);

/// Held while a file is appended to. Where a file system knows no locks, one writes without.
class FileLock {
 public:
  explicit FileLock(int descriptor) : descriptor_(descriptor) { ::flock(descriptor_, LOCK_EX); }
  ~FileLock() { ::flock(descriptor_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

int open_for_writing(const std::filesystem::path& path, int how) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | how, 0644);
  if (descriptor < 0) {
    throw InputError(fmt::format("cannot write trace '{}' ({}); choose a path in a folder you can write to",
                                 path.string(), std::strerror(errno)));
  }
  return descriptor;
}

int open_for_reading(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    throw InputError(
        fmt::format("cannot open trace '{}' ({}); check the path", path.string(), std::strerror(errno)));
  }
  return descriptor;
}

}  // namespace

std::uint64_t chunk_checksum(ChunkKind kind, std::span<const std::byte> payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), static_cast<std::uint32_t>(kind));
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ChunkWriter::ChunkWriter(std::filesystem::path path)
    : path_(std::move(path)), file_(open_for_writing(path_, O_CREAT | O_TRUNC)) {
  std::array<std::byte, kFileHeaderBytes> header{};
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  std::memcpy(header.data() + kMagic.size(), &kTraceVersion, sizeof kTraceVersion);
  write_all(header);
}

void ChunkWriter::append(ChunkKind kind, std::span<const std::byte> payload) {
  const ChunkHeader header{static_cast<std::uint32_t>(kind), 0, payload.size(),
                           chunk_checksum(kind, payload)};
  const FileLock lock(file_.get());
  write_all(std::as_bytes(std::span(&header, 1)));
  write_all(payload);
}

ChunkWriter ChunkWriter::open(std::filesystem::path path) {
  const ChunkReader reader(path);  // a trace at all?
  ChunkWriter writer(path, open_for_writing(path, 0));
  const FileLock lock(writer.file_.get());
  const ChunkReader locked(path);  // the size at which no other writer is inside a chunk
  std::uint64_t end = kFileHeaderBytes;
  while (const auto place = locked.place_at(end)) end = place->offset + place->length;
  if (end < locked.size() && ::ftruncate(writer.file_.get(), static_cast<off_t>(end)) != 0) {
    throw InputError(fmt::format("cannot write trace '{}' ({}); copy it to a folder you can write to",
                                 path.string(), std::strerror(errno)));
  }
  return writer;
}

void ChunkWriter::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw InputError(fmt::format(
          "cannot go on writing trace '{}' ({}); the steps written so far can be opened, free space to go on",
          path_.string(), std::strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

ChunkReader::ChunkReader(std::filesystem::path path)
    : path_(std::move(path)), file_(open_for_reading(path_)) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw InputError(fmt::format("'{}' is not a file; give the path of a trace (.attn)", path_.string()));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  std::array<std::byte, kFileHeaderBytes> header{};
  if (size_ < header.size() || !read_at(0, header) ||
      std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0) {
    throw InputError(
        fmt::format("'{}' is not a trace (it does not begin like one); record one with "
                    "'attnscope run SCENARIO --trace FILE'",
                    path_.string()));
  }
  std::uint32_t version = 0;
  std::memcpy(&version, header.data() + kMagic.size(), sizeof version);
  if (version != kTraceVersion) {
    throw InputError(
        fmt::format("trace '{}' has format version {}, this program reads version {}; record it "
                    "again or use the program that wrote it",
                    path_.string(), version, kTraceVersion));
  }
}

bool ChunkReader::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

std::optional<ChunkPlace> ChunkReader::place_at(std::uint64_t offset) const {
  ChunkHeader header{};
  if (offset > size_ || size_ - offset < kChunkHeaderBytes) return std::nullopt;
  if (!read_at(offset, std::as_writable_bytes(std::span(&header, 1)))) return std::nullopt;
  const std::uint64_t begin = offset + kChunkHeaderBytes;
  if (header.reserved != 0 || header.length > size_ - begin) return std::nullopt;
  return ChunkPlace{static_cast<ChunkKind>(header.kind), begin, header.length, header.checksum};
}

std::optional<ChunkPlace> ChunkReader::scan(std::uint64_t offset, std::vector<std::byte>& payload,
                                            std::string& problem) const {
  problem.clear();
  if (offset >= size_) return std::nullopt;
  ChunkHeader header{};
  if (size_ - offset < kChunkHeaderBytes || !read_at(offset, std::as_writable_bytes(std::span(&header, 1)))) {
    problem = fmt::format("the file ends inside a chunk header at byte {}", offset);
    return std::nullopt;
  }
  const std::uint64_t begin = offset + kChunkHeaderBytes;
  if (header.length > size_ - begin) {
    problem =
        fmt::format("the chunk at byte {} says {} bytes, {} are left", offset, header.length, size_ - begin);
    return std::nullopt;
  }
  payload.resize(header.length);
  const auto kind = static_cast<ChunkKind>(header.kind);
  if (!read_at(begin, payload) || header.reserved != 0 || chunk_checksum(kind, payload) != header.checksum) {
    problem = fmt::format("the chunk at byte {} does not match its checksum", offset);
    return std::nullopt;
  }
  return ChunkPlace{kind, begin, header.length, header.checksum};
}

std::vector<std::byte> ChunkReader::read(const ChunkPlace& place) const {
  std::vector<std::byte> payload(place.length);
  if (!read_at(place.offset, payload) || chunk_checksum(place.kind, payload) != place.checksum) {
    throw InputError(fmt::format("trace '{}' changed while it was open (byte {}); open it again",
                                 path_.string(), place.offset));
  }
  return payload;
}

}  // namespace attn::trace
