// The timeline: geometry under zoom, runs per sequence taken in step by step, marks, scrubbing, thousands of
// steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/timeline_layout.h"
#include "viz/timeline_facts.h"

namespace attn::viz {
namespace {

using sample::Sample;
using trace::StepKind;

std::vector<int> starts_of(const std::vector<bool>& wide) {
  std::vector<int> starts = {0};
  for (const bool prefill : wide) starts.push_back(starts.back() + (prefill ? kPrefillUnits : 1));
  return starts;
}

TEST(TimelineLayout, TheWholeRecordingFitsUntilZoomed) {
  std::vector<bool> wide(1000, false);
  wide[0] = wide[500] = true;
  const std::vector<int> starts = starts_of(wide);
  const TimelineLayout all = layout_timeline(starts, {}, 40, 600, 44);
  EXPECT_EQ(all.first, 0);
  EXPECT_EQ(all.end, 1000);
  EXPECT_LE(all.x.back(), 640.5F);
  EXPECT_NEAR(all.right(500) - all.left(500), 3.0F * (all.right(501) - all.left(501)), 0.1F);
  for (const double center : {0.0, 300.0, 502.0, 1e9}) {
    const TimelineLayout part = layout_timeline(starts, {.zoom = 20.0F, .center = center}, 40, 600, 44);
    ASSERT_LT(part.first, part.end);
    EXPECT_LT(part.end - part.first, 60);
    EXPECT_GE(part.right(part.end - 1), 600.0F);  // the lane is full
    for (int i = part.first; i < part.end; ++i) {
      ASSERT_GE(part.left(i), 40.0F);
      ASSERT_LE(part.right(i), 640.0F);
      if (part.right(i) > part.left(i)) {
        ASSERT_EQ(part.at((part.left(i) + part.right(i)) * 0.5F), i);
      }
    }
  }
  const TimelineLayout few = layout_timeline(starts_of({true, false}), {}, 0, 600, 44);
  EXPECT_FLOAT_EQ(few.right(0) - few.left(0), 3.0F * (few.right(1) - few.left(1)));
  EXPECT_EQ(layout_timeline({0}, {}, 0, 600, 44).at(5), -1);
}

std::shared_ptr<std::vector<StepSummary>> story() {
  auto history = std::make_shared<std::vector<StepSummary>>();
  const auto step = [&](StepKind kind, std::vector<int> run, std::vector<int> wait, std::vector<int> preempt,
                        std::vector<int> finish) {
    StepSummary s;
    s.step = static_cast<int>(history->size()) + 1;
    s.kind = kind;
    s.scheduled = std::move(run);
    s.waiting = std::move(wait);
    s.preempted = std::move(preempt);
    s.finished = std::move(finish);
    s.written = {s.step == 2, true};
    s.read = {true, false};
    history->push_back(s);
  };
  step(StepKind::prefill, {0}, {1}, {}, {});
  step(StepKind::prefill, {1}, {}, {}, {});
  step(StepKind::decode, {0, 1}, {}, {}, {});
  step(StepKind::decode, {0}, {1}, {1}, {});
  step(StepKind::decode, {0}, {1}, {}, {0});
  step(StepKind::prefill, {1}, {}, {}, {1});
  return history;
}

std::string runs_text(const std::vector<SeqRun>& runs) {
  std::string text;
  for (const SeqRun& run : runs) {
    text += "WPDX"[static_cast<int>(run.phase)];
    text += std::to_string(run.first) + "-" + std::to_string(run.end) + (run.finished ? "!" : "") + " ";
  }
  return text;
}

TEST(TimelineFacts, RunsFollowWhatEverySequenceDid) {
  TimelineFacts facts;
  const auto history = story();
  take_in(facts, history);
  EXPECT_EQ(facts.starts, (std::vector<int>{0, 3, 6, 7, 8, 9, 12}));
  EXPECT_EQ(runs_text(facts.rows[0]), "P0-1 D2-5! ");
  EXPECT_EQ(runs_text(facts.rows[1]), "W0-1 P1-2 D2-3 X3-4 W4-5 P5-6! ");
  // Growing one step at a time gives the same.
  TimelineFacts grown;
  auto growing = std::make_shared<std::vector<StepSummary>>();
  for (const StepSummary& step : *history) {
    growing->push_back(step);
    take_in(grown, growing);
  }
  EXPECT_EQ(grown.starts, facts.starts);
  for (const int id : {0, 1}) EXPECT_EQ(runs_text(grown.rows[id]), runs_text(facts.rows[id]));
  take_in(grown, std::make_shared<std::vector<StepSummary>>());
  EXPECT_EQ(grown.steps(), 0);  // another run starts anew
}

TEST(TimelineFacts, BreakPointsThatTheHistoryCanAnswer) {
  const auto history = story();
  const auto holds = [&](trace::ConditionKind kind, int a, int step) {
    return known_to_hold({kind, a, 0.0}, (*history)[static_cast<std::size_t>(step)]);
  };
  EXPECT_TRUE(holds(trace::ConditionKind::preemption, -1, 3));
  EXPECT_FALSE(holds(trace::ConditionKind::preemption, -1, 2));
  EXPECT_TRUE(holds(trace::ConditionKind::block_written, 0, 1));
  EXPECT_FALSE(holds(trace::ConditionKind::block_written, 0, 2));
  EXPECT_FALSE(holds(trace::ConditionKind::block_written, 99, 2));
  EXPECT_FALSE(holds(trace::ConditionKind::token_equals, 1, 2));
}

TEST(Timeline, SelectedBlockShowsItsWritesAndReads) {
  Sample s = sample::padded_decode();
  s.frame.history = story();
  s.frame.num_steps = 6;
  s.frame.index = 3;
  Headless screen(1600, 900);
  screen.selection.block = 0;
  screen.draw(s.frame);
  const auto use = screen.marks.get("timeline/block");
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->value, "block 0: written in 1 and read in 6 of the steps shown");
}

TEST(Timeline, BookmarksStagesAndTilesAnswerClicks) {
  Sample s = sample::prefill();
  s.frame.bookmarks = {{.cursor = {.index = 4}, .seq = -1, .note = "look here"}};
  Headless screen(1600, 900);
  screen.click(s.frame, "timeline/bookmark/0");
  ASSERT_FALSE(screen.commands.empty());
  EXPECT_TRUE(std::any_of(screen.commands.begin(), screen.commands.end(), [](const Command& c) {
    return c.kind == Command::Kind::go_to_bookmark && c.a == 0;
  }));
  screen.click(s.frame, "timeline/stage/qkv_rope");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.stage, trace::Stage::qkv_rope);
  screen.click(s.frame, "timeline/layer/2");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.layer, 2);
  EXPECT_NE(screen.marks.get("timeline/step/4")->value.find("look here"), std::string::npos);
}

TEST(Timeline, ZoomPanAndFollow) {
  const Sample s = sample::many(64, 64, 16, StepKind::decode);  // 400 steps, at step 201
  Headless screen(1600, 900);
  screen.draw(s.frame);
  ASSERT_TRUE(screen.marks.get("timeline/step/0").has_value());
  ASSERT_TRUE(screen.marks.get("timeline/step/399").has_value());
  for (int i = 0; i < 6; ++i) screen.click(s.frame, "timeline/zoom_in");
  EXPECT_FALSE(screen.marks.get("timeline/step/0").has_value());
  ASSERT_TRUE(screen.marks.get("timeline/step/200").has_value());
  EXPECT_GT(screen.marks.get("timeline/step/200")->rect.w, 10.0F);
  screen.click(s.frame, "timeline/pan_left");
  screen.click(s.frame, "timeline/pan_left");
  EXPECT_FALSE(screen.marks.get("timeline/step/200").has_value());
  Sample next = s;
  next.frame.index = 201;  // a step taken brings its column back into sight
  screen.draw(next.frame);
  EXPECT_TRUE(screen.marks.get("timeline/step/201").has_value());
  screen.click(next.frame, "timeline/fit");
  screen.draw(next.frame);
  EXPECT_TRUE(screen.marks.get("timeline/step/0").has_value());
}

TEST(Timeline, DraggingScrubs) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const auto from = screen.marks.get("timeline/step/2");
  const auto to = screen.marks.get("timeline/step/7");
  ASSERT_TRUE(from && to);
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {from->rect.x + from->rect.w * 0.5F, from->rect.bottom() - 3.0F};
  screen.draw(s.frame);
  io.MouseDown[0] = true;
  screen.draw(s.frame);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].a, 2);
  io.MousePos = {to->rect.x + to->rect.w * 0.5F, 20.0F};  // the drag is kept outside the lane
  screen.draw(s.frame);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].a, 7);
  screen.draw(s.frame);
  EXPECT_TRUE(screen.commands.empty());  // nothing new while the mouse rests
  io.MouseDown[0] = false;
}

/// A drag over the sequences sets what playing goes round; over the steps it does with Shift.
TEST(Timeline, DraggingSetsTheLoop) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const auto column = [&](int step) { return screen.marks.get(fmt::format("timeline/step/{}", step)); };
  const auto row = screen.marks.get("timeline/seq/0");
  ASSERT_TRUE(row && column(2) && column(7));
  ImGuiIO& io = ImGui::GetIO();
  const auto drag = [&](int from, int to, float y) {
    const auto at = [&](int step) {
      io.MousePos = {column(step)->rect.x + column(step)->rect.w * 0.5F, y};
      screen.draw(s.frame);
    };
    at(from);
    io.MouseDown[0] = true;
    screen.draw(s.frame);
    at(to);
    const bool asked = std::any_of(screen.commands.begin(), screen.commands.end(),
                                   [](const Command& c) { return c.kind == Command::Kind::seek; });
    io.MouseDown[0] = false;
    screen.draw(s.frame);
    return asked;
  };
  EXPECT_FALSE(screen.marks.find("timeline/loop"));
  EXPECT_FALSE(drag(2, 7, row->rect.y + row->rect.h * 0.5F)) << "the cursor stays";
  EXPECT_EQ(screen.view.loop, (PlayLoop{2, 7}));
  const Mark* bar = screen.marks.find("timeline/loop");
  ASSERT_TRUE(bar);
  EXPECT_NEAR(bar->rect.x, column(2)->rect.x, 1.0F);
  EXPECT_NEAR(bar->rect.right(), column(7)->rect.right(), 1.0F);
  EXPECT_EQ(bar->value, "playing goes round steps 3 to 8");
  io.KeyShift = true;
  EXPECT_FALSE(drag(5, 4, column(5)->rect.bottom() - 3.0F));
  io.KeyShift = false;
  EXPECT_EQ(screen.view.loop, (PlayLoop{4, 5})) << "backwards is the same";
  EXPECT_TRUE(drag(2, 7, column(5)->rect.bottom() - 3.0F)) << "without Shift it scrubs";
  EXPECT_EQ(screen.view.loop, (PlayLoop{4, 5}));
  screen.click(s.frame, "timeline/no_loop");
  EXPECT_FALSE(screen.view.loop.on());
}

TEST(Timeline, TheLoopHasKeys) {
  Sample s = sample::prefill();
  Headless screen(1600, 900);
  s.frame.index = 3;
  screen.type(s.frame, "(");
  EXPECT_EQ(screen.view.loop, (PlayLoop{3, s.frame.num_steps - 1}));
  s.frame.index = 5;
  screen.type(s.frame, ")");
  EXPECT_EQ(screen.view.loop, (PlayLoop{3, 5}));
  s.frame.index = 1;
  screen.type(s.frame, ")");
  EXPECT_EQ(screen.view.loop, (PlayLoop{0, 1})) << "an end before the beginning begins at the first step";
  screen.type(s.frame, "o");
  EXPECT_FALSE(screen.view.loop.on());
}

TEST(Timeline, ThousandsOfStepsAndDozensOfSequencesStayCheap) {
  Sample s = sample::many(64, 64, 16, StepKind::decode);
  auto history = std::make_shared<std::vector<StepSummary>>();
  for (int i = 0; i < 4000; ++i) {
    StepSummary step = (*s.frame.history)[static_cast<std::size_t>(i % 400)];
    step.step = i + 1;
    step.written.assign(256, i % 3 == 0);
    step.read.assign(256, true);
    history->push_back(std::move(step));
  }
  s.frame.history = history;
  s.frame.num_steps = 4000;
  s.frame.index = 2000;
  Headless screen(1920, 1080);
  screen.selection.block = 7;
  screen.selection.seq = 63;
  screen.draw(s.frame);
  const double best = screen.cheapest_draw_ms(s.frame, 5);
  RecordProperty("whole_screen_microseconds", static_cast<int>(best * 1000.0));
  EXPECT_LT(best, 40.0);  // around 3 ms; under sanitizers more
  EXPECT_LT(screen.largest_list(), 60'000);
  const auto crowd = screen.marks.get("timeline/crowd");
  ASSERT_TRUE(crowd.has_value()) << "64 sequences have no room for rows";
  EXPECT_NE(crowd->value.find("1 prefill, 63 wait"), std::string::npos) << crowd->value;
  std::string rows;
  for (const Mark& mark : screen.marks.all()) {
    if (mark.name.starts_with("timeline/seq/")) rows += mark.name.substr(13) + " ";
  }
  EXPECT_EQ(rows, "63 ") << "the selected one has its row";
  screen.view.maximised = PanelId::timeline;
  screen.draw(s.frame);
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("timeline/crowd"));
  EXPECT_LT(screen.largest_list(), 60'000);
  for (const int id : {0, 31, 63}) EXPECT_TRUE(screen.marks.get(fmt::format("timeline/seq/{}", id))) << id;
}

}  // namespace
}  // namespace attn::viz
