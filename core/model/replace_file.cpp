#include "core/model/replace_file.h"

#include <unistd.h>

#include <fstream>
#include <system_error>

#include "kernels/common/check.h"

namespace attn {
namespace {

/// Removes the unfinished file whatever ends the writing.
struct Unfinished {
  std::filesystem::path path;
  ~Unfinished() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

void replace_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
  const Unfinished temporary{path.string() + fmt::format(".{}.tmp", ::getpid())};
  std::ofstream file(temporary.path, std::ios::binary | std::ios::trunc);
  if (file) write(file);
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary.path, path, error);
  if (!file || error) {
    throw InputError(fmt::format("cannot write {} ({}); check that the directory exists and has room",
                                 path.string(), error ? error.message() : "write failed"));
  }
}

}  // namespace attn
