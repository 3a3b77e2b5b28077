// What a session does beside showing steps: searches, switches, bookmarks, files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "app/session.h"
#include "core/trace/names.h"
#include "core/trace/trace_file.h"
#include "tests/app/program.h"
#include "tests/app/user.h"
#include "viz/menu_entries.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Kind = viz::Command::Kind;
using trace::ConditionKind;

class SessionRuns : public ::testing::Test {
 protected:
  SessionRuns() { open({}); }
  void open(const std::vector<std::string>& sets) {
    session_ = std::make_unique<Session>(testing::scenario_subject(sets), DeviceChoice::simt, [] {});
    session_->wait_idle();
  }
  void send(viz::Command command) {
    session_->apply(viz::Commands{std::move(command)}, view_);
    session_->wait_idle();
  }
  void send(Kind kind, int a = 0, std::string text = {}, std::string value = {}) {
    send(testing::command_of(kind, a, std::move(text), std::move(value)));
  }
  void run_to(ConditionKind kind, int by, int a = -1) {
    viz::Command command;
    command.kind = Kind::run_to;
    command.a = by;
    command.condition = {.kind = kind, .a = a, .x = 0.0};
    send(std::move(command));
  }
  void run_to_the_end() {
    while (session_->frame().engine_has_work) send(Kind::step_forward);
  }
  const viz::Frame& frame() { return session_->frame(); }

  viz::ViewState view_;
  std::unique_ptr<Session> session_;
};

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

/// Every line of the menu's "run to", in a run in which all of them happen: few blocks, attended pads, a row
/// that is never stored. Only an error never does here: the emulator repeats a launch to the bit.
TEST_F(SessionRuns, RunToFindsEveryKindOfCondition) {
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

TEST_F(SessionRuns, ASwitchRunsTheSameRequestsUpToTheSameStep) {
  send(Kind::step_forward);
  viz::Command add;
  add.kind = Kind::add_prompt;
  add.a = 3;
  add.text = "JULIET:\nO";
  send(add);
  for (int i = 0; i < 6; ++i) send(Kind::step_forward);
  const int index = frame().index;
  const auto before = frame().step;
  viz::Selection selection = session_->selection();
  selection.layer = 2;
  selection.head = 5;
  session_->select(selection);
  send(Kind::set_switch, 0, "decode_path", "gather_masked");
  EXPECT_EQ(frame().index, index);
  EXPECT_EQ(frame().step->path, trace::AttentionPath::decode_gather_masked);
  EXPECT_EQ(session_->selection().layer, 2);
  EXPECT_EQ(session_->selection().head, 5);
  EXPECT_EQ(frame().step->state_hash, before->state_hash) << "another path, the same tokens";
  EXPECT_EQ(frame().manifest->request_labels.back(), "JULIET: O");
  EXPECT_FALSE(frame().broken);
  send(Kind::set_switch, 0, "prefill_level", "1");
  EXPECT_EQ(frame().step->config.prefill_level, 1);
  EXPECT_EQ(frame().step->config.decode_path, DecodePath::gather_masked) << "both switches hold";
}

TEST_F(SessionRuns, WhatIsBrokenIsMeasuredAgainstTheRightRun) {
  for (int i = 0; i < 8; ++i) send(Kind::step_forward);
  send(Kind::set_switch, 0, "decode_path", "gather_padded");
  ASSERT_TRUE(frame().broken);
  EXPECT_EQ(frame().broken->titles, std::vector<std::string>{"Padding is attended"});
  EXPECT_EQ(frame().broken->note, "");
  EXPECT_GT(frame().broken->max_abs_diff_o, 1e-4);
  const int wrong = frame().broken->first_wrong_step;
  if (wrong >= 0) {
    EXPECT_LE(wrong, frame().step->step);
  }
  send(Kind::first);
  ASSERT_TRUE(frame().broken);
  EXPECT_EQ(frame().broken->max_abs_diff_o, 0.0) << "a prefill pads nothing";
  EXPECT_EQ(frame().broken->first_wrong_step, -1);
  send(Kind::set_switch, 0, "decode_path", "paged");
  EXPECT_FALSE(frame().broken);
}

TEST_F(SessionRuns, AValueThatIsNoneIsRefusedInOneSentence) {
  const auto before = frame().step;
  send(Kind::set_switch, 0, "decode_path", "sideways");
  EXPECT_NE(frame().status.find("sideways"), std::string::npos);
  EXPECT_EQ(frame().step, before);
}

TEST_F(SessionRuns, ASavedRunOpensAgainWithItsBookmarksAndCanBeRunAgain) {
  const testing::TemporaryFolder folder;
  viz::Command add;
  add.kind = Kind::add_prompt;
  add.a = 3;
  add.text = "JULIET:\nO";
  send(add);
  for (int i = 0; i < 5; ++i) send(Kind::step_forward);
  send(Kind::add_bookmark, 0, "here");
  EXPECT_FALSE(frame().saved);
  const int steps = frame().num_steps, index = frame().index;
  const auto hash = frame().step->state_hash;
  send(Kind::save_trace, 0, folder.file("run"));
  EXPECT_TRUE(frame().saved) << frame().status;
  ASSERT_TRUE(fs::exists(folder.file("run.attn")));
  EXPECT_FALSE(fs::exists(folder.file("run.attn.part")));
  send(Kind::step_forward);
  EXPECT_FALSE(frame().saved) << "one more step than the file holds";

  send(Kind::open_file, 0, folder.file("run.attn"));
  EXPECT_FALSE(frame().live);
  EXPECT_EQ(frame().num_steps, steps);
  ASSERT_EQ(frame().bookmarks.size(), 1U);
  EXPECT_EQ(frame().bookmarks[0].note, "here");
  EXPECT_EQ(frame().recent_files.front(), folder.file("run.attn"));
  send(Kind::go_to_bookmark, 0);
  EXPECT_EQ(frame().index, index);
  EXPECT_EQ(frame().step->state_hash, hash);
  send(Kind::edit_bookmark, 0, "there");
  EXPECT_EQ(trace::read_bookmarks(folder.file("run.attn")).at(0).note, "there") << "at once in the file";

  EXPECT_EQ(frame().switches_note, "");
  send(Kind::set_switch, 0, "free_list", "scrambled");
  EXPECT_TRUE(frame().live);
  EXPECT_EQ(frame().index, index);
  EXPECT_EQ(frame().step->sampled.size(), 3U);
  EXPECT_EQ(frame().manifest->request_labels.back(), "JULIET: O") << "typed requests are in the file too";
}

TEST_F(SessionRuns, FilesThatCannotBeOpenedLeaveWhatIsThere) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.file("broken.json"), "{\"engine\": {\"block_size\": 0}");
  testing::write_file(folder.file("model.json"), R"({"model": ".", "requests": [{"prompt": "O"}]})");
  testing::write_file(folder.file("noise.attn"), std::string(400, 'x'));
  testing::write_file(folder.file("empty.safetensors"), "");
  testing::write_file(folder.file("letter.txt"), "Dear reader");
  const auto before = frame().step;
  for (const char* name :
       {"broken.json", "model.json", "noise.attn", "empty.safetensors", "letter.txt", "nothing.attn", ""}) {
    send(Kind::open_file, 0, folder.file(name));
    EXPECT_EQ(frame().step, before) << name;
    EXPECT_NE(frame().status, "") << name;
    EXPECT_EQ(std::ranges::count(frame().status, '\n'), 0) << frame().status;
    EXPECT_TRUE(frame().recent_files.empty());
  }
  send(Kind::step_forward);
  EXPECT_EQ(frame().index, 1) << "the old run goes on";
}

TEST_F(SessionRuns, AModelIsOpenedWithAPromptToBeginWithAndTakesMore) {
  const std::string model = (assets_dir() / "models/shakespeare-1m").string();
  send(Kind::open_file, 0, model);
  EXPECT_EQ(frame().manifest->scenario_name, "shakespeare-1m");
  EXPECT_TRUE(frame().live);
  EXPECT_EQ(frame().step->kind, trace::StepKind::prefill);
  EXPECT_EQ(frame().recent_files.front(), model);
  viz::Command add;
  add.kind = Kind::add_prompt;
  add.text = "To be, or not";
  add.a = 4;
  send(add);
  EXPECT_EQ(frame().manifest->request_labels.back(), "To be, or not");
  send(Kind::set_switch, 0, "decode_path", "gather_padded");
  EXPECT_TRUE(frame().broken) << "switches work on it as on any scenario";
}

TEST_F(SessionRuns, AFolderIsListed) {
  send(Kind::list_folder);
  EXPECT_EQ(frame().folder.path, (testing::source_dir() / "assets/lessons").lexically_normal().string());
  EXPECT_TRUE(std::ranges::any_of(frame().folder.entries, [](const viz::FolderEntry& entry) {
    return entry.name == "three-prompts.json" && entry.kind == "scenario";
  }));
  EXPECT_TRUE(std::ranges::none_of(frame().folder.entries, [](const viz::FolderEntry& entry) {
    return entry.name == "scenario.schema.json";
  }));
  send(Kind::list_folder, 0, (testing::source_dir() / "assets/models").string());
  EXPECT_TRUE(std::ranges::any_of(frame().folder.entries, [](const viz::FolderEntry& entry) {
    return entry.name == "shakespeare-1m" && entry.is_folder && entry.kind == "model";
  }));
  send(Kind::list_folder, 0, "/no/such/folder");
  EXPECT_NE(frame().folder.note, "");
  send(Kind::list_folder, 0, "/");
  EXPECT_EQ(frame().folder.parent, "");
}

TEST_F(SessionRuns, LongWorkCanBeCancelledAndTheRunGoesOn) {
  viz::Command search;
  search.kind = Kind::run_to;
  search.a = 1;
  search.condition = {.kind = ConditionKind::token_equals, .a = 1 << 20, .x = 0.0};
  session_->apply(viz::Commands{search}, view_);
  EXPECT_TRUE(session_->working());
  send(Kind::cancel);
  EXPECT_FALSE(session_->working());
  EXPECT_EQ(frame().index, 0);
  send(Kind::last);
  EXPECT_NE(frame().step, nullptr);
}

TEST_F(SessionRuns, ChangesCostsAndDiffBelongToTheCursor) {
  run_to_the_end();
  send(Kind::first);
  EXPECT_EQ(frame().changes, nullptr);
  send(Kind::step_forward);
  ASSERT_NE(frame().changes, nullptr);
  EXPECT_EQ(frame().changes->after, frame().step->step);
  ASSERT_NE(frame().run_costs, nullptr);
  EXPECT_EQ(frame().run_costs->prefill.steps + frame().run_costs->decode.steps, 2);
  EXPECT_EQ(frame().diff, nullptr);
  send(Kind::diff_with, 4);
  ASSERT_NE(frame().diff, nullptr);
  EXPECT_EQ(frame().diff->before, frame().step->step + 3);
  send(Kind::last);
  EXPECT_EQ(frame().diff->after, frame().step->step);
  EXPECT_EQ(frame().run_costs->prefill.steps + frame().run_costs->decode.steps, frame().num_steps);
  send(Kind::diff_off);
  EXPECT_EQ(frame().diff, nullptr);
}

TEST_F(SessionRuns, MovesAtEveryGrainGoBackTheWayTheyCame) {
  run_to_the_end();
  for (const trace::Grain grain : {trace::Grain::step, trace::Grain::stage, trace::Grain::head,
                                   trace::Grain::tile, trace::Grain::cell}) {
    send(Kind::seek, 3);
    std::vector<viz::Selection> way;
    viz::Command move;
    move.kind = Kind::move;
    move.grain = grain;
    move.a = 1;
    send(move);  // from a place of this grain on
    for (int i = 0; i < 60; ++i) {
      const viz::Selection before = session_->selection();
      send(move);
      if (session_->selection() == before) break;  // the end of the recording
      way.push_back(before);
    }
    EXPECT_GT(way.size(), 10U);
    move.a = -1;
    for (; !way.empty(); way.pop_back()) {
      send(move);
      EXPECT_EQ(session_->selection(), way.back()) << static_cast<int>(grain) << " " << way.size();
      if (session_->selection() != way.back()) break;
    }
  }
}

TEST_F(SessionRuns, AMoveAtTheEndOfALiveRunRunsTheEngine) {
  viz::Command move;
  move.kind = Kind::move;
  move.grain = trace::Grain::step;
  move.a = 1;
  send(move);
  EXPECT_EQ(frame().num_steps, 2);
  EXPECT_EQ(frame().index, 1);
  move.grain = trace::Grain::stage;
  for (int i = 0; i < 200 && frame().num_steps < 3; ++i) send(move);
  EXPECT_EQ(frame().num_steps, 3);
  EXPECT_EQ(frame().index, 2);
}

}  // namespace
}  // namespace attn::app
