// A scenario that is open in the window and written again: what changes on screen, and what stays.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "app/file_watch.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::User;

constexpr const char* kRun = R"({
  "version": 1, "name": "Mine", "seed": 7,
  "engine": {"block_size": 4, "num_blocks": 16, "k_tile": 4},
  "requests": [{"id": "A", "prompt_tokens": 4, "max_tokens": 6}])";

std::string lesson_with(const std::string& stops) {
  return std::string(kRun) + ", \"film\": [" + stops + "]}";
}

class Reload : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("mine.json"); }
  void write(const std::string& text) { testing::write_file(path(), text); }
  /// A moment later the window has seen what was written.
  void rewrite(User& user, const std::string& text) {
    user.send(viz::Command::Kind::cancel);  // the status says nothing of before
    const std::string before = user.frame().status;
    write(text);
    for (int i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(10ms);
      user.settle();
      if (user.frame().status != before && !user.frame().work.active()) break;
    }
    user.settle();
  }
  std::unique_ptr<User> open() {
    auto user = std::make_unique<User>(open_subject(path(), DeviceChoice::simt));
    user->session().tell_scripts({});
    user->session().watch_file(5ms);
    user->settle();
    return user;
  }
  void step(User& user, int times) {
    for (int i = 0; i < times; ++i) user.press({.key = viz::keys::kRight, .shift = true});
    user.settle();
  }
  const testing::TemporaryFolder folder_;
};

TEST_F(Reload, ANewEngineRunsUpToWhereOneStood) {
  write(std::string(kRun) + "}");
  auto user = open();
  for (int i = 0; i < 3; ++i) step(*user, 1);
  ASSERT_EQ(user->frame().index, 3);
  std::string text = std::string(kRun) + "}";
  text.replace(text.find("\"k_tile\": 4"), 11, "\"k_tile\": 8");
  rewrite(*user, text);
  EXPECT_EQ(user->frame().manifest->config.k_tile, 8);
  EXPECT_EQ(user->frame().index, 3);
  EXPECT_EQ(user->frame().status, "read again: mine.json");
}

TEST_F(Reload, AMistakeIsSaidWithItsLineAndTheRunStays) {
  write(std::string(kRun) + "}");
  auto user = open();
  step(*user, 1);
  const trace::Store* store = &user->session().store();
  rewrite(*user, std::string(kRun) + ",\n\"max_stpes\": 3}");
  EXPECT_EQ(&user->session().store(), store);
  EXPECT_EQ(user->frame().index, 1);
  EXPECT_NE(user->frame().status.find("'max_stpes'"), std::string::npos) << user->frame().status;
  EXPECT_NE(user->frame().status.find("mine.json:5"), std::string::npos) << user->frame().status;
  step(*user, 1);
  EXPECT_NE(user->frame().status.find("mine.json:5"), std::string::npos) << "said until it is mended";
  rewrite(*user, std::string(kRun) + ", \"max_steps\": 2}");
  EXPECT_EQ(user->frame().num_steps, 2);
  EXPECT_EQ(user->frame().index, 1) << "the step that was looked at is gone";
  EXPECT_EQ(user->frame().status, "read again: mine.json");
}

TEST_F(Reload, ALessonStaysAtItsStopAndTheCursorWhereItIs) {
  const std::string one = R"({"stop": "one", "caption": "First."})";
  write(lesson_with(one + R"(, {"stop": "two", "goto": {"step": 2}, "caption": "Second."})"));
  auto user = open();
  user->press({.key = viz::keys::kPageDown});
  user->settle();
  ASSERT_EQ(user->frame().lesson->name, "two");
  step(*user, 1);
  user->view.stage = viz::StageView::heads;
  user->settle();
  ASSERT_EQ(user->frame().step->step, 3);

  rewrite(*user, lesson_with(R"({"stop": "zero", "caption": "Before."}, )" + one +
                             R"(, {"stop": "two", "goto": {"step": 2}, "caption": "Second, {kind}."})"));
  EXPECT_EQ(user->frame().lesson->name, "two");
  EXPECT_EQ(user->frame().lesson->stop, 2);
  EXPECT_EQ(user->frame().lesson->caption, "Second, decode.");
  EXPECT_EQ(user->frame().step->step, 3) << "the cursor stays";
  EXPECT_EQ(user->view.stage, viz::StageView::heads) << "and so does the view";

  rewrite(*user, lesson_with(one + R"(, {"stop": "two", "goto": {"step": 4}, "caption": "Second."})"));
  EXPECT_EQ(user->frame().step->step, 4) << "the file says another place of this stop";

  rewrite(*user, lesson_with(one));
  EXPECT_EQ(user->frame().lesson->name, "one") << "the stop is gone";

  rewrite(*user, std::string(kRun) + "}");
  EXPECT_FALSE(user->frame().lesson) << "no stops any more";
  rewrite(*user, lesson_with(one));
  ASSERT_TRUE(user->frame().lesson);
  EXPECT_EQ(user->frame().lesson->caption, "First.");
}

TEST_F(Reload, ALessonWhoseRunChangesKeepsTheCursorToo) {
  const std::string stops = R"({"stop": "one", "caption": "First."})";
  write(lesson_with(stops));
  auto user = open();
  for (int i = 0; i < 3; ++i) step(*user, 1);
  ASSERT_EQ(user->frame().step->step, 4);
  std::string text = lesson_with(stops);
  text.replace(text.find("\"k_tile\": 4"), 11, "\"k_tile\": 8");
  rewrite(*user, text);
  EXPECT_EQ(user->frame().manifest->config.k_tile, 8);
  EXPECT_EQ(user->frame().step->step, 4);
  ASSERT_TRUE(user->frame().lesson);
  EXPECT_TRUE(user->frame().lesson->ready);
}

TEST(FileWatch, TellsOfAChangeOnceAndIsPatientWithAMissingFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("x.json");
  testing::write_file(path, "a");
  std::atomic<int> calls = 0;
  FileWatch watch(path, 2ms, [&] { ++calls; });
  const auto changed_soon = [&] {
    for (int i = 0; i < 500; ++i) {
      if (watch.take_change()) return true;
      std::this_thread::sleep_for(2ms);
    }
    return false;
  };
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(watch.take_change());
  testing::write_file(path, "ab");
  EXPECT_TRUE(changed_soon());
  EXPECT_FALSE(watch.take_change());
  fs::remove(path);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(watch.take_change());
  testing::write_file(path, "abc");
  EXPECT_TRUE(changed_soon());
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace attn::app
