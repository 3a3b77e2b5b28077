// The code pane: every stage has its text and its line, tiles point at their phases, and what is drawn is the
// source.
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

void show_prepare(Headless& window) {
  show_code(window);
  window.view.code.tab = static_cast<int>(CodeTab::host);
  window.selection = {.stage = Stage::prepare};
}

/// Adds a launch of every kernel that the embedded sources define.
void launch(sample::Sample& sample, Stage stage, const char* kernel) {
  LaunchRecord record;
  record.kernel = kernel;
  sample.step->launches.push_back({stage, 0, record});
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
  show_prepare(window);
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
  show_prepare(window);
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
