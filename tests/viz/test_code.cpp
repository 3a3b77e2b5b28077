// The code pane: every stage has its text and its line, tiles point at their phases, markers and names are
// found, and what is drawn is the source.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "core/trace/enum_range.h"
#include "core/trace/names.h"
#include "headless.h"
#include "sample_frame.h"
#include "tests/paths.h"
#include "viz/code/embedded_sources.h"
#include "viz/panels/code_places.h"
#include "viz/panels/code_text.h"
#include "viz/panels/code_watch.h"
#include "viz/panels/tiles_state.h"

namespace attn::viz {
namespace {

using trace::Stage;

sample::Sample decode_23_keys() {
  return sample::make({.kind = trace::StepKind::decode,
                       .path = trace::AttentionPath::decode_paged,
                       .seqs = {{0, 10, 23, 22, 1, {5, 2, 9, 3, 14, 1}}}});
}

void show_code(Headless& window) { window.view.side = SideView::code; }

/// Adds a launch of every kernel that the embedded sources define.
void launch(sample::Sample& sample, Stage stage, const char* kernel) {
  LaunchRecord record;
  record.kernel = kernel;
  sample.step->launches.push_back({stage, 0, record});
}

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

TEST(CodePlaces, EveryStageOfAPrefillAndADecodeHasItsLine) {
  for (const bool prefill : {true, false}) {
    sample::Sample sample = prefill ? sample::prefill() : decode_23_keys();
    launch(sample, Stage::store_kvcache, "store_kvcache_kernel<float>");
    launch(sample, Stage::gather, "gather_kv_kernel<float>");
    std::set<std::string> places;
    for (int s = 0; s <= static_cast<int>(trace::kLastOf<Stage>); ++s) {
      const auto stage = static_cast<Stage>(s);
      for (const CodeTab tab : {CodeTab::host, CodeTab::kernel, CodeTab::pseudo}) {
        const CodePlace place = code_place(sample.frame, {.stage = stage}, tab, -1);
        ASSERT_NE(place.source, nullptr) << trace::name_of(stage);
        ASSERT_FALSE(place.ran.empty()) << trace::name_of(stage);
        for (const CodeLines& lines : place.ran) {
          EXPECT_GE(lines.first, 0);
          EXPECT_LE(lines.end, static_cast<int>(place.source->lines.size()));
          EXPECT_FALSE(place.source->lines[static_cast<std::size_t>(lines.first)].empty());
        }
        EXPECT_EQ(place.source->is_pseudocode(), tab == CodeTab::pseudo) << trace::name_of(stage);
        if (tab == CodeTab::host)
          places.insert(fmt::format("{}:{}", place.source->path, place.ran.front().first));
      }
    }
    EXPECT_EQ(places.size(), 12U) << "no two stages are the same line";
  }
}

TEST(CodePlaces, ATilePointsAtItsPhasesAndAtWhatFollows) {
  const sample::Sample sample = decode_23_keys();
  const int tiles = sample.attention->num_tiles;
  ASSERT_GT(tiles, 2);
  for (const CodeTab tab : {CodeTab::kernel, CodeTab::pseudo}) {
    for (int t = 0; t < tiles; ++t) {
      const CodePlace place = code_place(sample.frame, {.stage = Stage::attention, .tile = t}, tab, -1);
      ASSERT_EQ(place.ran.size(), 5U);
      EXPECT_EQ(place.ran.front().first, place.source->line_of("load_k"));
      EXPECT_EQ(place.ran.back().first, place.source->line_of("accumulate"));
      EXPECT_EQ(place.next.first, place.source->line_of(t + 1 < tiles ? "load_k" : "write_o"));
    }
    const CodePlace done = code_place(sample.frame, {.stage = Stage::attention}, tab, -1);
    ASSERT_EQ(done.ran.size(), 1U);
    EXPECT_EQ(done.ran.front().first, done.source->line_of("write_o"));
    EXPECT_EQ(done.next.first, -1);
    EXPECT_FALSE(done.elsewhere.empty());
  }
}

TEST(CodePlaces, TheNextLaunchOfTheStageComesBeforeTheNextStage) {
  sample::Sample sample = decode_23_keys();
  const auto at = [&](int index) {
    return code_place(sample.frame, {.stage = Stage::attention}, CodeTab::kernel, index);
  };
  const std::string stage_after = at(-1).elsewhere;  // of the only launch
  launch(sample, Stage::attention, "merge_states_kernel<float>");
  const CodePlace split = at(-1);
  EXPECT_TRUE(split.elsewhere.starts_with("merge_states_kernel<float>, kernels/attention/merge_states.cuh:"))
      << split.elsewhere;
  EXPECT_EQ(split.next.first, -1);  // in another file
  const CodePlace merge = at(1);
  EXPECT_EQ(merge.source->path, "kernels/attention/merge_states.cuh");
  EXPECT_EQ(merge.elsewhere, stage_after);
  // In the same file the line itself is marked.
  sample.step->launches.clear();
  for (const char* kernel : {"attention_l1_scores_kernel<float>", "attention_l1_softmax_kernel<float>"})
    launch(sample, Stage::attention, kernel);
  const CodePlace scores = at(0);
  EXPECT_EQ(scores.next.first, find_kernel("attention_l1_softmax_kernel<float>").line);
}

TEST(CodePlaces, StagesFollowEachOtherThroughTheLayers) {
  sample::Sample sample = sample::prefill();
  for (int layer = 0; layer < 4; ++layer)
    sample.step->shapes.push_back({Stage::out_mlp, layer, "hidden_states", "F32", {1}, ""});
  std::vector<Stage> way;
  Stage stage = Stage::schedule;
  int layer = 0, layers = 0;
  for (NextStage next = next_stage(sample.frame, stage, layer); next.any;
       next = next_stage(sample.frame, next.stage, next.layer)) {
    way.push_back(next.stage);
    layers = std::max(layers, next.layer);
    ASSERT_LT(way.size(), 100U);
  }
  EXPECT_EQ(layers, 3);
  EXPECT_EQ(std::count(way.begin(), way.end(), Stage::attention), 4);
  EXPECT_EQ(way.front(), Stage::prepare);
  EXPECT_EQ(way.back(), Stage::commit);
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

TEST(CodeWatch, ValuesComeFromTheRecord) {
  const sample::Sample sample = decode_23_keys();
  const Selection at{.stage = Stage::attention, .tile = 1};
  EXPECT_EQ(watch_value(sample.frame, at, "context_lens")->now, "23");
  EXPECT_EQ(watch_value(sample.frame, at, "slot_mapping")->now,
            fmt::format("[{}]", sample.step->slot_mapping.at(0)));
  EXPECT_EQ(watch_value(sample.frame, at, "num_splits")->now, "1");
  const auto m = watch_value(sample.frame, at, "m");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->now, fmt::format("{:.4f}", sample.attention->tile_m[1]));
  EXPECT_EQ(m->before, fmt::format("{:.4f}", sample.attention->tile_m[0]));
  EXPECT_FALSE(watch_value(sample.frame, at, "no_such"));
}

TEST(Code, ShowsWhatRanAndWhatIsNext) {
  const sample::Sample sample = decode_23_keys();
  Headless window(1600, 900);
  show_code(window);
  window.selection = {.stage = Stage::attention, .tile = 1};
  window.draw(sample.frame);
  window.draw(sample.frame);
  const SourceText* kernel = find_source("kernels/attention/decode_l2_tiled.cuh");
  const auto mark = [&](const char* what, const char* phase) {
    return window.marks.get(fmt::format("code/{}/{}", what, kernel->line_of(phase) + 1));
  };
  EXPECT_TRUE(mark("ran", "scores"));
  EXPECT_TRUE(mark("next", "load_k"));
  window.selection.tile = sample.attention->num_tiles - 1;
  window.view.maximised = PanelId::code;
  window.resize(1600.0F, 1500.0F);
  window.draw(sample.frame);
  window.draw(sample.frame);
  EXPECT_TRUE(mark("next", "write_o"));
  window.click(sample.frame, "code/tab/pseudo");
  window.draw(sample.frame);
  EXPECT_EQ(window.view.code.tab, static_cast<int>(CodeTab::pseudo));
  window.click(sample.frame, "code/copy");
  EXPECT_EQ(std::string(ImGui::GetClipboardText()), find_source("viz/code/attention.txt")->text);
}

TEST(Code, NamesLinkBothWays) {
  const sample::Sample sample = decode_23_keys();
  Headless window(1600, 900);
  show_code(window);
  window.view.code.tab = static_cast<int>(CodeTab::host);
  window.selection = {.stage = Stage::prepare};
  window.draw(sample.frame);
  // A panel means context_lens: the line that writes it comes into view.
  const SourceText* prepare = find_source("core/engine/prepare.cpp");
  window.view.next_hover.name = "context_lens";
  window.draw(sample.frame);
  EXPECT_EQ(
      window.view.code.shown.find(fmt::format("{}:{}:", prepare->path, prepare->line_of("context_lens"))), 0U)
      << window.view.code.shown;
  // In another text it says where.
  window.selection = {.stage = Stage::out_mlp};
  window.view.next_hover.name = "context_lens";
  window.draw(sample.frame);
  const auto below = window.marks.get("code/below");
  ASSERT_TRUE(below);
  EXPECT_NE(below->value.find("core/engine/prepare.cpp"), std::string::npos);
  // A value's mark means the buffer it was read from.
  window.view.stage = StageView::tiles;
  window.selection = {.stage = Stage::attention, .tile = 1};
  window.hover(sample.frame, "tiles/alpha/1");
  EXPECT_EQ(window.view.hover.name, "alpha");
}

TEST(Code, TheMouseOnAWordStaysOnIt) {
  const sample::Sample sample = decode_23_keys();
  Headless window(1600, 900);
  show_code(window);
  window.view.code.tab = static_cast<int>(CodeTab::host);
  window.selection = {.stage = Stage::prepare};
  window.draw(sample.frame);
  window.draw(sample.frame);
  const Rect pane = window.marks.get("code")->rect;
  std::set<std::string> words;
  for (float y = pane.y; y < pane.bottom(); y += 8.0F) {
    for (float x = pane.x; x < pane.right(); x += 12.0F) {
      const std::string shown = window.view.code.shown;
      ImGui::GetIO().MousePos = {x, y};
      window.draw(sample.frame);
      const std::string word = window.view.next_hover.name;
      if (word.empty() || !window.marks.get("code/name/" + word)) continue;
      words.insert(word);
      for (int frame = 0; frame < 4; ++frame) {
        window.draw(sample.frame);
        EXPECT_EQ(window.view.hover.name, word) << "frame " << frame;
        EXPECT_EQ(window.view.code.shown, shown) << "the text went away under the mouse on " << word;
      }
    }
  }
  EXPECT_GE(words.size(), 3U);
}

TEST(Code, EverySizeAndStageStaysInsideItsPanel) {
  sample::Sample sample = sample::prefill();
  launch(sample, Stage::attention, "merge_states_kernel<float>");
  for (const float scale : {0.75F, 1.0F, 2.5F}) {
    Headless window(1024, 640, scale);
    show_code(window);
    window.view.stage = StageView::tiles;
    for (const auto& [w, h] : {std::pair(1024.0F, 640.0F), {1600.0F, 900.0F}, {3840.0F, 2160.0F}}) {
      window.resize(w, h);
      for (int s = 0; s <= static_cast<int>(trace::kLastOf<Stage>); ++s) {
        window.selection.stage = static_cast<Stage>(s);
        window.view.code.tab = s % 3;
        window.view.maximised = s % 2 == 0 ? PanelId::code : PanelId::count_;
        window.draw(sample.frame);
        window.draw(sample.frame);
        const Mark* panel = window.marks.find("code");
        if (panel == nullptr) continue;  // on another page
        for (const Mark& mark : window.marks.all()) {
          if (!mark.name.starts_with("code/")) continue;
          EXPECT_GE(mark.rect.x, panel->rect.x) << mark.name;
          EXPECT_GE(mark.rect.y, panel->rect.y) << mark.name;
          EXPECT_LE(mark.rect.right(), panel->rect.right() + 0.5F) << mark.name;
          EXPECT_LE(mark.rect.bottom(), panel->rect.bottom() + 0.5F) << mark.name;
        }
      }
    }
  }
}

TEST(Code, ColoursCanBeReadOnTheirGround) {
  for (int i = 0; i < kNumThemes; ++i) {
    const Theme& theme = theme_of(static_cast<ThemeId>(i));
    for (const Color ink :
         {Color::text, Color::muted, Color::accent, Color::ok, Color::error, Color::warning}) {
      for (const Color ground : {Color::panel, Color::raised})
        EXPECT_GE(contrast(theme[ink], theme[ground]), 4.5) << theme.name << " ink " << static_cast<int>(ink);
      for (const Rgb tint : theme.tint)
        EXPECT_GE(contrast(theme[ink], tint), 3.0) << theme.name << " ink " << static_cast<int>(ink);
    }
  }
}

/// A window that is not touched draws no second frame: the first one shows the line.
TEST(CodePane, OpensAtTheLineThatJustRan) {
  sample::Sample sample = decode_23_keys();
  Headless window(1600, 900);
  window.selection.stage = Stage::commit;
  window.draw(sample.frame);
  show_code(window);
  window.draw(sample.frame);
  const CodePlace place = code_place(sample.frame, window.selection, CodeTab::kernel, -1);
  ASSERT_FALSE(place.ran.empty());
  ASSERT_GT(place.ran.front().first, 60) << "far from the beginning";
  EXPECT_TRUE(window.marks.get(fmt::format("code/ran/{}", place.ran.front().first + 1)));
}

TEST(CodePane, KeyRulersAndTheNameOfTheirLengthsLightUpTogether) {
  sample::Sample sample = decode_23_keys();
  Headless window(1600, 900);
  show_code(window);
  window.draw(sample.frame);
  EXPECT_FALSE(window.marks.get("strip/lit/0"));
  window.hover(sample.frame, "strip/seq/0");
  EXPECT_EQ(window.view.hover.name, "context_lens");
  window.draw(sample.frame);
  EXPECT_EQ(value_of(window, "strip/lit/0"), "23 keys of A");
  window.view.next_hover = {};
  window.view.next_hover.name = "context_lens";  // as the pane says when the mouse is over the word
  window.draw(sample.frame);
  EXPECT_TRUE(window.marks.get("strip/lit/0"));
}

}  // namespace
}  // namespace attn::viz
