// Embedded sources as lines, with their markers taken off, and where a kernel is defined.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::viz {

struct SourceText {
  std::string_view path;
  std::string_view text;                // the whole file, markers included
  std::vector<std::string_view> lines;  // without the marker at their end
  struct Marker {
    std::string_view name;
    int line = 0;  // from 0
  };
  std::vector<Marker> markers;

  bool is_pseudocode() const { return path.ends_with(".txt"); }
  /// Line of a marker, -1 without it.
  int line_of(std::string_view marker) const;
  /// One past the last line of what begins at `line`: the next marker or blank line.
  int end_of(int line) const;
};

/// Null when the path is not embedded.
const SourceText* find_source(std::string_view path);
/// Where a launched kernel ("decode_l2_tiled_kernel<float, StateProbe>") is defined. Null source: not one of
/// ours (matrix products).
struct KernelPlace {
  const SourceText* source = nullptr;
  int line = 0;
};
KernelPlace find_kernel(std::string_view launch_name);

}  // namespace attn::viz
