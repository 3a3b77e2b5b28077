#include "tests/paths.h"

namespace attn::tree {

std::filesystem::path source_dir() { return ATTN_SOURCE_DIR; }
std::filesystem::path binary_dir() { return ATTN_BINARY_DIR; }

}  // namespace attn::tree
