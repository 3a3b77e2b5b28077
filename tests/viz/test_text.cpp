// No text is cut by an edge and none lies on another, at twelve window sizes, in both modes, in every view.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "headless.h"
#include "sample_frame.h"
#include "text_faults.h"
#include "viz/layout/screen_layout.h"

namespace attn::viz {
namespace {

using sample::Sample;

/// Every size, view and page of a mode; faults that look alike are told once.
void check_everywhere(ScreenMode mode, const Sample& sample, const Selection& selection, float scale = 1.0F) {
  Headless screen(640, 480);
  screen.view.mode = mode;
  screen.view.scale = scale;
  TextLog log;
  screen.view.text_log = &log;
  screen.selection = selection;
  std::set<std::string> told_already;
  for (const WindowSize size : kWindowSizes) {
    screen.resize(size.w, size.h);
    for (int view = 0; view < kNumStageViews; ++view) {
      screen.view.stage = static_cast<StageView>(view);
      screen.view.side = static_cast<SideView>(view % kNumSideViews);
      const int pages = layout_screen(layout_input(screen.view, sample.frame, size.w, size.h)).pages;
      for (screen.view.page = 0; screen.view.page < pages; ++screen.view.page) {
        screen.draw(sample.frame);
        screen.draw(sample.frame);
        EXPECT_FALSE(log.entries.empty());
        for (const std::string& fault : faults_of(log)) {
          const std::string kind = fault.substr(0, fault.find(" at "));
          if (told_already.insert(kind).second)
            ADD_FAILURE() << fault << " (window " << size.w << "x" << size.h << ", view " << view << ", page "
                          << screen.view.page << ")";
        }
      }
    }
  }
}

class Texts : public testing::TestWithParam<ScreenMode> {};

TEST_P(Texts, OfAPrefillHaveTheirRoom) {
  check_everywhere(GetParam(), sample::compared(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3});
}

TEST_P(Texts, OfAPaddedDecodeHaveTheirRoom) {
  check_everywhere(GetParam(), sample::compared(sample::padded_decode()), {.seq = 2, .tile = 1});
}

TEST_P(Texts, OfAMeasuredMachineHaveTheirRoom) {
  check_everywhere(GetParam(), sample::measured(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3});
  check_everywhere(GetParam(), sample::measured(sample::padded_decode()), {.seq = 2});
}

TEST_P(Texts, OfDozensOfSequencesHaveTheirRoom) {
  check_everywhere(GetParam(), sample::many(64, 64, 16, trace::StepKind::decode), {.seq = 40, .block = 7});
}

TEST_P(Texts, OfThousandsOfKeysHaveTheirRoom) {
  check_everywhere(GetParam(), sample::many(1, 4096, 16, trace::StepKind::decode), {.tile = 100});
}

TEST_P(Texts, HaveTheirRoomAtEveryLetterSize) {
  for (const float scale : {0.75F, 1.35F, 1.6F, 2.0F, 2.5F}) {
    SCOPED_TRACE(scale);
    check_everywhere(GetParam(), sample::compared(sample::padded_decode()), {.seq = 2, .tile = 1}, scale);
    check_everywhere(GetParam(), sample::measured(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3},
                     scale);
    check_everywhere(GetParam(), sample::compared(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3},
                     scale);
  }
}

TEST_P(Texts, OfNothingHaveTheirRoom) { check_everywhere(GetParam(), sample::empty(), {}); }

INSTANTIATE_TEST_SUITE_P(Modes, Texts, testing::Values(ScreenMode::explore, ScreenMode::present),
                         [](const auto& mode) {
                           return mode.param == ScreenMode::present ? "present" : "explore";
                         });

// The check itself must be able to fail.
TEST(TextFaults, AreFound) {
  const Rect clip{0, 0, 100, 100};
  const auto entry = [&](Rect rect) { return TextLog::Entry{"panel", "text", rect, clip}; };
  TextLog log;
  log.entries = {entry({10, 10, 30, 15}), entry({10, 30, 30, 15})};
  EXPECT_TRUE(faults_of(log).empty());
  log.entries.push_back(entry({80, 50, 30, 15}));
  EXPECT_EQ(faults_of(log).size(), 1U);
  log.entries.push_back(entry({35, 12, 30, 15}));
  EXPECT_EQ(faults_of(log).size(), 2U);
  log.entries = {entry({10, 10, 30, 15})};
  log.strokes = {{"line", {0, 16, 90, 1}}};
  EXPECT_EQ(faults_of(log).size(), 1U);
  log.strokes = {{"line", {0, 25, 90, 1}}};
  EXPECT_TRUE(faults_of(log).empty());
  log.entries = {{"panel", "0.12\xE2\x80\xA6", {10, 10, 30, 15}, clip, false, true}};
  EXPECT_EQ(faults_of(log).size(), 1U);
}

}  // namespace
}  // namespace attn::viz
