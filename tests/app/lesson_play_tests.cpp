// Every bundled lesson, played through in the window: questions cover their answers, tasks can be done with
// one's own hands, what breaks breaks and is mended.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/lesson.h"
#include "app/lessons.h"
#include "core/engine/switches.h"
#include "tests/app/program.h"
#include "tests/app/user.h"
#include "viz/layout/panel_names.h"
#include "viz/layout/panel_place.h"
#include "viz/widgets/text_log.h"

namespace attn::app {
namespace {

using testing::User;
using Kind = viz::Command::Kind;

class PlayedLesson : public ::testing::TestWithParam<int> {
 protected:
  std::string path() const {
    for (const LessonFile& lesson : lesson_files()) {
      if (lesson.number == GetParam()) return lesson.path.string();
    }
    return {};
  }

  /// A view of another tab is covered once one turns to it.
  static void expect_covered(User& user, const std::string& name) {
    const viz::PanelId id = viz::panel_named(name);
    const viz::StageView stage = std::exchange(user.view.stage, viz::stage_that_shows(id, user.view.stage));
    const viz::SideView side = std::exchange(user.view.side, viz::side_that_shows(id, user.view.side));
    user.draw();
    user.draw();
    EXPECT_TRUE(user.marks().get("ring/" + name)) << name << " is not on screen to be covered";
    user.view.stage = stage;
    user.view.side = side;
    user.draw();
  }

  /// Where there are choices the right one is clicked, as facts of the run say which that is.
  void answer(User& user, const Stop& stop) {
    if (stop.predict.empty()) return;
    ASSERT_TRUE(user.frame().lesson->asking);
    for (const std::string& name : stop.hide) expect_covered(user, name);
    EXPECT_FALSE(user.marks().get("lesson/task")) << "a task would give the answer away";
    if (stop.choices.empty()) {
      user.press({.key = viz::keys::kSpace});
    } else {
      const int right = user.frame().lesson->right;
      ASSERT_GE(right, 0) << "none of the choices is right";
      user.click(fmt::format("lesson/choice/{}", right + 1));
    }
    user.settle();
    EXPECT_FALSE(user.frame().lesson->asking);
    EXPECT_EQ(user.marks().get("lesson/verdict").has_value(), !stop.choices.empty());
  }

  /// The stop's control for something, by its own buttons; false when it has none.
  bool turn(User& user, const Stop& stop, const std::string& engine_switch, const std::string& value) {
    for (const Control& control : stop.controls) {
      const bool of_switch = !engine_switch.empty() && control.engine_switch == engine_switch;
      const std::vector<std::string>& values = of_switch ? control.values : control.runs;
      if (!of_switch && (!engine_switch.empty() || control.runs.empty())) continue;
      const auto found = std::ranges::find(values, value.empty() ? std::string(kMainRun) : value);
      if (found == values.end()) continue;
      turn_to(user, control, static_cast<int>(found - values.begin()));
      return true;
    }
    return false;
  }

  void turn_to(User& user, const Control& control, int to) {
    const std::string name = "lesson/turn/" + control.name;
    if (user.marks().get(name + "/more")) {  // a slider
      for (int i = 0; i < 20 && user.frame().lesson->handles[0].at != to; ++i)
        user.click(name + (user.frame().lesson->handles[0].at < to ? "/more" : "/less"));
    } else {
      user.click(name + "/" + control.labels[static_cast<std::size_t>(to)]);
    }
    user.settle();
  }

  /// "Start over", then each request after so many steps.
  void send(User& user, const std::vector<SentRequest>& sent) {
    user.click("lesson/start_over");
    user.settle();
    int steps = 0;
    for (const auto& [label, after] : sent) {
      for (; steps < after; ++steps) user.click("lesson/step");
      user.click("lesson/send");
    }
    user.click("lesson/step");
    user.settle();
  }

  void go_to(User& user, const Place& place) {
    if (place.step) {
      user.session().run_to_step(*place.step + 1);
      user.settle();
    }
    viz::Command select = testing::command_of(Kind::select);
    viz::Selection& to = select.selection;
    to = user.session().selection();
    const int first = user.session().store().step(0)->step;
    to.step = place.step ? *place.step - first : to.step;
    to.stage = place.stage.value_or(to.stage);
    to.layer = place.layer.value_or(to.layer);
    to.head = place.head.value_or(to.head);
    to.tile = place.tile.value_or(to.tile);
    to.seq = place.seq.value_or(to.seq);
    to.q_row = place.row.value_or(to.q_row);
    to.k_col = place.col.value_or(to.k_col);
    to.block = place.block.value_or(to.block);
    user.send(select);
  }

  void compare(User& user, const Stop& stop, const std::pair<trace::Variant, trace::Variant>& sides) {
    for (const Control& control : stop.controls) {
      const auto found = std::ranges::find(control.compare, sides);
      if (found != control.compare.end())
        return turn_to(user, control, static_cast<int>(found - control.compare.begin()));
    }
    viz::Command command = testing::command_of(Kind::compare);
    std::tie(command.variant_a, command.variant_b) = sides;
    user.send(command);
  }

  /// What the task asks for, with the lesson's own handles where it has them.
  void do_task(User& user, const Stop& stop, const Exercise& task) {
    if (!task.sent.empty()) send(user, task.sent);
    if (task.asks_run) {
      EXPECT_TRUE(turn(user, stop, "", task.run)) << "no handle for the run " << task.run;
    }
    for (const auto& [name, value] : task.switches) {
      if (switch_value(user.frame().manifest->config, name) == value) continue;
      if (!turn(user, stop, name, value)) user.send(Kind::set_switch, 0, name, value);
    }
    if (task.true_memory && user.view.attention.true_memory != *task.true_memory)
      user.click("strip/true_memory");
    for (const Place& place : task.way) go_to(user, place);
    go_to(user, task.place);
    user.view.stage = task.shown.stage.value_or(user.view.stage);
    user.view.side = task.shown.side.value_or(user.view.side);
    if (task.shown.compare) compare(user, stop, *task.shown.compare);
    user.settle();
  }

  void break_and_mend(User& user, const Exercise& break_it) {
    user.type('r');
    user.settle();
    user.settle();
    const viz::ExerciseNow now = *user.frame().lesson->break_it;
    EXPECT_EQ(now.on, !break_it.switches.empty());
    EXPECT_EQ(now.proof.empty(), break_it.expect.empty()) << now.proof;
    EXPECT_EQ(now.proof.find("was expected"), std::string::npos) << now.proof;
    user.type('r');
    user.settle();
    user.settle();
    EXPECT_FALSE(user.frame().lesson->break_it->on);
    EXPECT_FALSE(user.frame().broken);
  }
};

TEST_P(PlayedLesson, CanBePlayedThrough) {
  const Subject subject = open_subject(path(), DeviceChoice::simt);
  User user(subject, 1920.0F, 1080.0F);
  user.session().tell_scripts({});
  user.settle();
  const std::vector<Stop>& stops = subject.scenario.script.stops;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const Stop& stop = stops[i];
    SCOPED_TRACE(stop.name + " (" + stop.where + ")");
    user.settle();
    ASSERT_EQ(user.frame().lesson->name, stop.name);
    ASSERT_TRUE(user.frame().lesson->ready);
    answer(user, stop);
    EXPECT_NE(user.frame().lesson->caption, "");
    for (std::size_t t = 0; t < stop.tasks.size(); ++t) {
      SCOPED_TRACE(stop.tasks[t].text);
      EXPECT_EQ(user.frame().lesson->tasks_done, static_cast<int>(t)) << "done before one did it";
      EXPECT_FALSE(user.frame().lesson->task->done);
      do_task(user, stop, stop.tasks[t]);
      EXPECT_EQ(user.frame().lesson->tasks_done, static_cast<int>(t) + 1)
          << user.frame().lesson->task->missed;
      EXPECT_FALSE(user.frame().lesson->task_proof.empty() && !stop.tasks[t].expect.empty());
    }
    if (stop.break_it) break_and_mend(user, *stop.break_it);
    user.press({.key = viz::keys::kPageDown});
    user.settle();
  }
  const LessonProgress progress = user.session().lessons_progress().begin()->second;
  EXPECT_EQ(progress.seen.size(), stops.size());
  std::size_t to_do = 0;
  for (const Stop& stop : stops)
    to_do += stop.tasks.size() + (stop.choices.empty() ? 0 : 1) + (stop.break_it ? 1 : 0);
  EXPECT_EQ(progress.done.size(), to_do);
}

/// Every sentence of the stop stands there whole: nothing of it ends with dots or is left out.
void expect_whole(User& user, const viz::TextLog& log, const std::vector<std::string>& sentences) {
  std::string written;
  for (const viz::TextLog::Entry& entry : log.entries) {
    if (entry.panel != "lesson" && entry.panel != "caption") continue;
    EXPECT_FALSE(entry.shortened || entry.left_out) << entry.text;
    written += entry.text + ' ';
  }
  for (const std::string& sentence : sentences)
    EXPECT_NE(written.find(sentence), std::string::npos) << sentence << "\nin: " << written;
  EXPECT_TRUE(user.frame().lesson->ready);
}

/// Tells the lesson in a window, from stop to stop; `look` answers what a stop asks.
template <class Look>
void tell(const std::string& path, viz::ScreenMode mode, float width, float height, Look&& look) {
  const Subject subject = open_subject(path, DeviceChoice::simt);
  User user(subject, width, height);
  viz::TextLog log;
  user.view.text_log = &log;
  user.view.mode = mode;
  user.session().tell_scripts({});
  for (const Stop& stop : subject.scenario.script.stops) {
    SCOPED_TRACE(stop.name + " (" + stop.where + ")");
    user.settle();
    user.settle();
    look(user, log, stop);
    user.press({.key = viz::keys::kPageDown});
  }
}

TEST_P(PlayedLesson, NoTextIsCutBeforeOrAfterTheGuessOrTheBreak) {
  for (const viz::ScreenMode mode : {viz::ScreenMode::explore, viz::ScreenMode::present}) {
    tell(path(), mode, 1600.0F, 900.0F, [](User& user, const viz::TextLog& log, const Stop& stop) {
      if (user.frame().lesson->asking) {
        expect_whole(user, log, {user.frame().lesson->question});
        if (stop.choices.empty()) {
          user.press({.key = viz::keys::kSpace});
        } else {
          user.click("lesson/choice/1");
        }
        user.settle();
      }
      const viz::LessonNow told = *user.frame().lesson;
      expect_whole(user, log, {told.caption, told.task ? told.task->text : ""});
      if (stop.break_it) {
        user.type('r');
        user.settle();
        user.settle();
        const viz::LessonNow broken = *user.frame().lesson;
        expect_whole(user, log, {broken.caption, broken.break_it->text, broken.break_it->proof});
        user.type('r');
        user.settle();
      }
    });
  }
}

/// Of a low projector picture what is asked and told; what is to be done by hand has no room in it.
TEST_P(PlayedLesson, WhatIsAskedAndToldIsWholeOnALowProjectorToo) {
  tell(path(), viz::ScreenMode::present, 1280.0F, 720.0F,
       [](User& user, const viz::TextLog& log, const Stop& /*stop*/) {
         if (user.frame().lesson->asking) {
           expect_whole(user, log, {user.frame().lesson->question});
           user.press({.key = viz::keys::kSpace});
           user.settle();
         }
         expect_whole(user, log, {user.frame().lesson->caption});
       });
}

INSTANTIATE_TEST_SUITE_P(Each, PlayedLesson, ::testing::Range(0, 13));

}  // namespace
}  // namespace attn::app
