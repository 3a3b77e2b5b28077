// Places to come back to, with a note; kept in the trace file itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/trace/cursor.h"

namespace attn::trace {

struct Bookmark {
  Cursor cursor;
  int seq = -1;      // selected sequence, -1 none
  std::string note;  // what the user wrote, may be empty
  bool operator==(const Bookmark&) const = default;
};

/// The bookmarks of a trace file as saved last; none for a file without them. Throws InputError when it is no
/// trace.
std::vector<Bookmark> read_bookmarks(const std::filesystem::path& trace);
/// Appends the list to the trace file; it replaces what was saved before (readers take the last list). The
/// file stays readable by programs that know nothing of bookmarks. Throws InputError when it cannot be
/// written.
void save_bookmarks(const std::filesystem::path& trace, const std::vector<Bookmark>& bookmarks);

}  // namespace attn::trace
