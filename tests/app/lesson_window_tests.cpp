// Lessons in the window: from the gallery through stops, questions and tasks, with what the learner's own
// keys do, and what is remembered of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "app/settings.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Kind = viz::Command::Kind;
using testing::User;

/// A and B of 4 and 5 tokens, as in the lesson on packing.
constexpr const char* kLesson = R"({
  "version": 1, "name": "One long row", "about": "How two prompts share one batch.",
  "model": "shakespeare-1m", "seed": 7,
  "engine": {"block_size": 4, "num_blocks": 16, "k_tile": 4},
  "requests": [
    {"at_step": 0, "id": "A", "prompt_tokens": 4, "max_tokens": 6},
    {"at_step": 0, "id": "B", "prompt_tokens": 5, "max_tokens": 6}],
  "runs": [{"name": "small tiles", "set": {"engine.k_tile": 8}}],
  "film": [
    {"stop": "packed", "caption": "cu_seqlens_q is {cu_seqlens_q}.", "annotate": ["strip"],
     "notes": "Ask for the owner of row 6."},
    {"stop": "guess", "predict": "How many keys does A see?", "caption": "Now {context_lens} keys.", "goto": {"step": 2},
     "hide": ["tables"], "select": {"seq": "A"}, "view": "tiles", "side": "costs"},
    {"stop": "do", "caption": "Now you: {keys_seen} keys.", "goto": {"step": 2},
     "task": {"do": "Go to step 3 and look at the heads.", "goto": {"step": 3}, "view": "heads",
              "expect": {"context_lens": [6, 7]}},
     "break_it": {"do": "The mask hangs from the top left.", "set": {"engine.mask_alignment": "top_left"},
                  "expect": {"keys_seen": 1}}},
    {"stop": "other run", "run": "small tiles", "caption": "The same with tiles of 8."}]
})";

class LessonJourney : public ::testing::Test {
 protected:
  LessonJourney() { testing::write_file(path(), kLesson); }
  std::string path() const { return folder_.file("02-row.json"); }
  Subject subject() const { return open_subject(path(), DeviceChoice::simt); }
  const viz::LessonNow& lesson(User& user) {
    user.settle();
    return *user.frame().lesson;
  }
  void page(User& user, int key) {
    user.press({.key = key});
    user.settle();
    user.settle();
  }
  const testing::TemporaryFolder folder_;
};

TEST_F(LessonJourney, WithoutBeingToldAScenarioWithStopsRunsAsAnyOther) {
  User user(subject());
  user.settle();
  EXPECT_FALSE(user.frame().lesson);
}

TEST_F(LessonJourney, StopsQuestionsTasksAndTheirTicks) {
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  EXPECT_EQ(lesson(user).caption, "cu_seqlens_q is [0, 4, 9].");
  EXPECT_EQ(lesson(user).notes, "Ask for the owner of row 6.");
  EXPECT_TRUE(user.marks().get("ring/strip"));

  page(user, viz::keys::kPageDown);
  EXPECT_EQ(user.frame().step->step, 2);
  EXPECT_EQ(user.view.stage, viz::StageView::tiles);
  EXPECT_EQ(user.view.side, viz::SideView::costs);
  ASSERT_TRUE(lesson(user).asking);
  EXPECT_FALSE(user.marks().get("lesson/caption"));
  EXPECT_EQ(user.session().selection().seq, -1) << "what is asked about is not shown before";
  EXPECT_EQ(user.marks().get("ring/tables")->value, "hidden until you have guessed");
  user.press({.key = viz::keys::kRight});
  user.settle();
  EXPECT_EQ(user.frame().step->step, 3);
  page(user, viz::keys::kSpace);
  EXPECT_FALSE(lesson(user).asking);
  EXPECT_EQ(user.frame().step->step, 2) << "the answer is of this step";
  EXPECT_EQ(user.marks().get("lesson/caption")->value, "Now [5, 6] keys.");
  EXPECT_EQ(user.session().selection().seq, 0);
  EXPECT_FALSE(user.marks().get("ring/tables"));
  EXPECT_FALSE(user.view.playing);

  page(user, viz::keys::kPageDown);
  ASSERT_TRUE(lesson(user).task);
  EXPECT_EQ(user.view.stage, viz::StageView::weights) << "what a stop does not say is the default";
  EXPECT_FALSE(lesson(user).task->done);
  user.press({.key = viz::keys::kRight});  // one engine step
  user.settle();
  EXPECT_EQ(user.frame().step->step, 3);
  EXPECT_FALSE(lesson(user).task->done) << "the heads are not looked at yet";
  user.type('v');
  user.type('v');
  user.settle();
  EXPECT_TRUE(lesson(user).task->done) << lesson(user).task->missed;
  EXPECT_EQ(lesson(user).task->proof, "context_lens: [6, 7]");
  user.settle();
  EXPECT_TRUE(user.marks().get("lesson/done"));

  const LessonsProgress& progress = user.session().lessons_progress();
  ASSERT_EQ(progress.size(), 1U);
  EXPECT_EQ(progress.begin()->second.seen, (std::vector<std::string>{"packed", "guess", "do"}));
  EXPECT_EQ(progress.begin()->second.done, (std::vector<std::string>{"do"}));
  Settings settings;
  settings.lessons = progress;
  save_settings(folder_.file("settings.json"), settings);
  EXPECT_EQ(load_settings(folder_.file("settings.json")).settings.lessons, progress);

  User again(subject());
  again.session().tell_scripts(load_settings(folder_.file("settings.json")).settings.lessons);
  page(again, viz::keys::kPageDown);
  page(again, viz::keys::kPageDown);  // answers
  page(again, viz::keys::kPageDown);
  EXPECT_TRUE(lesson(again).task->done) << "remembered";
}

TEST_F(LessonJourney, ComingToAStopDoesNotDoItsTask) {
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  for (int i = 0; i < 5; ++i) page(user, viz::keys::kPageDown);
  EXPECT_EQ(lesson(user).name, "other run");
  page(user, viz::keys::kPageUp);
  EXPECT_EQ(lesson(user).name, "do");
  EXPECT_FALSE(lesson(user).task->done);
  EXPECT_TRUE(user.session().lessons_progress().begin()->second.done.empty());
}

TEST_F(LessonJourney, RunsThatWereShownComeBackAtOnce) {
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  const trace::Store* first = &user.session().store();
  for (int i = 0; i < 4; ++i) page(user, viz::keys::kPageDown);
  ASSERT_EQ(lesson(user).name, "other run");
  EXPECT_EQ(user.frame().manifest->config.k_tile, 8);
  user.press({.key = viz::keys::kPageUp});  // nothing is waited for
  EXPECT_EQ(&user.session().store(), first);
  user.settle();
  EXPECT_EQ(user.frame().manifest->config.k_tile, 4);
  EXPECT_FALSE(user.frame().token_texts.empty());
}

constexpr const char* kHands = R"({
  "version": 1, "name": "Hands", "model": "shakespeare-1m", "seed": 7,
  "engine": {"block_size": 4, "num_blocks": 16, "k_tile": 4},
  "requests": [
    {"at_step": 0, "id": "A", "token_ids": [1, 2, 3, 4, 5, 6, 7, 8, 9], "max_tokens": 6},
    {"at_step": 1, "id": "B", "token_ids": [1, 2, 3, 4, 5, 6, 7, 8, 11], "max_tokens": 6}],
  "runs": [{"name": "wide", "set": {"engine.k_tile": 8}}],
  "film": [
    {"stop": "send", "caption": "B hits {num_cached_tokens[B]}.", "goto": {"step": 2},
     "predict": "How many tokens does B find?", "choices": ["4", "8"], "right": "{num_cached_tokens[B]}",
     "send": true, "controls": [
       {"name": "tiles", "runs": ["main", "wide"], "labels": ["4", "8"]},
       {"name": "caching", "switch": "engine.prefix_caching", "values": [true, false]}],
     "task": [
       {"do": "Both at once.", "sent": {"A": 0, "B": 0}, "goto": {"step": 1}, "expect": {"num_cached_tokens[B]": 0}},
       {"do": "Wide tiles.", "run": "wide", "expect": {"num_cached_tokens[B]": 8}},
       {"do": "Walk.", "through": [{"stage": "prepare"}, {"stage": "store_kvcache"}], "goto": {"stage": "attention"}},
       {"do": "No caching.", "set": {"engine.prefix_caching": false}, "goto": {"step": 2},
        "expect": {"num_cached_tokens[B]": 0}}]}]
})";

TEST_F(LessonJourney, RequestsAreSentByHandAndTasksComeOneAfterTheOther) {
  testing::write_file(path(), kHands);
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  user.click("lesson/choice/1");
  user.settle();
  EXPECT_EQ(lesson(user).guessed, 0);
  EXPECT_EQ(lesson(user).right, 1);
  EXPECT_NE(user.marks().get("lesson/verdict")->value.find("it is 8"), std::string::npos);
  EXPECT_TRUE(user.session().lessons_progress().begin()->second.done.empty()) << "a wrong guess is no tick";

  user.click("lesson/start_over");
  user.settle();
  EXPECT_EQ(user.frame().num_steps, 0) << "nothing is sent, nothing runs";
  EXPECT_EQ(lesson(user).outbox->sent, 0);
  user.click("lesson/send");
  user.settle();
  EXPECT_EQ(lesson(user).outbox->waiting, 1);
  user.click("lesson/step");
  user.settle();
  EXPECT_EQ(user.frame().num_steps, 1);
  EXPECT_EQ(lesson(user).tasks_done, 0) << "B was not sent with it";
  user.click("lesson/send");
  user.click("lesson/step");
  user.settle();
  EXPECT_EQ(user.frame().step->step, 2) << "the window goes on with the run";
  EXPECT_EQ(lesson(user).tasks_done, 0) << "one step later is not at once";

  user.click("lesson/start_over");
  user.click("lesson/send");
  user.click("lesson/send");
  EXPECT_EQ(user.marks().get("lesson/send")->value, "every request of this stop is sent");
  user.click("lesson/step");
  user.settle();
  EXPECT_EQ(lesson(user).tasks_done, 1) << lesson(user).task->missed;
  EXPECT_EQ(lesson(user).task_proof, "tokens of B found in the cache: 0");
  EXPECT_EQ(lesson(user).task->text, "Wide tiles.");
  EXPECT_FALSE(lesson(user).task->done);
}

TEST_F(LessonJourney, HandlesTurnRunsAndSwitchesAndAWalkIsWalked) {
  testing::write_file(path(), kHands);
  User user(subject());
  LessonProgress before;
  before.done = {"send"};  // the first task
  user.session().tell_scripts({{lesson_key(path()), before}});
  user.settle();
  page(user, viz::keys::kSpace);
  EXPECT_EQ(lesson(user).task->text, "Wide tiles.");
  EXPECT_EQ(lesson(user).handles.at(0).at, 0);
  user.click("lesson/turn/tiles/8");
  user.settle();
  EXPECT_EQ(user.frame().manifest->config.k_tile, 8);
  EXPECT_EQ(user.frame().step->step, 2) << "one stays where one stood";
  EXPECT_EQ(lesson(user).tasks_done, 2) << lesson(user).task->missed;
  EXPECT_TRUE(lesson(user).outbox);

  const auto go = [&](trace::Stage stage) {
    viz::Command select = testing::command_of(Kind::select);
    select.selection = user.session().selection();
    select.selection.stage = stage;
    user.send(select);
  };
  go(trace::Stage::store_kvcache);
  go(trace::Stage::attention);
  EXPECT_EQ(lesson(user).tasks_done, 2) << "the way begins at prepare";
  go(trace::Stage::prepare);
  EXPECT_EQ(lesson(user).task->passed, 1);
  go(trace::Stage::store_kvcache);
  go(trace::Stage::attention);
  EXPECT_EQ(lesson(user).tasks_done, 3);
  user.click("lesson/turn/caching/false");
  user.settle();
  EXPECT_EQ(lesson(user).tasks_done, 4) << lesson(user).task->missed;
  EXPECT_TRUE(lesson(user).task->done);
  EXPECT_EQ(user.session().lessons_progress().begin()->second.done.size(), 4U);
}

TEST_F(LessonJourney, BreakItAndMendIt) {
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  for (int i = 0; i < 3; ++i) page(user, viz::keys::kPageDown);
  ASSERT_EQ(lesson(user).name, "do");
  user.click("lesson/break");
  user.settle();
  EXPECT_TRUE(lesson(user).break_it->on);
  ASSERT_TRUE(user.frame().broken);
  EXPECT_EQ(user.frame().step->step, 2) << "one stays at the stop";
  user.settle();
  EXPECT_TRUE(user.marks().get("banner/what"));
  EXPECT_TRUE(user.marks().get("lesson/broken"));
  EXPECT_EQ(lesson(user).caption, "Now you: 5 keys.") << "said of the right run, it stays true of it";
  EXPECT_FALSE(user.marks().get("lesson/caption")) << "but not of what is on screen";
  EXPECT_EQ(user.marks().get("lesson/before")->value, "Now you: 5 keys.");
  EXPECT_EQ(lesson(user).break_it->proof, "keys seen: 1");
  EXPECT_TRUE(lesson(user).break_it->done) << "its number came out";
  const LessonProgress progress = user.session().lessons_progress().begin()->second;
  EXPECT_EQ(std::ranges::count(progress.done, break_key(user.session().lesson()->stop())), 1);
  EXPECT_EQ(progress.at, "do") << "one goes on here";
  EXPECT_EQ(user.marks().get("lesson/proof")->value, "keys seen: 1");
  user.type('r');
  user.settle();
  user.settle();
  EXPECT_FALSE(lesson(user).break_it->on);
  EXPECT_FALSE(user.frame().broken);
}

TEST_F(LessonJourney, WhereThereIsNothingToBreakItSaysWhereThereIs) {
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  user.type('r');
  EXPECT_EQ(user.frame().status, "this stop has no break-it; it comes at stop 3 of 4");
  for (int i = 0; i < 4; ++i) page(user, viz::keys::kPageDown);
  ASSERT_EQ(lesson(user).name, "other run");
  user.type('r');
  EXPECT_EQ(user.frame().status, "this stop has no break-it; it was at stop 3 of 4");
  EXPECT_FALSE(user.frame().broken);
}

TEST_F(LessonJourney, ALessonWithoutABreakItSaysSo) {
  testing::write_file(path(),
                      R"({"version": 1, "requests": [{"id": "A", "prompt_tokens": 4, "max_tokens": 2}],
                                  "film": [{"stop": "one", "caption": "One."}]})");
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  user.type('r');
  EXPECT_EQ(user.frame().status, "this lesson has no break-it");
}

TEST_F(LessonJourney, AnotherFileEndsIt) {
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  user.send(Kind::open_file, 0, testing::default_scenario().string());
  EXPECT_FALSE(user.frame().lesson);
  EXPECT_EQ(user.session().lessons_progress().size(), 1U);
  user.send(Kind::open_file, 0, path());
  user.settle();
  ASSERT_TRUE(user.frame().lesson);
  EXPECT_EQ(user.frame().lesson->stop, 0);
}

TEST_F(LessonJourney, ALinkOpensTheLessonAtItsPlace) {
  Subject linked = open_subject(path() + "#step=3&layer=1&head=2", DeviceChoice::simt);
  User user(linked);
  go_to_link(user.session(), linked.link);
  user.session().tell_scripts({});
  user.settle();
  EXPECT_EQ(lesson(user).name, "do") << "the last stop before step 3";
  EXPECT_EQ(lesson(user).caption, "Now you: 5 keys.");
  EXPECT_EQ(user.frame().step->step, 3);
  EXPECT_EQ(user.session().selection().layer, 1);
  EXPECT_EQ(user.session().selection().head, 2);
  page(user, viz::keys::kPageUp);
  EXPECT_EQ(lesson(user).name, "guess");
  EXPECT_EQ(user.frame().step->step, 2) << "from then on the stops say where";

  user.send(Kind::open_file, 0, path() + "#step=2&seq=0");
  user.settle();
  EXPECT_EQ(lesson(user).name, "guess") << "the stop that is there";
  EXPECT_EQ(user.session().selection().seq, 0);
  EXPECT_EQ(user.view.stage, viz::StageView::tiles) << "shown as the stop is";
}

TEST_F(LessonJourney, NumbersOfTheWholeRunAreRightWhileItGoesOn) {
  std::string text = kLesson;
  text.replace(text.find("The same with tiles of 8."), 25,
               "{passes} passes, {tokens_differing@main} tokens differ.");
  testing::write_file(path(), text);
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  for (int i = 0; i < 4; ++i) page(user, viz::keys::kPageDown);
  ASSERT_EQ(lesson(user).name, "other run");
  EXPECT_EQ(user.frame().num_steps, 1);
  EXPECT_EQ(lesson(user).caption, "6 passes, 0 tokens differ.");
}

TEST_F(LessonJourney, TheSpeakerSeesThisCaptionAndTheNext) {
  User user(subject());
  user.session().tell_scripts({});
  user.view.teach.notes = true;
  user.settle();
  user.settle();
  EXPECT_EQ(lesson(user).next_caption, "Now [5, 6] keys.") << "of the next place, before one is there";
  ASSERT_TRUE(user.marks().get("notes/next_caption"));
  EXPECT_EQ(user.marks().get("notes/next_caption")->value, "Now [5, 6] keys.");
  for (int i = 0; i < 3; ++i) page(user, viz::keys::kPageDown);
  ASSERT_EQ(lesson(user).name, "do");
  EXPECT_EQ(lesson(user).next_caption, "The same with tiles of 8.") << "of another run";
  page(user, viz::keys::kPageDown);
  EXPECT_EQ(lesson(user).next_caption, "") << "there is none";
}

TEST_F(LessonJourney, AStopThatCannotBeShownSaysWhy) {
  std::string text = kLesson;
  text.replace(text.find("\"step\": 2"), 9, "\"step\": 99");
  testing::write_file(path(), text);
  User user(subject());
  user.session().tell_scripts({});
  user.settle();
  page(user, viz::keys::kPageDown);
  EXPECT_NE(lesson(user).caption.find("there is no step 99"), std::string::npos) << lesson(user).caption;
  page(user, viz::keys::kPageUp);
  EXPECT_EQ(lesson(user).caption, "cu_seqlens_q is [0, 4, 9].");
}

TEST(Gallery, ListsEveryLessonWithoutRunningIt) {
  User user(testing::scenario_subject());
  user.session().tell_scripts({});
  user.settle();
  EXPECT_FALSE(user.frame().lesson) << "the default scenario tells nothing";
  user.press({.key = 'L', .ctrl = true});
  user.settle();
  for (const viz::LessonCard& card : user.frame().lessons) {
    EXPECT_EQ(card.note, "");
    EXPECT_GT(card.stops, 0);
    EXPECT_FALSE(card.finished());
  }
}

}  // namespace
}  // namespace attn::app
