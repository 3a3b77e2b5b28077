// A step that takes long: how far it is can be seen, it can be cancelled, and one can leave in the middle of
// it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "app/session.h"
#include "core/trace/state_hash.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = viz::Command::Kind;
using std::chrono::milliseconds;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr milliseconds kSoon{5000};  // a thread block of the emulator takes many times as long
constexpr int kPromptTokens = 150;
#else
constexpr milliseconds kSoon{500};
constexpr int kPromptTokens = 500;
#endif
constexpr int kPrompts = 6;

std::string long_prompts(const std::string& more) {
  std::string requests;
  for (int i = 0; i < kPrompts; ++i)
    requests += fmt::format("{}{{\"prompt_tokens\": {}, \"max_tokens\": 2{}}}", i == 0 ? "" : ", ",
                            kPromptTokens, more);
  return requests;
}

Subject subject_of(const std::string& requests) {
  return testing::scenario_subject({"requests=[" + requests + "]", "engine.num_blocks=250",
                                    "engine.block_size=16", "engine.max_num_batched_tokens=3000"});
}

/// The first step prefills so many tokens at once that the emulator needs seconds.
Subject long_step() { return subject_of(long_prompts("")); }

const std::string kLongPrefill = fmt::format("prefill of {} tokens: layer ", kPrompts* kPromptTokens);

class SessionStop : public ::testing::Test {
 protected:
  SessionStop() { open(long_step()); }
  void open(Subject subject) {
    begin_ = Clock::now();
    session_ = std::make_unique<Session>(std::move(subject), DeviceChoice::simt, [] {});
  }
  void send(Kind kind, int a = 0) { session_->apply(viz::Commands{testing::command_of(kind, a)}, view_); }
  const viz::Frame& frame() { return session_->frame(); }
  /// Draws as a window does until that can be seen; false when it never is.
  bool see(const std::function<bool(const viz::Frame&)>& what) {
    while (Clock::now() - begin_ < std::chrono::seconds(120)) {
      session_->tick(view_, Clock::now());
      if (what(frame())) return true;
      std::this_thread::sleep_for(milliseconds(2));
    }
    return false;
  }
  bool see_work(const std::string& part) {
    return see([&](const viz::Frame& now) { return now.work.text.find(part) != std::string::npos; });
  }
  Clock::duration since(Clock::time_point begin) { return Clock::now() - begin; }

  Clock::time_point begin_;
  viz::ViewState view_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionStop, AStepThatTakesLongSaysWhatItIsAtAndHowMuchIsDone) {
  ASSERT_TRUE(see_work(kLongPrefill + "1 of 4, "));
  EXPECT_GE(since(begin_), milliseconds(300)) << "what is short does not flicker";
  EXPECT_TRUE(frame().work.can_cancel);
  EXPECT_TRUE(session_->working()) << "the window draws on";
  const float done = frame().work.fraction;
  EXPECT_GE(done, 0.0F);
  ASSERT_TRUE(see_work("layer 2 of 4, attention"));
  EXPECT_GT(frame().work.fraction, done);
  EXPECT_LT(frame().work.fraction, 0.6F);
  EXPECT_EQ(frame().num_steps, 0);
}

TEST_F(SessionStop, AStepIsCancelledInTheMiddleOfALaunchAndComputedAnewWhenAskedFor) {
  ASSERT_TRUE(see_work("attention"));
  const Clock::time_point asked = Clock::now();
  send(Kind::cancel);
  ASSERT_TRUE(see([](const viz::Frame& now) { return !now.engine_busy; }));
  EXPECT_LT(since(asked), kSoon);
  EXPECT_EQ(frame().num_steps, 0) << "nothing of it is recorded";
  EXPECT_TRUE(frame().engine_has_work);
  EXPECT_FALSE(frame().work.active());
  EXPECT_FALSE(frame().status_is_error);
  EXPECT_NE(frame().status.find("was cancelled"), std::string::npos) << frame().status;
  send(Kind::step_forward);
  session_->wait_idle();
  ASSERT_EQ(frame().num_steps, 1) << "one was asked for";
  EXPECT_EQ(frame().status.find("was cancelled"), std::string::npos);
  const std::uint64_t hash = trace::state_hash(*frame().step);
  open(long_step());
  session_->wait_idle();
  EXPECT_EQ(trace::state_hash(*frame().step), hash);
}

TEST_F(SessionStop, CancellingASearchCancelsTheStepThatItWaitsFor) {
  open(subject_of("{\"prompt_tokens\": 8, \"max_tokens\": 2}, " + long_prompts(", \"at_step\": 1")));
  session_->wait_idle();
  ASSERT_EQ(frame().num_steps, 1);
  viz::Command search = testing::command_of(Kind::run_to, 1);
  search.condition = {.kind = trace::ConditionKind::preemption, .a = -1, .x = 0.0};
  session_->apply(viz::Commands{search}, view_);
  ASSERT_TRUE(see_work("looking for: a sequence is preempted (" + kLongPrefill));
  const Clock::time_point asked = Clock::now();
  send(Kind::cancel);
  ASSERT_TRUE(see([&](const viz::Frame&) { return !session_->working(); }));
  EXPECT_LT(since(asked), kSoon);
  EXPECT_EQ(frame().num_steps, 1);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(frame().engine_busy) << "the search asks for no more steps";
}

TEST_F(SessionStop, OneLeavesAtOnceInTheMiddleOfAStep) {
  ASSERT_TRUE(see_work("attention"));
  const Clock::time_point asked = Clock::now();
  session_.reset();
  EXPECT_LT(since(asked), kSoon);
}

TEST_F(SessionStop, OneLeavesAtOnceWhateverRunsBesideTheWindow) {
  open(testing::scenario_subject({}));
  session_->wait_idle();
  const testing::TemporaryFolder folder;
  nlohmann::json scenario = nlohmann::json::parse(long_step().scenario.json);
  scenario["model"] = testing::model_dir().string();
  testing::write_file(folder.file("long.json"), scenario.dump());
  viz::Command other = testing::command_of(Kind::open_file, 0, folder.file("long.json"));
  session_->apply(viz::Commands{other}, view_);
  ASSERT_TRUE(see_work("attention"));
  const Clock::time_point asked = Clock::now();
  session_.reset();
  EXPECT_LT(since(asked), kSoon);
}

}  // namespace
}  // namespace attn::app
