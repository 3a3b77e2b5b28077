// The costs panel: numbers of the step and of both phases come from the records; what is arithmetic says so.
#include <gtest/gtest.h>

#include "headless.h"
#include "sample_frame.h"
#include "viz/cost_lines.h"

namespace attn::viz {
namespace {

using sample::Sample;

/// A prompt of 64 tokens and 32 decode steps, as summaries and sums.
Sample prompt_and_answer() {
  Sample s = sample::make({.kind = trace::StepKind::decode,
                           .path = trace::AttentionPath::decode_paged,
                           .block_size = 16,
                           .num_blocks = 8,
                           .seqs = {{0, 64, 96, 95, 1, {0, 1, 2, 3, 4, 5}}},
                           .index = 32,
                           .num_steps = 33});
  auto history = std::make_shared<std::vector<StepSummary>>();
  auto costs = std::make_shared<trace::RunCosts>();
  for (int i = 0; i < 33; ++i) {
    const bool prefill = i == 0;
    const int keys = 64 + i;
    const Sample one = sample::make(
        {.kind = prefill ? trace::StepKind::prefill : trace::StepKind::decode,
         .path = prefill ? trace::AttentionPath::prefill_packed : trace::AttentionPath::decode_paged,
         .block_size = 16,
         .num_blocks = 8,
         .seqs = {{0, 64, keys, prefill ? 0 : keys - 1, prefill ? 64 : 1, {0, 1, 2, 3, 4, 5}}},
         .index = i,
         .num_steps = 33});
    trace::add_step(*costs, *one.step);
    StepSummary summary;
    summary.kind = one.step->kind;
    summary.path = one.step->path;
    summary.scheduled = {0};
    summary.uncached_dots = static_cast<std::uint64_t>(keys) * static_cast<std::uint64_t>(keys + 1) / 2;
    summary.uncached_rows = static_cast<std::uint64_t>(keys);
    history->push_back(summary);
  }
  s.frame.history = history;
  s.frame.run_costs = costs;
  return s;
}

TEST(CostLines, NumbersReadLikeNumbers) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(flop_text(9'999), "9,999 FLOP");
  EXPECT_EQ(flop_text(1'230'000), "1.23 MFLOP");
  EXPECT_EQ(time_text(std::numeric_limits<float>::quiet_NaN()), "not measured");
  EXPECT_EQ(time_text(0.042F), "42.0 \xC2\xB5s");
  EXPECT_EQ(intensity_text({.bytes = 4, .flop = 10}), "2.50");
  EXPECT_EQ(intensity_text({}), "-");
}

TEST(CostLines, TwoJobsOfALesson) {
  const Sample s = prompt_and_answer();
  std::string all;
  for (const PhaseLine& line : phase_lines(s.frame))
    all += std::string(line.name) + "|" + line.prefill + "|" + line.decode + "\n";
  for (const char* part :
       {"steps|1|32\n", "queries|64.0|1.0\n", "dots|2,080|2,576\n", "keys_read|64|2,576\n",
        "kv_written|64|32\n", "uncached|2,080|106,336\n", "source|packed K/V|paged K/V\n", "tokens|1|32\n"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  EXPECT_NE(all.find("time|not measured|not measured\n"), std::string::npos) << all;
  const CacheGain gain = cache_gain(s.frame);
  EXPECT_EQ(gain.dots, 2'080U + 2'576U);
  EXPECT_EQ(gain.dots_uncached, 2'080U + 106'336U);
  EXPECT_EQ(gain.rows, 64U + 32U);
  EXPECT_EQ(gain.rows_uncached, 64U + 2'576U);
}

TEST(CostLines, APhaseThatHasNotRunTookNoTime) {
  Sample s = prompt_and_answer();
  auto costs = std::make_shared<trace::RunCosts>(*s.frame.run_costs);
  costs->decode = {};
  s.frame.run_costs = costs;
  for (const PhaseLine& line : phase_lines(s.frame)) {
    if (std::string_view(line.name) != "time") continue;
    EXPECT_EQ(line.prefill, "not measured");
    EXPECT_EQ(line.decode, "-");
  }
}

TEST(Costs, PanelSaysWhatRanAndWhatIsArithmetic) {
  const Sample s = prompt_and_answer();
  Headless screen(2560, 1440);
  screen.view.side = SideView::costs;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "costs/step/dots"), "score dots per head: 96");
  EXPECT_EQ(value_of(screen, "costs/step/kv_written"), "K/V rows written: 1");
  Headless tall(3840, 2160);
  tall.view.side = SideView::costs;
  tall.view.maximised = PanelId::costs;
  tall.draw(s.frame);
  EXPECT_NE(value_of(tall, "costs/phase/dots").find("decode: 2,576"), std::string::npos);
  EXPECT_NE(value_of(tall, "costs/gain_dots/uncached").find("by formula: 108,416"), std::string::npos);
  EXPECT_NE(value_of(tall, "costs/kernel/1").find("time not measured"), std::string::npos);
  EXPECT_NE(value_of(tall, "costs/kernel/1").find("96 score dots per head"), std::string::npos)
      << value_of(tall, "costs/kernel/1");
  tall.click(s.frame, "costs/kernel/1");
  ASSERT_EQ(tall.commands.size(), 1U);
  EXPECT_EQ(tall.commands[0].selection.stage, trace::Stage::attention);
}

TEST(Costs, PrefillStandsBesideDecodeWithoutScrolling) {
  const Sample s = prompt_and_answer();
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    Headless screen(1600, 900);
    screen.view.mode = mode;
    screen.view.side = SideView::costs;
    if (mode == ScreenMode::present) screen.view.maximised = PanelId::costs;
    screen.draw(s.frame);
    for (const char* name : {"rows", "keys_read", "dots", "flop", "bytes", "intensity", "time"}) {
      const auto row = screen.marks.get(std::string("costs/phase/") + name);
      const auto of_step = screen.marks.get(std::string("costs/step/") + name);
      ASSERT_TRUE(row && of_step) << name;
      EXPECT_TRUE(inside(row->rect, of_step->rect)) << name;
    }
  }
}

TEST(Costs, WithoutSumsItSaysSo) {
  Sample s = prompt_and_answer();
  s.frame.run_costs = nullptr;
  EXPECT_TRUE(phase_lines(s.frame).empty());
  EXPECT_FALSE(cache_gain(s.frame).known);
  Headless screen(1600, 900);
  screen.view.side = SideView::costs;
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("costs/phase/dots").has_value());
}

}  // namespace
}  // namespace attn::viz
