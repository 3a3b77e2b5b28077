// Every bundled lesson, played through in the window: questions cover their answers, tasks can be done with
// one's own hands, what breaks breaks and is mended.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "app/lesson.h"
#include "app/lessons.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

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

  void answer(User& user, const Stop& stop) {
    if (stop.predict.empty()) return;
    ASSERT_TRUE(user.frame().lesson->asking);
    for (const std::string& name : stop.hide)
      EXPECT_TRUE(user.marks().get("ring/" + name)) << name << " is not on screen to be covered";
    EXPECT_FALSE(user.marks().get("lesson/task")) << "a task would give the answer away";
    user.press({.key = viz::keys::kSpace});
    user.settle();
    EXPECT_FALSE(user.frame().lesson->asking);
  }

  Standing standing(User& user) {
    return {.store = &user.session().store(),
            .selection = user.session().selection(),
            .compare = std::nullopt,
            .stage = user.view.stage,
            .side = user.view.side,
            .maximised = user.view.maximised};
  }

  /// In the palette by the very words that the task gives, where it gives them.
  void set_switch(User& user, const Exercise& task, const std::string& name, const std::string& value) {
    const std::string before = "type \"";
    const std::size_t at = task.text.find(before);
    if (at == std::string::npos) return user.send(Kind::set_switch, 0, name, value);
    const std::size_t from = at + before.size();
    user.press({.key = 'K', .ctrl = true});
    for (const char c : task.text.substr(from, task.text.find('"', from) - from)) user.type(c);
    user.click("palette/" + name + "=" + value);
    user.settle();
  }

  /// What the task asks for, by the commands that hands would give.
  void do_task(User& user, const Exercise& task) {
    for (const auto& [name, value] : task.switches) set_switch(user, task, name, value);
    const Place& place = task.place;
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
    user.view.stage = task.shown.stage.value_or(user.view.stage);
    user.view.side = task.shown.side.value_or(user.view.side);
    if (task.shown.compare) {
      viz::Command compare = testing::command_of(Kind::compare);
      std::tie(compare.variant_a, compare.variant_b) = *task.shown.compare;
      user.send(compare);
    }
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
    if (stop.task) {
      EXPECT_FALSE(user.frame().lesson->task->done) << "nothing was done yet";
      EXPECT_FALSE(stands(*stop.task, standing(user))) << "there is nothing left to do on arrival";
      do_task(user, *stop.task);
      EXPECT_TRUE(user.frame().lesson->task->done) << user.frame().lesson->task->missed;
    }
    if (stop.break_it) break_and_mend(user, *stop.break_it);
    user.press({.key = viz::keys::kPageDown});
    user.settle();
  }
  const LessonProgress progress = user.session().lessons_progress().begin()->second;
  EXPECT_EQ(progress.seen.size(), stops.size());
  EXPECT_EQ(static_cast<std::ptrdiff_t>(progress.done.size()),
            std::ranges::count_if(stops, [](const Stop& stop) { return stop.task.has_value(); }));
}

INSTANTIATE_TEST_SUITE_P(Each, PlayedLesson, ::testing::Range(1, 13));

}  // namespace
}  // namespace attn::app
