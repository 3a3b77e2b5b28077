// What a session looks for: conditions to run to, break points, events of a block.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "app/session.h"
#include "core/trace/names.h"
#include "tests/app/session_runs.h"
#include "viz/menu_entries.h"

namespace attn::app {
namespace {

using Kind = viz::Command::Kind;
using trace::ConditionKind;

bool has_event(const trace::StepRecord& step, trace::EventKind kind) {
  return std::ranges::any_of(step.events, [&](const trace::Event& event) { return event.kind == kind; });
}

TEST_F(SessionRuns, RunToMakesStepsUntilTheConditionHolds) {
  EXPECT_EQ(frame().num_steps, 1);
  run_to(ConditionKind::prefix_hit, 1);
  EXPECT_TRUE(has_event(*frame().step, trace::EventKind::prefix_hit));
  EXPECT_EQ(frame().index, frame().num_steps - 1) << "not one step more than needed";
  EXPECT_NE(frame().stopped_at, "");
  const int hit = frame().index;
  run_to_the_end();
  run_to(ConditionKind::prefix_hit, -1);
  EXPECT_EQ(frame().index, hit) << "and backwards from the end it is the same step";
  send(Kind::step_forward);
  EXPECT_EQ(frame().stopped_at, "") << "said until the next command";
}

/// A suite that the threading tests leave out: a dozen runs that search as those of SessionRuns do.
class EveryCondition : public SessionRuns {};

/// Every line of the menu's "run to", in a run in which all of them happen: few blocks, attended pads, a row
/// that is never stored. Only an error never does here: the emulator repeats a launch to the bit.
TEST_F(EveryCondition, IsFoundByRunTo) {
  const auto open_broken = [&] {
    open({"engine.num_blocks=9", "engine.decode_path=gather_padded", "engine.forget_store=3"});
  };
  open_broken();
  int found = 0;
  for (const trace::Condition& condition : viz::offered_conditions({}, frame())) {
    open_broken();
    viz::Command command;
    command.kind = Kind::run_to;
    command.a = 1;
    command.condition = condition;
    send(command);
    const std::string text = trace::condition_text(condition);
    if (condition.kind == ConditionKind::error_above) {
      EXPECT_EQ(frame().stopped_at, "") << text;
      continue;
    }
    EXPECT_TRUE(frame().stopped_at.starts_with(text)) << text << ": '" << frame().stopped_at << "'";
    EXPECT_GT(frame().index, 0) << text;
    ++found;
  }
  EXPECT_EQ(found, 11);
}

TEST_F(SessionRuns, PlayingStopsWhereABrokenRunGoesWrong) {
  const auto wrong_above = [](double x) { return trace::Condition{ConditionKind::wrong_above, -1, x}; };
  open({"engine.forget_store=3"});
  viz::Command stop;
  stop.kind = Kind::add_breakpoint;
  stop.condition = wrong_above(1e-3);
  send(stop);
  view_.playing = true;
  auto now = Session::Clock::now();
  for (int i = 0; i < 200 && view_.playing; ++i) {
    session_->tick(view_, now += std::chrono::seconds(2));
    session_->wait_idle();
    frame();
  }
  EXPECT_NE(frame().stopped_at, "");
  ASSERT_TRUE(frame().broken);
  const int wrong = frame().index;
  EXPECT_GT(frame().broken->max_abs_diff_o, 1e-3);
  while (frame().index > 0) {
    send(Kind::step_back);
    EXPECT_LE(frame().broken->max_abs_diff_o, 1e-3) << "no earlier step of layer 0 is wrong";
  }
  stop.kind = Kind::run_to;
  stop.a = 1;
  send(stop);
  EXPECT_EQ(frame().index, wrong) << "running to it finds the same step";
}

TEST_F(SessionRuns, ARescaleIsShownWhereItsTilesAre) {
  run_to(ConditionKind::prefix_hit, 1);
  session_->tick(view_, Session::Clock::now());
  EXPECT_EQ(view_.stage, viz::StageView::weights) << "other conditions leave the view as it is";
  open({"engine.num_blocks=9", "engine.decode_path=gather_padded"});
  run_to(ConditionKind::rescale, 1);
  ASSERT_NE(frame().stopped_at, "");
  session_->tick(view_, Session::Clock::now());
  EXPECT_EQ(view_.stage, viz::StageView::tiles);
  view_.stage = viz::StageView::heads;
  session_->tick(view_, Session::Clock::now());
  EXPECT_EQ(view_.stage, viz::StageView::heads) << "once: what the reader opens then stays";
}

TEST_F(SessionRuns, WhatNeverHappensIsSaidAndThePictureStays) {
  send(Kind::step_forward);
  run_to(ConditionKind::preemption, 1);
  EXPECT_EQ(frame().index, 1);
  EXPECT_NE(frame().status.find("not found"), std::string::npos) << frame().status;
  EXPECT_FALSE(frame().engine_has_work) << "the whole run was looked at";
  EXPECT_FALSE(frame().work.active());
}

TEST_F(SessionRuns, RunStopsAtABreakPointInBothDirections) {
  viz::Command add;
  add.kind = Kind::add_breakpoint;
  add.condition = {.kind = ConditionKind::block_allocated, .a = 12, .x = 0.0};
  send(add);
  send(add);
  ASSERT_EQ(frame().breakpoints.size(), 1U) << "the same one twice is one";
  send(Kind::run, 1);
  const int stop = frame().index;
  EXPECT_GT(stop, 0);
  EXPECT_TRUE(std::ranges::any_of(frame().step->events, [](const trace::Event& event) {
    return event.kind == trace::EventKind::allocate && event.block_id == 12;
  })) << frame().stopped_at;
  send(Kind::run, 1);
  EXPECT_GT(frame().index, stop) << "on to the end";
  send(Kind::run, -1);
  EXPECT_EQ(frame().index, stop);
  send(Kind::remove_breakpoint, 0);
  send(Kind::remove_breakpoint, 7);
  EXPECT_TRUE(frame().breakpoints.empty());
  send(Kind::run, -1);
  EXPECT_EQ(frame().index, 0) << "without break points to the beginning";
}

TEST_F(SessionRuns, PlayingStopsWhereABreakPointHoldsAndShowsTheTile) {
  viz::Command add;
  add.kind = Kind::add_breakpoint;
  add.condition = {.kind = ConditionKind::rescale, .a = -1, .x = 0.0};
  send(add);
  send(Kind::toggle_play);
  auto now = Session::Clock::time_point{} + std::chrono::hours(1);
  for (int i = 0; i < 50 && view_.playing; ++i) {
    now += Session::kStepTime;
    session_->tick(view_, now);
    session_->wait_idle();
    frame();
  }
  EXPECT_FALSE(view_.playing);
  EXPECT_NE(frame().stopped_at.find("rescale"), std::string::npos) << frame().stopped_at;
  EXPECT_EQ(view_.stage, viz::StageView::tiles) << "at once, as when one runs to it";
  const auto hit =
      trace::check_condition(add.condition, *frame().step, frame().previous.get(), frame().attention.get());
  ASSERT_TRUE(hit);
  EXPECT_GT(hit->tile, 0);
  const viz::Selection& shown = session_->selection();
  EXPECT_EQ(shown.tile, hit->tile);
  EXPECT_EQ(shown.head, hit->head);
  EXPECT_EQ(shown.stage, trace::Stage::attention);
}

TEST_F(SessionRuns, EventsOfTheSelectedBlockAreVisitedBothWays) {
  run_to_the_end();
  viz::Selection selection = session_->selection();
  selection.block = frame().step->blocks.at(2).id;
  selection.step = 0;
  session_->select(selection);
  std::vector<int> there, back;
  for (int last = -1; session_->selection().step != last;) {
    last = session_->selection().step;
    send(Kind::next_event, 1);
    if (session_->selection().step != last) there.push_back(session_->selection().step);
  }
  EXPECT_FALSE(there.empty());
  back.push_back(session_->selection().step);
  for (int last = -1; session_->selection().step != last;) {
    last = session_->selection().step;
    send(Kind::next_event, -1);
    if (session_->selection().step != last) back.push_back(session_->selection().step);
  }
  std::ranges::reverse(back);
  if (back.front() == 0 && (there.empty() || there.front() != 0)) back.erase(back.begin());
  EXPECT_EQ(there, back);
}

}  // namespace
}  // namespace attn::app
