// The embedded sources and their text: what is shown is what was built, markers and names are found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/paths.h"
#include "viz/code/embedded_sources.h"
#include "viz/panels/code_text.h"
#include "viz/panels/code_watch.h"

namespace attn::viz {
namespace {

TEST(CodeSources, AreTheFilesOfTheRepository) {
  ASSERT_FALSE(embedded_sources().empty());
  for (const EmbeddedSource& source : embedded_sources()) {
    std::ifstream file(tree::source_dir() / source.path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(source.text == text.str()) << source.path << " has changed since the build";
    const bool ascii = std::all_of(source.text.begin(), source.text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
    EXPECT_TRUE(ascii) << source.path << " is laid out by columns: one byte each";
  }
}

TEST(CodeSources, MarkersAreTakenOffAndNameLines) {
  const SourceText* kernel = find_source("kernels/attention/prefill_l2_tiled.cuh");
  ASSERT_NE(kernel, nullptr);
  int before = -1;
  for (const char* phase : {"load_k", "scores", "load_v", "rescale", "accumulate", "write_o"}) {
    const int line = kernel->line_of(phase);
    EXPECT_GT(line, before) << phase << " follows the phase before it";
    EXPECT_EQ(kernel->lines[static_cast<std::size_t>(line)].find('@'), std::string_view::npos);
    EXPECT_GT(kernel->end_of(line), line);
    before = line;
  }
  EXPECT_NE(kernel->lines[static_cast<std::size_t>(kernel->line_of("rescale"))].find("raise("),
            std::string_view::npos);
  EXPECT_EQ(kernel->line_of("no_such"), -1);
}

TEST(CodeSources, TheCheckRefusesMissingAndDoubledMarkers) {
  const std::string root = (tree::binary_dir() / "marker_check").string();
  const auto write = [&](const std::string& path, const std::string& text) {
    std::ofstream(root + "/" + path) << text;
  };
  std::string command = "mkdir -p '" + root + "/viz/code'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  write("viz/code/markers.txt", "# a comment\na.cuh one two\n");
  const auto check = [&](const std::string& text) {
    write("a.cuh", text);
    command = fmt::format(
        "cmake -DROOT='{0}' -DFILES=a.cuh -DOUTPUT='{0}/out.cpp' -P "
        "'{1}/viz/code/embed_sources.cmake' > '{0}/log' 2>&1",
        root, tree::source_dir().string());
    const int status = std::system(command.c_str());
    std::ifstream log(root + "/log");
    std::stringstream words;
    words << log.rdbuf();
    return std::pair(status, words.str());
  };
  EXPECT_EQ(check("x;  // @one\ny[1];  // @two\n").first, 0);
  const auto [missing, missing_text] = check("x;  // @one\n");
  EXPECT_NE(missing, 0);
  EXPECT_NE(missing_text.find("@two occurs 0 times"), std::string::npos) << missing_text;
  const auto [doubled, doubled_text] = check("x;  // @one\ny;  // @two\nz;  // @two\n");
  EXPECT_NE(doubled, 0);
  EXPECT_NE(doubled_text.find("@two occurs 2 times"), std::string::npos) << doubled_text;
}

TEST(CodeSources, KernelsAreFoundByTheNameOfTheirLaunch) {
  EXPECT_EQ(find_kernel("decode_l2_tiled_kernel<float, StateProbe>").source->path,
            "kernels/attention/decode_l2_tiled.cuh");
  EXPECT_EQ(find_kernel("rope_kernel<half>").source->path, "kernels/model/rope.cuh");
  EXPECT_EQ(find_kernel("store_kvcache_kernel<float>").source->path, "kernels/cache/store_kvcache.cuh");
  EXPECT_EQ(find_kernel("merge_states_kernel<float>").source->path, "kernels/attention/merge_states.cuh");
  EXPECT_EQ(find_kernel("matmul").source, nullptr);
  EXPECT_EQ(find_kernel("").source, nullptr);
}

TEST(CodeText, PiecesAndRowsCoverEveryByteOnce) {
  for (const EmbeddedSource& embedded : embedded_sources()) {
    const SourceText& source = *find_source(embedded.path);
    for (const std::string_view line : source.lines) {
      int at = 0;
      for (const CodePiece& piece : code_pieces(line, source.is_pseudocode())) {
        EXPECT_EQ(piece.begin, at) << line;
        EXPECT_GT(piece.end, piece.begin);
        at = piece.end;
      }
      EXPECT_EQ(at, static_cast<int>(line.size())) << line;
    }
    for (const int columns : {20, 61, 200}) {
      int line = -1, at = 0;
      for (const CodeRow& row : code_rows(source, columns)) {
        if (row.line != line) {
          if (line >= 0) {
            EXPECT_EQ(at, static_cast<int>(source.lines[static_cast<std::size_t>(line)].size()));
          }
          EXPECT_EQ(row.line, line + 1);
          line = row.line;
          at = 0;
        }
        EXPECT_EQ(row.begin, at);
        EXPECT_LE(row.indent + row.end - row.begin, columns);
        at = row.end;
      }
      EXPECT_EQ(line + 1, static_cast<int>(source.lines.size()));
    }
  }
}

TEST(CodeText, WordsStandForNames) {
  const auto names = [](std::string_view line, bool pseudo) {
    std::vector<std::string_view> out;
    for (const CodePiece& piece : code_pieces(line, pseudo)) {
      if (!piece.name.empty()) out.push_back(piece.name);
    }
    return out;
  };
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(names("record.context_lens->push_back(n);", false), (Names{"context_lens"}));
  EXPECT_EQ(names(".cu_seqlens_q = cu_seqlens_q_,", false), (Names{"cu_seqlens_q", "cu_seqlens_q"}));
  EXPECT_EQ(names("for (int m = 4; m > 0; m /= 2) // alpha", false), Names{}) << "a counter and a comment";
  EXPECT_EQ(names("m = max(m, x)", true), (Names{"m", "m"}));
  EXPECT_EQ(names("state.m + state.l", false), (Names{"m", "l"}));
}

}  // namespace
}  // namespace attn::viz
