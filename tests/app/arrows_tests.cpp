// The arrows between the folders: app -> viz -> core/trace, kernels/common; app -> core -> kernels; kernels
// depends on nothing of ours. Reads every include.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/program.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::source_dir;

struct SourceLine {
  std::string file;  // relative to the root
  int line;
  std::string text;
};

std::vector<SourceLine> lines_of(const std::string& folder) {
  std::vector<SourceLine> lines;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir() / folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
    std::stringstream text(read_file(entry.path()));
    const std::string name = fs::relative(entry.path(), source_dir()).string();
    int number = 0;
    for (std::string line; std::getline(text, line);) lines.push_back({name, ++number, line});
  }
  return lines;
}

/// What the line includes, with its quotes or brackets; "" when it is no #include.
std::string include_of(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return {};
  const std::size_t word = line.find("include", hash);
  if (word == std::string::npos || line.find_first_not_of(" \t", hash + 1) != word) return {};
  const std::size_t begin = line.find_first_of("\"<", word);
  return begin == std::string::npos ? std::string()
                                    : line.substr(begin, line.find_first_of("\">", begin + 1) - begin + 1);
}

/// Includes of our own files outside `allowed`.
std::vector<std::string> wrong_includes(const std::string& folder, const std::vector<std::string>& allowed) {
  const std::vector<std::string> ours{"app/", "core/", "kernels/", "viz/", "tests/", "assets/"};
  std::vector<std::string> wrong;
  int seen = 0;
  for (const SourceLine& line : lines_of(folder)) {
    const std::string target = include_of(line.text);
    const auto in = [&](const std::string& prefix) {
      return target.substr(target.empty() ? 0 : 1).starts_with(prefix);
    };
    if (std::ranges::none_of(ours, in)) continue;
    ++seen;
    if (std::ranges::none_of(allowed, in)) {
      wrong.push_back(line.file + ":" + std::to_string(line.line) + " includes " + target);
    }
  }
  EXPECT_GT(seen, 0) << folder << " has no includes: is the folder still there?";
  return wrong;
}

/// Includes of graphics libraries whose names are among `names`.
std::vector<std::string> graphics_includes(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const SourceLine& line : lines_of(folder)) {
    const std::string target = include_of(line.text);
    if (std::ranges::any_of(
            names, [&](const std::string& name) { return target.find(name) != std::string::npos; })) {
      found.push_back(line.file + ":" + std::to_string(line.line) + " includes " + target);
    }
  }
  return found;
}

/// Lines of code (comments left out) that hold `text` where no identifier goes on to its left.
std::vector<std::string> lines_with(const std::string& folder, const std::string& text) {
  std::vector<std::string> found;
  for (const SourceLine& line : lines_of(folder)) {
    const std::string code = line.text.substr(0, line.text.find("//"));
    for (std::size_t at = code.find(text); at != std::string::npos; at = code.find(text, at + 1)) {
      const char before = at == 0 ? ' ' : code[at - 1];
      if (std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '.') continue;
      found.push_back(line.file + ":" + std::to_string(line.line) + ": " + code);
      break;
    }
  }
  return found;
}

const std::vector<std::string> kNothing;

TEST(Arrows, KernelsDependOnNothingOfOurs) { EXPECT_EQ(wrong_includes("kernels", {"kernels/"}), kNothing); }

TEST(Arrows, CoreDependsOnKernels) { EXPECT_EQ(wrong_includes("core", {"core/", "kernels/"}), kNothing); }

TEST(Arrows, VizReadsTheTraceAndSharedStructsOnly) {
  EXPECT_EQ(wrong_includes("viz", {"viz/", "core/trace/", "kernels/common/"}), kNothing);
}

TEST(Arrows, AppDoesNotKnowTheTests) {
  EXPECT_EQ(wrong_includes("app", {"app/", "core/", "kernels/", "viz/"}), kNothing);
}

TEST(Arrows, CoreHasNoWindowAndNoLaunch) {
  EXPECT_EQ(lines_with("core", "<<<"), kNothing);
  EXPECT_EQ(graphics_includes("core", {"imgui", "glad", "GLFW", "EGL", "GL/"}), kNothing);
}

TEST(Arrows, VizHasNoGraphicsLibraryButImGui) {
  EXPECT_EQ(graphics_includes("viz", {"glad", "GLFW", "EGL", "GL/"}), kNothing);
}

TEST(Arrows, LibrariesNeverExit) {
  for (const char* folder : {"kernels", "core", "viz"}) {
    for (const char* call : {"exit(", "abort(", "_Exit(", "quick_exit("}) {
      EXPECT_EQ(lines_with(folder, call), kNothing) << folder;
    }
  }
}

TEST(Arrows, TheTestItselfSeesIncludes) {
  EXPECT_EQ(include_of("  #  include \"core/x.h\"  // why"), "\"core/x.h\"");
  EXPECT_EQ(include_of("#include <imgui.h>"), "<imgui.h>");
  EXPECT_EQ(include_of("// #include <imgui.h>"), "");
  EXPECT_EQ(lines_with("app", "gladLoadGL(").size(), 2U) << "window and headless";
}

}  // namespace
}  // namespace attn::app
