// Where the sources and the built program are. In one translation unit of each test program, so that the
// others compile alike in every checkout (and come out of a compiler cache).
#pragma once

#include <filesystem>

namespace attn::tree {

std::filesystem::path source_dir();
std::filesystem::path binary_dir();

}  // namespace attn::tree
