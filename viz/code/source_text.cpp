#include "viz/code/source_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "viz/code/embedded_sources.h"

namespace attn::viz {
namespace {

bool marker_char(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// Takes "// @name" or "# @name" off the end of a line; returns the name, "" without one.
std::string_view take_marker(std::string_view& line) {
  const std::size_t at = line.rfind(" @");
  if (at == std::string_view::npos || at == 0 || (line[at - 1] != '/' && line[at - 1] != '#')) return {};
  const std::string_view name = line.substr(at + 2);
  if (name.empty() || !std::all_of(name.begin(), name.end(), marker_char)) return {};
  line = line.substr(0, at - (line[at - 1] == '/' ? 2 : 1));
  while (line.ends_with(' ')) line.remove_suffix(1);
  return name;
}

SourceText parse(const EmbeddedSource& source) {
  SourceText out;
  out.path = source.path;
  out.text = source.text;
  std::string_view rest = source.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view marker = take_marker(line);
    if (!marker.empty()) out.markers.push_back({marker, static_cast<int>(out.lines.size())});
    out.lines.push_back(line);
  }
  return out;
}

const std::vector<SourceText>& all_sources() {
  static const std::vector<SourceText> sources = [] {
    std::vector<SourceText> out;
    for (const EmbeddedSource& source : embedded_sources()) out.push_back(parse(source));
    return out;
  }();
  return sources;
}

/// Whether the line declares `name` as a function: "name(" that no other word runs into.
bool declares(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos || at + name.size() >= line.size()) return false;
  return line[at + name.size()] == '(' && (at == 0 || line[at - 1] == ' ');
}

}  // namespace

int SourceText::line_of(std::string_view marker) const {
  for (const Marker& entry : markers) {
    if (entry.name == marker) return entry.line;
  }
  return -1;
}

int SourceText::end_of(int line) const {
  const auto marked = [&](int at) {
    return std::any_of(markers.begin(), markers.end(), [at](const Marker& m) { return m.line == at; });
  };
  int end = line + 1;
  while (end < static_cast<int>(lines.size()) && !lines[static_cast<std::size_t>(end)].empty() &&
         !marked(end))
    ++end;
  return end;
}

const SourceText* find_source(std::string_view path) {
  for (const SourceText& source : all_sources()) {
    if (source.path == path) return &source;
  }
  return nullptr;
}

namespace {

KernelPlace search_kernel(std::string_view name) {
  for (const SourceText& source : all_sources()) {
    if (!source.path.ends_with(".cuh")) continue;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      if (!declares(source.lines[i], name)) continue;
      // __global__ stands on the same line or, with launch bounds, on the one before.
      const bool here = source.lines[i].find("__global__") != std::string_view::npos;
      const bool above = i > 0 && source.lines[i - 1].find("__global__") != std::string_view::npos;
      if (here || above) return {&source, static_cast<int>(i)};
    }
  }
  return {};
}

}  // namespace

KernelPlace find_kernel(std::string_view launch_name) {
  const std::string_view name = launch_name.substr(0, launch_name.find('<'));
  if (name.empty()) return {};
  // The texts never change, and every frame asks for the same few names.
  thread_local std::map<std::string, KernelPlace, std::less<>> known;
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  return known.emplace(name, search_kernel(name)).first->second;
}

}  // namespace attn::viz
