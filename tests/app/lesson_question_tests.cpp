// "Predict first" of the bundled lessons: what is asked cannot be read off the screen before it is answered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <tuple>
#include <vector>

#include "app/lessons.h"
#include "tests/app/user.h"
#include "viz/layout/panel_names.h"
#include "viz/layout/panel_place.h"
#include "viz/widgets/text_log.h"

namespace attn::app {
namespace {

using testing::User;

/// Whether a text has that word or number, and not as a part of a longer one.
bool has_word(const std::string& text, const std::string& word) {
  const auto joins = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !joins(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !joins(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

/// Numbers of one digit stand everywhere and answer nothing.
bool tells(const std::string& answer) {
  return std::ranges::count_if(answer, [](unsigned char c) { return std::isalnum(c) != 0; }) > 1;
}

/// What lies over the panels while a question is asked.
std::vector<viz::Rect> covers_of(const viz::Marks& marks) {
  std::vector<viz::Rect> covers;
  for (const viz::Mark& mark : marks.all()) {
    if (mark.name.starts_with("ring/") && mark.value == "hidden until you have guessed")
      covers.push_back(mark.rect);
  }
  return covers;
}

bool covered(const std::vector<viz::Rect>& covers, const viz::Rect& rect) {
  const float x = rect.x + rect.w * 0.5F, y = rect.y + rect.h * 0.5F;
  return std::ranges::any_of(covers, [&](const viz::Rect& cover) {
    return x >= cover.x && x < cover.right() && y >= cover.y && y < cover.bottom();
  });
}

/// Neither written nor in a tooltip; the question and its choices may say it.
void expect_untold(const std::string& answer, const User& user, const viz::TextLog& log) {
  if (!tells(answer)) return;
  const std::vector<viz::Rect> covers = covers_of(user.marks());
  for (const viz::TextLog::Entry& entry : log.entries) {
    const std::string panel(entry.panel);
    if (panel == "lesson" || panel == "caption" || panel.empty() || covered(covers, entry.rect)) continue;
    if (entry.rect.y >= entry.clip.bottom()) continue;  // scrolled out of sight
    EXPECT_FALSE(has_word(entry.text, answer)) << answer << " stands in " << panel << ": " << entry.text;
  }
  for (const viz::Mark& mark : user.marks().all()) {
    // Every token has its position.
    const auto of = [&](const char* kind) { return mark.name.starts_with(kind); };
    if (of("lesson") || of("ring/") || of("requests/token/") || covered(covers, mark.rect)) continue;
    EXPECT_FALSE(has_word(mark.value, answer) || has_word(mark.source, answer))
        << answer << " is told by " << mark.name << ": " << mark.value << " (" << mark.source << ")";
  }
}

/// Every view of the middle and of the lower right.
void expect_untold_anywhere(const std::string& answer, User& user, const viz::TextLog& log) {
  const viz::StageView stage = user.view.stage;
  const viz::SideView side = user.view.side;
  for (int i = 0; i < viz::kNumStageViews; ++i) {
    user.view.stage = static_cast<viz::StageView>(i);
    user.view.side = static_cast<viz::SideView>(i % viz::kNumSideViews);
    SCOPED_TRACE(i);
    user.settle();
    expect_untold(answer, user, log);
  }
  user.view.stage = stage;
  user.view.side = side;
  user.settle();
}

class AskedLesson : public ::testing::TestWithParam<LessonFile> {};

TEST_P(AskedLesson, ItsAnswerStandsInNoPanelThatIsSeen) {
  const Subject subject = open_subject(GetParam().path.string(), DeviceChoice::simt);
  User user(subject, 1920.0F, 1080.0F);
  viz::TextLog log;
  user.view.text_log = &log;
  user.session().tell_scripts({});
  for (const Stop& stop : subject.scenario.script.stops) {
    SCOPED_TRACE(stop.name);
    user.settle();
    user.settle();
    const viz::LessonNow asked = *user.frame().lesson;
    EXPECT_EQ(asked.asking, !stop.predict.empty());
    EXPECT_EQ(asked.question.find('{'), std::string::npos) << "its numbers are filled in: " << asked.question;
    if (asked.asking && asked.right >= 0) {
      const std::string& answer = asked.choices[static_cast<std::size_t>(asked.right)];
      for (const viz::ScreenMode mode : {viz::ScreenMode::present, viz::ScreenMode::explore}) {
        user.view.mode = mode;
        expect_untold_anywhere(answer, user, log);
      }
    }
    if (asked.asking) user.press({.key = viz::keys::kSpace});
    user.settle();
    user.press({.key = viz::keys::kPageDown});
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, AskedLesson, ::testing::ValuesIn(lesson_files()),
                         [](const auto& of) { return fmt::format("{:02}", of.param.number); });

/// In both modes, whatever is opened over them.
TEST(AskedLessons, CoversStayUnderWhatIsOpenedOverThem) {
  const std::vector<LessonFile> files = lesson_files();
  const auto file = std::ranges::find(files, 3, &LessonFile::number);
  ASSERT_NE(file, files.end());
  const Subject subject = open_subject(file->path.string() + "#stop=2", DeviceChoice::simt);
  for (const viz::ScreenMode mode : {viz::ScreenMode::explore, viz::ScreenMode::present}) {
    User user(subject, 1920.0F, 1080.0F);
    user.view.mode = mode;
    user.session().tell_scripts({});
    user.settle();
    user.settle();
    ASSERT_TRUE(user.frame().lesson->asking);
    for (const viz::Overlay overlay :
         {viz::Overlay::none, viz::Overlay::help, viz::Overlay::menu, viz::Overlay::palette,
          viz::Overlay::find, viz::Overlay::lessons, viz::Overlay::film}) {
      if (overlay != viz::Overlay::none) user.view.shell.open(overlay);
      user.draw();
      user.draw();
      const auto cover = user.marks().get("ring/weights");
      ASSERT_TRUE(cover) << static_cast<int>(overlay);
      EXPECT_EQ(cover->value, "hidden until you have guessed");
      user.view.shell.close();
      user.draw();
    }
    user.press({.key = viz::keys::kSpace});
    user.settle();
    ASSERT_FALSE(user.frame().lesson->asking);
    EXPECT_TRUE(user.marks().get("ring/tables/slot"));
    user.view.shell.open(viz::Overlay::help);
    user.draw();
    EXPECT_FALSE(user.marks().get("ring/tables/slot")) << "a ring would lie over it";
  }
}

/// Pictures answer as well as words: who is in the batch, where a token was stored, which stages run.
TEST(AskedLessons, WhatShowsTheAnswerIsCovered) {
  const std::vector<LessonFile> files = lesson_files();
  const std::vector<std::tuple<int, int, std::vector<std::string>>> all = {
      {1, 2, {"strip", "stages", "changes"}},
      {2, 2, {"strip"}},
      {2, 4, {"stages"}},
      {3, 2, {"pool", "weights", "code"}},
      {3, 3, {"pool", "code"}},
      {3, 4, {"pool", "code"}},
      {5, 2, {"pool", "tables", "code", "changes", "timeline"}},
      {5, 4, {"strip", "code", "timeline"}},
      {5, 5, {"pool", "tables", "code", "changes", "timeline"}},
      {6, 1, {"stages", "timeline", "header/kind"}},
      {6, 2, {"timeline", "changes"}},
      {6, 5, {"strip", "mask", "costs", "changes"}},
      {6, 7, {"timeline"}},
      {7, 2, {"strip", "stages", "costs", "code", "changes"}},
      {9, 3, {"timeline", "code"}},
      {12, 2, {"strip", "mask", "weights", "pool"}}};
  for (const auto& [number, stop, panels] : all) {
    const auto file = std::ranges::find(files, number, &LessonFile::number);
    ASSERT_NE(file, files.end());
    User user(open_subject(fmt::format("{}#stop={}", file->path.string(), stop), DeviceChoice::simt), 1920.0F,
              1080.0F);
    user.session().tell_scripts({});
    user.settle();
    user.settle();
    ASSERT_TRUE(user.frame().lesson->asking);
    for (const std::string& panel : panels) {
      user.view.side = viz::side_that_shows(viz::panel_named(panel), user.view.side);
      user.draw();
      user.draw();
      const auto cover = user.marks().get("ring/" + panel);
      ASSERT_TRUE(cover) << number << ", stop " << stop << ": " << panel;
      EXPECT_EQ(cover->value, "hidden until you have guessed");
    }
    EXPECT_FALSE(user.marks().get("ring/strip/row/6")) << "nothing points under a cover";
  }
}

}  // namespace
}  // namespace attn::app
