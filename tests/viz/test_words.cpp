// What numbers, steps, tiles and sequences are called, the same on every panel: no-numbers, the engine's step
// numbers with a recorded warm-up, counting from 0, and a tensor case without an engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <regex>

#include "core/trace/number_text.h"
#include "headless.h"
#include "sample_frame.h"
#include "viz/change_lines.h"
#include "viz/lookup.h"
#include "viz/panels/palette_search.h"

namespace attn::viz {
namespace {

using sample::Sample;
using trace::Stage;

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(NumberText, IsTheNumberOrSaysThatItIsNone) {
  EXPECT_EQ(fmt::format("{:.2f} {:g} {}", num(-1.234), num(1e-5), num(3)), "-1.23 1e-05 3");
  EXPECT_EQ(fmt::format("{:.{}f}", num(0.5), 3), "0.500");
  for (const double nan : {std::nan(""), -std::nan("")}) EXPECT_EQ(fmt::format("{:.2e}", num(nan)), "NaN");
  EXPECT_EQ(fmt::format("{:.2f} {:.2f}", num(INFINITY), num(-INFINITY)), "+inf \xE2\x88\x92inf");
}

/// A number that printf wrote: "nan", "-nan", "inf" as words of their own.
bool raw_no_number(const std::string& text) {
  static const std::regex raw("(^|[^A-Za-z+\x92])-?(nan|inf)($|[^a-z])");
  return std::regex_search(text, raw);
}

Sample spoiled(Sample sample, float bad) {
  auto view = std::make_shared<trace::AttentionView>(*sample.attention);
  for (std::vector<float>* values : {&view->scores, &view->weights, &view->tile_m, &view->tile_l,
                                     &view->tile_alpha, &view->tile_o_norm, &view->lse, &view->partial_lse})
    std::fill(values->begin(), values->end(), bad);
  view->max_abs_diff_o = bad;
  view->max_abs_o = bad;
  sample.attention = view;
  sample.frame.attention = view;
  sample.frame.broken =
      Broken{.titles = {"a switch"}, .max_abs_diff_o = bad, .first_wrong_step = -1, .note = {}};
  return sample;
}

TEST(NumberText, NoPanelWritesANoNumberInItsOwnWay) {
  for (const float bad : {kNan, -kNan, kInf, -kInf}) {
    for (const Sample& s : {spoiled(sample::prefill(), bad), spoiled(sample::padded_decode(), bad)}) {
      for (const StageView stage : {StageView::weights, StageView::tiles, StageView::heads}) {
        Headless screen(1920, 1080);
        screen.view.stage = stage;
        for (const Stage at : {Stage::attention, Stage::prepare}) {
          screen.selection.stage = at;
          for (const int tile : {-1, 0, 1}) {
            screen.selection.tile = tile;
            screen.selection.k_col = 1;
            screen.draw(s.frame);
            for (const Mark& mark : screen.marks.all()) {
              EXPECT_FALSE(raw_no_number(mark.value)) << mark.name << ": " << mark.value;
            }
          }
        }
      }
      EXPECT_FALSE(raw_no_number(describe_screen(s.frame, {}))) << describe_screen(s.frame, {});
    }
  }
  const Sample s = spoiled(sample::padded_decode(), -kNan);
  Headless screen(1920, 1080);
  screen.draw(s.frame);
  EXPECT_NE(screen.marks.get("numbers/lse")->value.find("NaN"), std::string::npos);
}

/// The run of `sample` with a warm-up recorded before it: index 0 is step 0.
Sample after_warmup(Sample sample) {
  auto history = std::make_shared<std::vector<StepSummary>>(*sample.frame.history);
  for (std::size_t i = 0; i < history->size(); ++i) (*history)[i].step = static_cast<int>(i);
  history->front().kind = trace::StepKind::warmup;
  history->front().scheduled = {-1};
  sample.frame.history = history;
  sample.step->step = sample.frame.index;
  return sample;
}

TEST(StepNumbers, AreTheEnginesOnEveryPanel) {
  Sample s = after_warmup(sample::padded_decode());  // index 8 of 14: step 8 of 13
  s.frame.bookmarks = {{.cursor = {.index = 4}, .seq = -1, .note = ""}};
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("header/step")->value, "step 8 of 13");
  EXPECT_EQ(screen.marks.get("timeline/rail")->value, "step 8 of 13");
  EXPECT_EQ(screen.marks.get("timeline/bookmark/0")->source, "bookmarks[0], step 4");
  EXPECT_TRUE(place_text(s.frame, {.index = 4}).starts_with("step 4 D,"));
  EXPECT_TRUE(place_text(s.frame, {.index = 0}).starts_with("step 0 warm-up,"));
  EXPECT_TRUE(describe_screen(s.frame, {}).find("Step 8 of 13: ") != std::string::npos);
  const auto entries = find_entries(ui_of(s.frame, screen), "0");
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [](const MenuEntry& entry) { return entry.choice.name == "step 0"; });
  ASSERT_NE(found, entries.end());
  screen.type(s.frame, "g");
  screen.draw(s.frame);
  screen.view.shell.text = "14";
  screen.click(s.frame, "entry/done");
  EXPECT_TRUE(screen.commands.empty()) << "there is no step 14";
  screen.view.shell.text = "9";
  screen.click(s.frame, "entry/done");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].a, 9);
}

TEST(StepNumbers, TheWarmUpIsCalledThat) {
  Sample s = after_warmup(sample::prefill());
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("timeline/seq/-1")->value, "warm-up sequence W");
  EXPECT_TRUE(screen.marks.get("timeline/step/0")->value.starts_with("WARM-UP step 0:"));
  EXPECT_EQ(seq_letter(-2), "W2");
  EXPECT_EQ(seq_words(0), "sequence A");
}

TEST(Counting, FromZeroWithTheRange) {
  EXPECT_EQ(counted_text("tile", 1, 4),
            "tile 1 (0\xE2\x80\x93"
            "3)");
  EXPECT_EQ(counted_text("tile", 0, 1), "tile 0, the only one");
  const Sample s = sample::padded_decode();
  Headless screen(1920, 1080);
  screen.view.stage = StageView::tiles;
  screen.selection.tile = 1;
  screen.draw(s.frame);
  const int tiles = static_cast<int>(s.attention->num_tiles);
  EXPECT_EQ(screen.marks.get("tiles/cursor")->value, counted_text("tile", 1, tiles));
  EXPECT_EQ(screen.marks.get("header/head")->value, counted_text("head", 0, 8));
  EXPECT_NE(screen.marks.get("numbers/m")->value.find(counted_text("tile", tiles - 1, tiles)),
            std::string::npos)
      << screen.marks.get("numbers/m")->value;
  screen.type(s.frame, "?");
  screen.draw(s.frame);
  EXPECT_NE(screen.marks.get("help/counting")->value.find("count from 0"), std::string::npos);
}

/// Attention alone, on tensors of the user's.
Sample tensor_case(bool cache) {
  Sample s = sample::padded_decode();
  s.manifest->model.architecture = trace::kTensorArchitecture;
  s.manifest->model.num_layers = 1;
  trace::StepRecord& step = *s.step;
  step.free_blocks.clear();
  for (trace::BlockState& block : step.blocks) block.hash.reset();
  if (!cache) {
    step.blocks.clear();
    step.path = trace::AttentionPath::prefill_packed;
    for (trace::SeqState& seq : step.seqs) seq.block_table.clear();
    step.seqs_after = step.seqs;
  }
  const auto other = [](const auto& note) { return note.stage != Stage::attention || note.layer != 0; };
  std::erase_if(step.shapes, other);
  std::erase_if(step.launches, other);
  return s;
}

TEST(TensorCases, ShowOnlyWhatTheyHave) {
  const Sample s = tensor_case(true);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_TRUE(screen.marks.get("timeline/stage/attention").has_value());
  for (const char* stage : {"schedule", "prepare", "qkv_rope", "out_mlp", "lm_head", "sample", "commit"}) {
    EXPECT_FALSE(screen.marks.get(std::string("timeline/stage/") + stage).has_value()) << stage;
  }
  EXPECT_EQ(screen.marks.get("pool/sum")->value, "10 of 16 blocks in block_tables");
  EXPECT_FALSE(screen.marks.get("free/0").has_value());
  EXPECT_TRUE(screen.marks.get("pool/block/1")->value.starts_with("block 1: in no block table"));
  const std::string twin = describe_screen(s.frame, {});
  EXPECT_EQ(twin.find("Free queue"), std::string::npos);
  EXPECT_NE(twin.find("Cache: 10 of 16 blocks in block_tables."), std::string::npos) << twin;
}

TEST(TensorCases, PackedOnesHaveNoBlocks) {
  const Sample s = tensor_case(false);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("pool/sum").has_value());
  EXPECT_FALSE(screen.marks.get("timeline/pool/8").has_value());
  EXPECT_FALSE(screen.marks.get("tables/slot").has_value());
  EXPECT_NE(describe_screen(s.frame, {}).find("No cache: the keys are packed."), std::string::npos);
}

}  // namespace
}  // namespace attn::viz
