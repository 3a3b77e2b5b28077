// The session behind the window: cursor, live engine, prompts added while it runs; it never waits.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "app/opening.h"
#include "app/session.h"
#include "core/trace/state_hash.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"

namespace attn::app {
namespace {

using Kind = viz::Command::Kind;

viz::Command command(Kind kind, int a = 0) {
  viz::Command out;
  out.kind = kind;
  out.a = a;
  return out;
}

class LiveSession : public ::testing::Test {
 protected:
  explicit LiveSession(const std::vector<std::string>& sets = {})
      : session_(std::make_unique<Session>(testing::scenario_subject(sets), DeviceChoice::simt,
                                           [this] { ++wakes_; })) {}
  void send(const viz::Command& one) {
    session_->apply(viz::Commands{one}, view_);
    session_->wait_idle();
  }
  void run_to_the_end() {
    while (session_->frame().engine_has_work) send(command(Kind::step_forward));
  }

  std::atomic<int> wakes_ = 0;
  viz::ViewState view_;
  std::unique_ptr<Session> session_;
};

TEST_F(LiveSession, StartsWithTheFirstStepDone) {
  session_->wait_idle();
  const viz::Frame& frame = session_->frame();
  ASSERT_NE(frame.step, nullptr);
  EXPECT_EQ(frame.num_steps, 1);
  EXPECT_EQ(frame.step->kind, trace::StepKind::prefill);
  EXPECT_EQ(frame.previous, nullptr);
  ASSERT_NE(frame.attention, nullptr) << frame.attention_note;
  EXPECT_EQ(frame.attention->step, frame.step->step);
  EXPECT_TRUE(frame.live);
  EXPECT_FALSE(frame.engine_busy);
  EXPECT_GT(wakes_, 0) << "the window is told that there is something to draw";
  const DeviceTraits& traits = session_->frame().traits;
  EXPECT_TRUE(traits.tensor_cores) << "known from the device that answered";
  EXPECT_FALSE(traits.wgmma) << "the emulator has none: level 4 is not offered";
}

TEST_F(LiveSession, TwoPromptsArePrefilledTogetherAndTheThirdSharesTheirBlocks) {
  session_->wait_idle();
  EXPECT_EQ(session_->frame().step->num_scheduled, 2);
  send(command(Kind::step_forward));
  const trace::StepRecord& second = *session_->frame().step;
  EXPECT_EQ(second.kind, trace::StepKind::prefill);
  ASSERT_EQ(second.num_scheduled, 1);
  EXPECT_GE(second.seqs[0].num_cached_tokens, 2 * second.config.block_size)
      << "several full blocks are shared";
}

TEST_F(LiveSession, EveryStepBackIsTheStepThatWas) {
  session_->wait_idle();
  std::vector<std::uint64_t> hashes{session_->frame().step->state_hash};
  while (session_->frame().engine_has_work) {
    send(command(Kind::step_forward));
    hashes.push_back(session_->frame().step->state_hash);
  }
  EXPECT_GT(hashes.size(), 10U);
  for (int i = static_cast<int>(hashes.size()) - 1; i >= 0; --i) {
    const trace::StepRecord& record = *session_->frame().step;
    EXPECT_EQ(trace::state_hash(record), hashes[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(session_->frame().index, i);
    send(command(Kind::step_back));
  }
  EXPECT_EQ(session_->frame().index, 0) << "a step back at the beginning stays there";
  send(command(Kind::last));
  EXPECT_EQ(session_->frame().index, static_cast<int>(hashes.size()) - 1);
  send(command(Kind::step_forward));
  EXPECT_EQ(session_->frame().num_steps, static_cast<int>(hashes.size())) << "nothing is left to run";
  send(command(Kind::first));
  send(command(Kind::seek, 5));
  EXPECT_EQ(session_->frame().index, 5);
  EXPECT_EQ(session_->frame().step->state_hash, hashes[5]);
}

TEST_F(LiveSession, APromptTypedAfterTheEndIsPrefilledAtOnce) {
  session_->wait_idle();
  run_to_the_end();
  const int before = session_->frame().num_steps;
  viz::Command add = command(Kind::add_prompt, 4);
  add.text = "JULIET:\nO";
  send(add);
  const viz::Frame& frame = session_->frame();
  EXPECT_EQ(frame.num_steps, before + 1);
  EXPECT_EQ(frame.index, before) << "the cursor shows it";
  EXPECT_EQ(frame.step->kind, trace::StepKind::prefill);
  EXPECT_EQ(frame.step->seqs[0].id, 3);
  EXPECT_EQ(frame.manifest->request_labels.at(3), "JULIET: O");
  run_to_the_end();
  EXPECT_EQ(session_->frame().num_steps, before + 4) << "max_tokens is 4";
}

TEST_F(LiveSession, LookingBackIsNotDisturbedByNewSteps) {
  session_->wait_idle();
  send(command(Kind::step_forward));
  send(command(Kind::first));
  session_->apply(viz::Commands{command(Kind::last), command(Kind::step_forward), command(Kind::first)},
                  view_);
  session_->wait_idle();
  EXPECT_EQ(session_->frame().num_steps, 3);
  EXPECT_EQ(session_->frame().index, 0);
}

TEST_F(LiveSession, PlayRunsToTheEndAndStops) {
  session_->wait_idle();
  session_->apply(viz::Commands{command(Kind::toggle_play)}, view_);
  EXPECT_TRUE(view_.playing);
  auto now = Session::Clock::time_point{} + std::chrono::hours(1);
  session_->tick(view_, now);
  session_->wait_idle();
  const int after_one = session_->frame().num_steps;
  EXPECT_EQ(after_one, 2) << "the first press acts at once";
  session_->tick(view_, now + Session::kStepTime / 2);
  session_->wait_idle();
  EXPECT_EQ(session_->frame().num_steps, after_one) << "half a pace later nothing moves";
  for (int i = 0; i < 200 && view_.playing; ++i) {
    now += Session::kStepTime;
    session_->tick(view_, now);
    session_->wait_idle();
  }
  EXPECT_FALSE(view_.playing);
  EXPECT_FALSE(session_->frame().engine_has_work);
}

TEST_F(LiveSession, PlayingGoesRoundALoopAtEveryGrain) {
  session_->wait_idle();
  session_->run_to_step(5);
  session_->wait_idle();
  auto now = Session::Clock::time_point{} + std::chrono::hours(1);
  const auto played = [&](int moves) {
    std::vector<int> steps;
    for (int i = 0; i < moves; ++i) {
      session_->tick(view_, now += Session::kStepTime);
      session_->wait_idle();
      steps.push_back(session_->frame().index);
    }
    return steps;
  };
  view_.loop = {1, 3};
  session_->apply(viz::Commands{command(Kind::last), command(Kind::toggle_play)}, view_);
  EXPECT_EQ(played(7), (std::vector<int>{1, 2, 3, 1, 2, 3, 1})) << "from outside it begins at its beginning";
  view_.loop = {3, 5};  // the last of them is yet to be computed
  EXPECT_EQ(session_->frame().num_steps, 5);
  EXPECT_EQ(played(5), (std::vector<int>{3, 4, 5, 3, 4}));
  EXPECT_EQ(session_->frame().num_steps, 6) << "and no step behind the loop";

  view_.loop = {2, 2};
  view_.grain = trace::Grain::stage;
  std::vector<trace::Stage> stages;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(played(1).front(), 2);
    stages.push_back(session_->selection().stage);
    if (i > 0 && stages.back() == trace::Stage::schedule) break;
  }
  EXPECT_EQ(stages.front(), trace::Stage::schedule);
  EXPECT_EQ(stages.back(), trace::Stage::schedule) << "round again";
  EXPECT_GT(stages.size(), 8U);
  view_.loop = {};
  view_.grain = trace::Grain::step;
  EXPECT_EQ(played(2), (std::vector<int>{3, 4})) << "without one it goes on";
}

TEST_F(LiveSession, SelectionIsKeptInRange) {
  session_->wait_idle();
  viz::Command select = command(Kind::select);
  select.selection.layer = 99;
  select.selection.head = -3;
  select.selection.step = 99;
  send(select);
  EXPECT_EQ(session_->selection().layer, 3);
  EXPECT_EQ(session_->selection().head, 0);
  EXPECT_EQ(session_->selection().step, 0);
  EXPECT_EQ(session_->frame().attention->layer, 3);
}

class BusySession : public LiveSession {
 protected:
  BusySession()
      : LiveSession({"requests=[{\"prompt_tokens\": 160, \"max_tokens\": 2}]", "engine.num_blocks=80",
                     "engine.max_num_batched_tokens=512"}) {}
};

TEST_F(BusySession, FramesComeWhileTheEngineComputes) {
  int frames_while_busy = 0;
  while (session_->frame().num_steps == 0) {
    if (session_->frame().engine_busy) ++frames_while_busy;
  }
  EXPECT_GT(frames_while_busy, 1);
}

TEST(Session, AModelThatCannotBeLoadedIsAnError) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.file("s.json"), R"({"model": ".", "requests": [{"prompt": "O"}]})");
  Session session(open_subject(folder.file("s.json"), DeviceChoice::simt), DeviceChoice::simt, [] {});
  session.wait_idle();
  EXPECT_THROW(session.frame(), InputError);
}

TEST(Session, ARequestThatIsRejectedIsSaidAndTheSessionLives) {
  Session session(testing::scenario_subject({"engine.num_blocks=1"}), DeviceChoice::simt, [] {});
  session.wait_idle();
  EXPECT_EQ(session.frame().step->rejected.size(), 3U);
  EXPECT_FALSE(session.frame().engine_has_work);
}

TEST(Session, AWindowsRunCanBeRecordedWithItsTypedPrompts) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("w.attn");
  int steps = 0;
  {
    Session session(
        testing::scenario_subject(), DeviceChoice::simt, [] {}, path);
    viz::ViewState view;
    viz::Command add = command(Kind::add_prompt, 2);
    add.text = "mine";
    session.apply(viz::Commands{add}, view);
    session.wait_idle();
    steps = session.frame().num_steps;
  }
  const Subject recorded = open_subject(path, DeviceChoice::simt);
  EXPECT_EQ(recorded.store->num_steps(), steps);
  EXPECT_EQ(recorded.store->manifest().request_labels.back(), "mine");
  Session replay(recorded, DeviceChoice::simt, [] {});
  replay.wait_idle();
  EXPECT_FALSE(replay.frame().live);
  EXPECT_EQ(replay.frame().index, 0);
  EXPECT_NE(replay.frame().attention, nullptr) << replay.frame().attention_note;
}

TEST(Session, ALinkRunsALiveScenarioUpToItsStep) {
  const Subject subject =
      open_subject(testing::default_scenario().string() + "#step=4&layer=2&head=5", DeviceChoice::simt);
  Session session(subject, DeviceChoice::simt, [] {});
  go_to_link(session, subject.link);
  EXPECT_EQ(session.frame().step->step, 4);
  EXPECT_EQ(session.selection().layer, 2);
  EXPECT_EQ(session.selection().head, 5);
  EXPECT_EQ(session.frame().attention->layer, 2);
}

TEST(Link, NamesAStageOfTheStep) {
  const Link link = parse_link("a.attn#step=2&stage=store_kvcache&layer=1");
  EXPECT_EQ(link.step, 2);
  EXPECT_EQ(link.stage, trace::Stage::store_kvcache);
  EXPECT_EQ(link.layer, 1);
  EXPECT_FALSE(parse_link("a.attn#step=2").stage.has_value());
  EXPECT_THROW(parse_link("a.attn#stage=stor"), InputError);
  EXPECT_THROW(parse_link("a.attn#stage=sample&stage=sample"), InputError);
}

}  // namespace
}  // namespace attn::app
