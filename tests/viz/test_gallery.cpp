// The gallery of lessons, by keyboard and mouse.
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <functional>
#include <string>

#include "headless.h"
#include "sample_frame.h"

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

}  // namespace
}  // namespace attn::viz
