#include "app/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;

void require_writable(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    throw InputError(fmt::format("cannot write {} (there is no folder {}); create it first", path.string(),
                                 folder.string()));
  }
  if (fs::is_directory(path)) {
    throw InputError(fmt::format("cannot write {} (it is a folder); give a file name", path.string()));
  }
  // A new file and a rename both change the folder.
  for (const fs::path& checked : {folder, fs::exists(path) ? path : folder}) {
    if (access(checked.c_str(), W_OK) != 0) {
      throw InputError(
          fmt::format("cannot write {} ({}); choose another place", path.string(), std::strerror(errno)));
    }
  }
}

OutputFile::OutputFile(fs::path path) : path_(std::move(path)), part_(path_) {
  stream_.open(part_.path(), std::ios::binary | std::ios::trunc);
  if (!stream_) fail();
}

void OutputFile::write(std::string_view bytes) {
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream_) fail();
}

void OutputFile::commit() {
  stream_.close();
  if (!stream_) fail();
  part_.commit();
}

void OutputFile::fail() const {
  throw InputError(fmt::format("cannot write {}; is the disk full?", path_.string()));
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace attn::app
