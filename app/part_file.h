// A file that takes its name when it is whole: until then it is called NAME.part, and it is gone when the
// program is interrupted.
#pragma once

#include <filesystem>

namespace attn::app {

class PartFile {
 public:
  /// Creates nothing yet: whoever writes opens path(). Throws InputError when the file could not be written.
  explicit PartFile(std::filesystem::path path);
  ~PartFile();  // removes the part unless it was committed
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::filesystem::path& path() const { return part_; }
  /// Gives the file its name, in the place of what had it. Throws InputError.
  void commit();

 private:
  std::filesystem::path name_;
  std::filesystem::path part_;
  int slot_ = -1;  // in the list of what an interrupt removes; -1: not in it any more
};

}  // namespace attn::app
