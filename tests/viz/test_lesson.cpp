// Lessons on screen: the strip and the caption, questions that hide numbers, and what a speaker puts over it
// all.
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>

#include "headless.h"
#include "sample_frame.h"
#include "viz/fonts.h"
#include "viz/layout/screen_layout.h"
#include "viz/mark_names.h"

namespace attn::viz {
namespace {

using sample::Sample;

LessonNow lesson_now() {
  LessonNow lesson;
  lesson.title = "Slots, blocks, tables";
  lesson.stop = 1;
  lesson.num_stops = 4;
  lesson.name = "where it lands";
  lesson.caption = "A's fifth token opens block 3: slot 12.";
  lesson.next = "after the shuffle";
  lesson.notes = "Ask who sees the gap.";
  lesson.task = ExerciseNow{.text = "Select block 3."};
  lesson.break_it = ExerciseNow{.text = "Forget one store."};
  lesson.rings = {"pool/block/3", "tables"};
  lesson.where = "03-slots.json:12";
  lesson.ready = true;
  return lesson;
}

bool asks(const Headless& screen, Command::Kind kind) {
  return std::any_of(screen.commands.begin(), screen.commands.end(),
                     [&](const Command& command) { return command.kind == kind; });
}

TEST(Lesson, TheStripTellsTheStopAndItsButtonsAskForWhatTheySay) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  screen.draw(s.frame);
  ASSERT_TRUE(screen.marks.get("lesson/caption"));
  EXPECT_EQ(screen.marks.get("lesson/caption")->value, s.frame.lesson->caption);
  EXPECT_FALSE(screen.marks.get("lesson/done"));
  EXPECT_TRUE(screen.marks.get("ring/pool/block/3"));
  EXPECT_TRUE(screen.marks.get("ring/tables")) << "a panel's name rings all of it";
  screen.click(s.frame, "lesson/next");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::next_stop);
  EXPECT_EQ(screen.commands[0].a, 1);
  screen.click(s.frame, "lesson/break");
  EXPECT_TRUE(asks(screen, Command::Kind::break_lesson));
  screen.chord(s.frame, {.key = keys::kPageUp});
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].a, -1);
  s.frame.lesson->task->done = true;
  s.frame.lesson->task->proof = "slot 12";
  screen.draw(s.frame);
  EXPECT_TRUE(screen.marks.get("lesson/done"));
  EXPECT_EQ(screen.marks.get("lesson/proof")->value, "slot 12");
}

TEST(Lesson, AQuestionHidesCaptionAndNumbersUntilSpace) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    Headless screen(1920, 1080);
    screen.view.mode = mode;
    s.frame.lesson->asking = true;
    s.frame.lesson->question = "Which slot?";
    screen.draw(s.frame);
    screen.draw(s.frame);
    EXPECT_EQ(screen.marks.get("lesson/question")->value, "Which slot?");
    EXPECT_FALSE(screen.marks.get("lesson/caption"));
    EXPECT_TRUE(screen.marks.get("numbers/hidden"));
    EXPECT_FALSE(screen.marks.get("numbers/m"));
    const std::string twin = describe_screen(s.frame, screen.selection);
    EXPECT_NE(twin.find("Which slot?"), std::string::npos) << twin;
    EXPECT_EQ(twin.find("slot_mapping"), std::string::npos) << "the text tells what is covered: " << twin;
    EXPECT_EQ(screen.marks.get("ring/pool/block/3")->value, "hidden until you have guessed");
    screen.press(s.frame, ImGuiKey_Space);
    ASSERT_EQ(screen.commands.size(), 1U);
    EXPECT_EQ(screen.commands[0].kind, Command::Kind::answer);
    s.frame.lesson->asking = false;
    screen.draw(s.frame);
    EXPECT_TRUE(screen.marks.get("numbers/m"));
    screen.press(s.frame, ImGuiKey_Space);
    EXPECT_TRUE(asks(screen, Command::Kind::toggle_play)) << "Space plays where nothing is asked";
  }
}

TEST(Lesson, WhatAQuestionCoversDoesNotAnswerTheMouse) {
  const auto tooltip_shown = [] {
    const ImVector<ImGuiWindow*>& windows = ImGui::GetCurrentContext()->Windows;
    return std::any_of(windows.begin(), windows.end(), [](const ImGuiWindow* window) {
      return (window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active;
    });
  };
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  s.frame.lesson->rings = {"pool", "weights"};
  s.frame.lesson->question = "Which slot?";
  for (const bool asking : {false, true}) {
    s.frame.lesson->asking = asking;
    Headless screen(1600, 900);
    screen.draw(s.frame);
    screen.hover(s.frame, "pool/block/3");
    EXPECT_NE(tooltip_shown(), asking);
    EXPECT_NE(screen.view.hover.block == 3, asking) << "nor does it light up elsewhere";
    screen.click(s.frame, "pool/block/3");
    EXPECT_NE(asks(screen, Command::Kind::select), asking);
    screen.click(s.frame, "timeline/step/4");
    EXPECT_FALSE(screen.commands.empty()) << "what is not covered answers";
  }
}

TEST(Lesson, ItsControlsStayInPlaceWhenTheBannerComes) {
  LayoutInput input{.width = 1600, .height = 900, .lesson = true};
  const Rect before = layout_screen(input)[PanelId::lesson];
  input.broken = true;
  const ScreenLayout broken = layout_screen(input);
  EXPECT_TRUE(broken.shows(PanelId::banner));
  EXPECT_EQ(broken[PanelId::lesson].y, before.y);
  EXPECT_EQ(broken[PanelId::lesson].h, before.h);
}

TEST(MarkNames, EveryMarkOfTheScreenHasAKnownName) {
  for (const Sample& sample : {sample::prefill(), sample::padded_decode(),
                               sample::compared(sample::measured(sample::padded_decode()))}) {
    for (int stage = 0; stage < kNumStageViews; ++stage) {
      Headless screen(1920, 1200);
      screen.view.stage = static_cast<StageView>(stage);
      screen.view.side = static_cast<SideView>(stage % kNumSideViews);
      screen.draw(sample.frame);
      screen.draw(sample.frame);
      for (const Mark& mark : screen.marks.all()) EXPECT_TRUE(is_mark_name(mark.name)) << mark.name;
    }
  }
  for (const char* name : {"mask/cell/1,4", "pool/slot/12", "pool/block/3", "weights/cell/0,1"})
    EXPECT_TRUE(is_mark_name(name)) << name;
  for (const char* name : {"wieghts", "strp/row/6", "weights/", "", "lesson//", "pol/maximise"})
    EXPECT_FALSE(is_mark_name(name)) << name;
}

TEST(Lesson, WhileBrokenTheCaptionIsSaidToBeOfBefore) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  s.frame.lesson->break_it->on = true;
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    for (const float width : {1920.0F, 900.0F}) {
      Headless screen(width, 720.0F);
      screen.view.mode = mode;
      screen.draw(s.frame);
      screen.draw(s.frame);
      EXPECT_FALSE(screen.marks.get("lesson/caption")) << "it does not hold now";
      ASSERT_TRUE(screen.marks.get("lesson/broken")) << width;
      EXPECT_EQ(screen.marks.get("lesson/broken")->value, "Forget one store.");
      if (width < 1000.0F) continue;
      ASSERT_TRUE(screen.marks.get("lesson/before"));
      EXPECT_EQ(screen.marks.get("lesson/before")->value, s.frame.lesson->caption);
    }
  }
}

TEST(Lesson, HandlesSendAndChoicesAskForWhatTheySay) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  s.frame.lesson->handles = {{"scores", {"0", "2", "-2"}, 0},
                             {"cached_len", {"0", "1", "2", "3", "4", "5"}, 2}};
  s.frame.lesson->outbox = Outbox{.labels = {"A", "B"}};
  s.frame.lesson->task.reset();
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    Headless screen(1920, 1080);
    screen.view.mode = mode;
    s.frame.lesson->asking = false;
    s.frame.lesson->outbox->sent = -1;
    screen.click(s.frame, "lesson/turn/scores/2");
    ASSERT_TRUE(asks(screen, Command::Kind::turn_handle));
    EXPECT_EQ(screen.commands[0].text, "scores");
    EXPECT_EQ(screen.commands[0].value, "2");
    screen.click(s.frame, "lesson/turn/scores/2");
    EXPECT_FALSE(asks(screen, Command::Kind::turn_handle)) << "the second half of a double click";
    screen.click(s.frame, "lesson/turn/scores/0");
    EXPECT_FALSE(asks(screen, Command::Kind::turn_handle)) << "it is in force";
    screen.click(s.frame, "lesson/turn/cached_len/more");
    ASSERT_TRUE(asks(screen, Command::Kind::turn_handle));
    EXPECT_EQ(screen.commands[0].value, "3");
    EXPECT_FALSE(screen.marks.get("lesson/send")) << "nothing is started over yet";
    screen.click(s.frame, "lesson/start_over");
    EXPECT_TRUE(asks(screen, Command::Kind::start_over));
    s.frame.lesson->outbox->sent = 1;
    screen.click(s.frame, "lesson/send");
    EXPECT_TRUE(asks(screen, Command::Kind::send_request));
    const Rect step = screen.marks.get("lesson/step")->rect, sending = screen.marks.get("lesson/send")->rect;
    s.frame.lesson->outbox->sent = 2;
    screen.click(s.frame, "lesson/send");
    EXPECT_FALSE(asks(screen, Command::Kind::send_request)) << "all are sent";
    EXPECT_FALSE(asks(screen, Command::Kind::step_forward)) << "a double click on it makes no step";
    EXPECT_EQ(screen.marks.get("lesson/step")->rect.x, step.x) << "each button keeps its place";
    EXPECT_EQ(screen.marks.get("lesson/send")->rect.w, sending.w);
    s.frame.lesson->asking = true;
    s.frame.lesson->choices = {"A", "B"};
    screen.draw(s.frame);
    screen.draw(s.frame);
    EXPECT_FALSE(screen.marks.get("lesson/turn/scores/2"));
    screen.click(s.frame, "lesson/choice/2");
    ASSERT_TRUE(asks(screen, Command::Kind::answer));
    EXPECT_EQ(screen.commands[0].a, 2);
  }
}

TEST(Lesson, ItsCaptionHasTwoLinesInLowWindowsToo) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  s.frame.lesson->handles = {{"scores", {"0", "2", "-2"}, 0}};
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    for (const float h : {450.0F, 520.0F, 600.0F, 700.0F, 739.0F}) {
      for (const float w : {1000.0F, 1280.0F, 1600.0F}) {
        Headless screen(w, h);
        screen.view.mode = mode;
        screen.draw(s.frame);
        screen.draw(s.frame);
        const auto caption = screen.marks.get("lesson/caption");
        ASSERT_TRUE(caption) << w << "x" << h;
        const FontRole role = mode == ScreenMode::present ? FontRole::title : FontRole::small;
        EXPECT_GE(caption->rect.h, 2.0F * line_step(role))
            << w << "x" << h << ", mode " << static_cast<int>(mode);
      }
    }
  }
}

TEST(Lesson, ASliderIsDragged) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  s.frame.lesson->handles = {{"cached_len", {"0", "1", "2", "3", "4", "5"}, 0}};
  Headless screen(1920, 1080);
  screen.draw(s.frame);
  screen.draw(s.frame);
  const auto track = screen.marks.get("lesson/turn/cached_len");
  ASSERT_TRUE(track);
  ImGuiIO& io = ImGui::GetIO();
  const float y = track->rect.y + track->rect.h * 0.5F;
  io.MousePos = {track->rect.x + 8.0F, y};
  screen.draw(s.frame);
  io.MouseDown[0] = true;
  screen.draw(s.frame);
  io.MousePos = {track->rect.right() - 8.0F, y};
  screen.draw(s.frame);
  ASSERT_TRUE(asks(screen, Command::Kind::turn_handle));
  EXPECT_EQ(screen.commands.back().value, "5");
  io.MouseDown[0] = false;
  screen.draw(s.frame);
  screen.draw(s.frame);
  EXPECT_FALSE(asks(screen, Command::Kind::turn_handle)) << "it was let go";
}

TEST(Lesson, OfSeveralTasksTheProofOfTheLastStandsBesideTheNext) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  s.frame.lesson->num_tasks = 3;
  s.frame.lesson->tasks_done = 1;
  s.frame.lesson->task_proof = "stolen = 0.667";
  Headless screen(1600, 900);
  screen.draw(s.frame);
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "lesson/task"), "Select block 3.");
  EXPECT_NE(value_of(screen, "lesson/proof").find("stolen = 0.667"), std::string::npos);
}

TEST(Lesson, NumbersOfWhatIsBrokenAreDrawnHoweverLittleRoomThereIs) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  s.frame.lesson->break_it = ExerciseNow{
      .text = "Forget one store, so that a later query reads whatever lay in its slot; the text is long.",
      .on = true,
      .proof = "slots of A: [-1]  \xC2\xB7  poison events: 1"};
  for (const WindowSize& size : kWindowSizes) {
    for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
      Headless screen(size.w, size.h);
      screen.view.mode = mode;
      screen.draw(s.frame);
      screen.draw(s.frame);
      if (!screen.marks.get("lesson/broken")) continue;
      EXPECT_EQ(value_of(screen, "lesson/proof"), s.frame.lesson->break_it->proof)
          << size.w << " x " << size.h;
    }
  }
}

TEST(Lesson, NothingOfItIsDrawnWithoutALesson) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  for (const Mark& mark : screen.marks.all()) EXPECT_FALSE(mark.name.starts_with("lesson")) << mark.name;
}

TEST(Teaching, BlankIsForPresentAndABreakPointElsewhere) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  Headless screen(1600, 900);
  screen.selection.block = 2;
  screen.type(s.frame, "b");
  EXPECT_TRUE(asks(screen, Command::Kind::add_breakpoint));
  screen.view.mode = ScreenMode::present;
  screen.type(s.frame, "b");
  screen.draw(s.frame);
  ASSERT_TRUE(screen.marks.get("teach/blank"));
  EXPECT_TRUE(screen.marks.get("lesson/caption")) << "what is said stays";
  EXPECT_FALSE(screen.marks.get("ring/tables"));
  screen.press(s.frame, ImGuiKey_Escape);
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("teach/blank"));
}

TEST(Teaching, ThePenDrawsAndPointsAtNothingUntilTheStepChanges) {
  Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  screen.type(s.frame, "i");
  screen.click(s.frame, "pool/block/2");
  EXPECT_TRUE(screen.commands.empty()) << "no panel sees the mouse";
  ASSERT_EQ(screen.view.teach.strokes.size(), 1U);
  screen.selection.step += 1;
  screen.draw(s.frame);
  EXPECT_TRUE(screen.view.teach.strokes.empty());
  screen.type(s.frame, "i");
  screen.click(s.frame, "pool/block/2");
  EXPECT_FALSE(screen.commands.empty());
}

TEST(Teaching, PresentHasAClockButPicturesDoNot) {
  const Sample s = sample::prefill();
  Headless screen(1920, 1080);
  screen.view.teach.clock = "14:03   0:12:00 since the start";
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.find("header/time")) << "in explore nobody needs one";
  screen.view.mode = ScreenMode::present;
  screen.draw(s.frame);
  ASSERT_TRUE(screen.marks.find("header/time"));
  EXPECT_EQ(screen.marks.find("header/time")->value, "14:03");
  screen.view.picture.still = true;
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.find("header/time"));
}

TEST(Teaching, NotesHaveTheNextStopAndTheClock) {
  Sample s = sample::prefill();
  s.frame.lesson = lesson_now();
  Headless screen(1600, 900);
  screen.view.teach.clock = "14:03";
  screen.type(s.frame, "n");
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("notes/text")->value, "Ask who sees the gap.");
  EXPECT_EQ(screen.marks.get("notes/next")->value, "after the shuffle");
  EXPECT_EQ(screen.marks.get("notes/clock")->value, "14:03");
  TextLog log;
  screen.view.text_log = &log;
  screen.view.teach.clock = "14:03    1:02:03 in all    1:01:52 at this stop";
  screen.draw(s.frame);
  EXPECT_TRUE(std::ranges::any_of(log.entries, [&](const TextLog::Entry& entry) {
    return entry.text == screen.view.teach.clock && !entry.shortened;
  })) << "all of it";
  screen.view.text_log = nullptr;
  screen.view.teach.notes_elsewhere = true;
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("notes/text")) << "they are in a window of their own";
}

}  // namespace
}  // namespace attn::viz
