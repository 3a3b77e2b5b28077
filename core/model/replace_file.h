// Files that are either whole or not there.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>

namespace attn {

/// Lets `write` fill a file beside `path` and gives it that name when it is whole; until then, and for ever
/// if writing fails, what stood there before stays. Throws InputError when it cannot be written.
void replace_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

}  // namespace attn
