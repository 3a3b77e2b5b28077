// The arrows between the folders: app -> viz -> core/trace, kernels/common; app -> core -> kernels; kernels
// depends on nothing of ours. Reads every include.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
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

/// Lines that include one of our own files outside `allowed`.
std::vector<std::string> wrong_includes(const std::string& folder, const std::vector<std::string>& allowed) {
  static const std::regex ours("^\\s*#\\s*include\\s*\"((app|core|kernels|viz|tests|assets)/[^\"]*)\".*");
  std::vector<std::string> wrong;
  int seen = 0;
  for (const SourceLine& line : lines_of(folder)) {
    std::smatch match;
    if (!std::regex_match(line.text, match, ours)) continue;
    ++seen;
    const std::string target = match[1];
    if (std::ranges::none_of(allowed,
                             [&](const std::string& prefix) { return target.starts_with(prefix); })) {
      wrong.push_back(line.file + ":" + std::to_string(line.line) + " includes " + target);
    }
  }
  EXPECT_GT(seen, 0) << folder << " has no includes: is the folder still there?";
  return wrong;
}

/// Lines that contain `pattern`, comments left out.
std::vector<std::string> lines_with(const std::string& folder, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (const SourceLine& line : lines_of(folder)) {
    const std::string code = line.text.substr(0, line.text.find("//"));
    if (std::regex_search(code, wanted))
      found.push_back(line.file + ":" + std::to_string(line.line) + ": " + code);
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
  EXPECT_EQ(lines_with("core", "#\\s*include.*(imgui|glad|GLFW|EGL|GL/)"), kNothing);
}

TEST(Arrows, VizHasNoGraphicsLibraryButImGui) {
  EXPECT_EQ(lines_with("viz", "#\\s*include.*(glad|GLFW|EGL|GL/)"), kNothing);
}

TEST(Arrows, LibrariesNeverExit) {
  for (const char* folder : {"kernels", "core", "viz"}) {
    EXPECT_EQ(lines_with(folder, "(^|[^_a-zA-Z.])(exit|abort|_Exit|quick_exit)\\s*\\("), kNothing) << folder;
  }
}

}  // namespace
}  // namespace attn::app
