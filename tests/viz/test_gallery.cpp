// The gallery of lessons, by keyboard and mouse.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <functional>
#include <string>
#include <vector>

#include "headless.h"
#include "sample_frame.h"
#include "text_faults.h"

namespace attn::viz {
namespace {

using sample::Sample;

LessonCard card(int number, int seen) {
  return {.path = "/lessons/0" + std::to_string(number) + "-lesson.json",
          .number = std::to_string(number),
          .title = "Lesson " + std::to_string(number),
          .about = "What one learns in it",
          .stops = 4,
          .seen = seen,
          .tasks = 2,
          .done = seen == 4 ? 2 : 0};
}

TEST(Gallery, ChoosesByKeyboardAndMouseAndStartsAtTheFirstUnfinished) {
  Sample s = sample::prefill();
  for (int i = 1; i <= 6; ++i) s.frame.lessons.push_back(card(i, i == 1 ? 4 : 0));
  Headless screen(1600, 900);
  screen.chord(s.frame, {.key = 'L', .ctrl = true});
  EXPECT_EQ(screen.view.shell.overlay, Overlay::lessons);
  screen.draw(s.frame);
  EXPECT_EQ(screen.view.shell.chosen, 1) << "the first one is finished";
  screen.press(s.frame, ImGuiKey_RightArrow);
  EXPECT_EQ(screen.view.shell.chosen, 2);
  screen.press(s.frame, ImGuiKey_DownArrow);
  EXPECT_EQ(screen.view.shell.chosen, 2) << "there are four columns, and no seventh card";
  screen.press(s.frame, ImGuiKey_Enter);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::open_file);
  EXPECT_EQ(screen.commands[0].text, s.frame.lessons[2].path);
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);

  screen.chord(s.frame, {.key = 'L', .ctrl = true});
  screen.click(s.frame, "gallery/05-lesson");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].text, s.frame.lessons[4].path);
  screen.chord(s.frame, {.key = 'L', .ctrl = true});
  screen.click(s.frame, "gallery/free");
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);
}

TEST(Gallery, GoesOnWithTheLessonAndTheStopThatWereTheLast) {
  Sample s = sample::prefill();
  for (int i = 1; i <= 6; ++i) s.frame.lessons.push_back(card(i, 0));
  LessonCard& last = s.frame.lessons[3];
  last.seen = 3;
  last.at = 3;
  last.last = true;
  Headless screen(1600, 900);
  const auto opened = [&](const std::function<void()>& act) {
    screen.chord(s.frame, {.key = 'L', .ctrl = true});
    screen.draw(s.frame);
    act();
    return screen.commands.empty() ? std::string() : screen.commands[0].text;
  };
  EXPECT_EQ(opened([&] {
              EXPECT_EQ(screen.view.shell.chosen, 3) << "not the first one that is unfinished";
              screen.press(s.frame, ImGuiKey_Enter);
            }),
            last.path + "#stop=3");
  EXPECT_EQ(opened([&] { screen.click(s.frame, "gallery/from_start"); }), last.path);
  EXPECT_EQ(opened([&] { screen.click(s.frame, "gallery/04-lesson"); }), last.path + "#stop=3");
  last.seen = 4;
  last.done = last.tasks;
  EXPECT_EQ(opened([&] {
              EXPECT_EQ(screen.view.shell.chosen, 4) << "that one is finished: the next";
              EXPECT_FALSE(screen.marks.get("gallery/from_start"));
              screen.click(s.frame, "gallery/04-lesson");
            }),
            last.path)
      << "a finished one is told from its beginning";
}

TEST(Gallery, EveryCardIsReachedInASmallWindow) {
  Sample s = sample::prefill();
  for (int i = 1; i <= 9; ++i) s.frame.lessons.push_back(card(i, 0));
  Headless screen(640, 480);
  screen.chord(s.frame, {.key = 'L', .ctrl = true});
  screen.draw(s.frame);
  for (int i = 1; i < 9; ++i) screen.press(s.frame, ImGuiKey_RightArrow);
  for (int i = 0; i < 3; ++i) screen.draw(s.frame);
  EXPECT_TRUE(screen.marks.get("gallery/09-lesson")) << "the list follows the choice";
}

/// As long as the longest of the bundled ones, in every state that takes room from the words.
std::vector<LessonCard> wordy_cards() {
  std::vector<LessonCard> cards;
  for (int i = 1; i <= 12; ++i) {
    LessonCard one = card(i, i % 3 == 0 ? 4 : 0);
    one.title = "The mask hangs from the bottom right";
    one.about =
        "With a cached prefix the new keys go into the pool and come out of it again with all the others, "
        "before "
        "attention sees them.";
    one.at = one.seen = i == 4 ? 3 : one.seen;
    one.last = i == 4;
    cards.push_back(one);
  }
  return cards;
}

TEST(Gallery, NoWordOfACardIsCut) {
  Sample s = sample::prefill();
  s.frame.lessons = wordy_cards();
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    for (const float scale : {0.75F, 1.0F, 2.0F}) {
      Headless screen(1600, 900, scale);
      screen.view.mode = mode;
      screen.view.shell.open(Overlay::lessons);
      TextLog log;
      screen.view.text_log = &log;
      for (const WindowSize size : {WindowSize{1024, 640}, {1600, 900}, {3840, 2160}}) {
        SCOPED_TRACE(fmt::format("{}x{}, scale {}, mode {}", size.w, size.h, scale, static_cast<int>(mode)));
        screen.resize(size.w, size.h);
        for (int i = 0; i < 2; ++i) screen.draw(s.frame);
        int titles = 0;
        for (const TextLog::Entry& entry : log.entries) {
          if (entry.panel != "gallery") continue;
          titles += entry.text.starts_with("The mask") ? 1 : 0;
          EXPECT_FALSE(entry.shortened) << entry.text;
        }
        EXPECT_GT(titles, 0);
        for (const std::string& fault : faults_of(log)) {
          if (fault.find(" in gallery ") != std::string::npos) ADD_FAILURE() << fault;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attn::viz
