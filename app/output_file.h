// Files we leave behind: whether one can be written is asked before long work, and a half-written one never
// has the name.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "app/part_file.h"

namespace attn::app {

/// Throws InputError when a file of that name could not be written.
void require_writable(const std::filesystem::path& path);

/// A file that takes its name when it is whole; until then, and for ever if commit() is never called, what
/// stood there before stays.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;
  std::filesystem::path path_;
  PartFile part_;
  std::ofstream stream_;
};

/// The whole of a file. Throws InputError when it cannot be written.
void write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace attn::app
