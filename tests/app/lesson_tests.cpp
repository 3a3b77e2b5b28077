// The bundled lessons: every number that they name comes out, and a number that does not is told with its
// line.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/lessons.h"
#include "core/trace/facts.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

int sentences(const std::string& text) {
  int count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool end = i + 1 == text.size() || text[i + 1] == ' ';
    if (end && (text[i] == '.' || text[i] == '?' || text[i] == '!')) ++count;
  }
  return count;
}

class Lessons : public ::testing::TestWithParam<LessonFile> {};

TEST_P(Lessons, EveryNumberComesOut) {
  const LessonReport report = check_lesson(load_scenario(GetParam().path), DeviceChoice::simt);
  for (const Failure& failure : report.failures) ADD_FAILURE() << failure.where << ": " << failure.text;
  EXPECT_GE(report.numbers, report.stops) << "every stop proves something";
}

TEST_P(Lessons, TellsShortlyAsksForHandsAndEndsWithABreak) {
  const Scenario lesson = load_scenario(GetParam().path);
  EXPECT_FALSE(lesson.script.about.empty());
  ASSERT_FALSE(lesson.script.stops.empty());
  for (const Stop& stop : lesson.script.stops) {
    EXPECT_LE(sentences(stop.caption), 3) << stop.name << ": " << stop.caption;
    EXPECT_FALSE(stop.expect.empty()) << stop.name << " proves nothing";
  }
  EXPECT_TRUE(std::ranges::any_of(lesson.script.stops, [](const Stop& s) { return !s.tasks.empty(); }));
  EXPECT_TRUE(std::ranges::any_of(lesson.script.stops, [](const Stop& s) { return s.break_it.has_value(); }));
}

INSTANTIATE_TEST_SUITE_P(Bundled, Lessons, ::testing::ValuesIn(lesson_files()),
                         [](const auto& of) { return fmt::format("{:02}", of.param.number); });

Scenario small_lesson(const std::string& stop) {
  return parse_scenario(
      "{\"engine\": {\"block_size\": 4}, \"requests\": [{\"id\": \"A\", \"token_ids\": [5, 6, 7], "
      "\"max_tokens\": 2}],\n\"film\": [{\"stop\": \"x\", \"caption\": \"{num_tokens} tokens\",\n" +
          stop + "}]}",
      testing::source_dir() / "assets/lessons/case.json");
}

std::string failure_of(const std::string& stop) {
  const LessonReport report = check_lesson(small_lesson(stop), DeviceChoice::simt);
  return report.failures.size() == 1 ? report.failures[0].where + ": " + report.failures[0].text
                                     : fmt::format("{} failures", report.failures.size());
}

TEST(LessonCheck, AWrongNumberIsToldWithItsLineAndBothValues) {
  EXPECT_EQ(failure_of("\"expect\": {\"num_tokens\": 3,\n\"score_dots\": 7}"),
            "case.json:4: score_dots is 6, expected 7");
  EXPECT_EQ(failure_of("\"expect\": {\"cu_seqlens_q\": [0, 4]}"),
            "case.json:3: cu_seqlens_q is [0, 3], expected [0,4]");
}

TEST(LessonCheck, AFactThatIsNotThereFails) {
  EXPECT_EQ(failure_of("\"expect\": {\"context_lens\": [3]}"),
            "case.json:3: the fact 'context_lens' is not known at step 1: the step passes no context_lens");
  EXPECT_EQ(failure_of("\"goto\": {\"step\": 9}"), "case.json:2: the run has steps 1 to 2, not 9")
      << "its caption cannot be filled in";
}

TEST(LessonCheck, AMarkWhoseNumberThereIsNotFailsWithItsLine) {
  EXPECT_EQ(failure_of("\"annotate\": [\"strip/row/2\",\n\"strip/row/66\"]"),
            "case.json:4: there is no 'strip/row/66' at step 1; its packed rows are 0 to 2");
  EXPECT_EQ(failure_of("\"predict\": \"Which?\",\n\"hide\": [\"pool/block/512\"]").substr(0, 44),
            "case.json:4: there is no 'pool/block/512' at");
  EXPECT_EQ(failure_of("\"annotate\": [\"tiles/tile/9\"]"),
            "case.json:3: there is no 'tiles/tile/9' at step 1; of its key tiles there is 0 alone");
  EXPECT_EQ(failure_of("\"annotate\": [\"tiles/tile/0\", \"weights/key/2\"]"), "0 failures");
}

TEST(LessonCheck, AnExerciseIsCheckedInItsOwnRun) {
  const std::string exercise =
      R"("task": {"do": "x", "set": {"engine.block_size": 1}, "expect": {"block_table[A]": [0, 1, 2]}})";
  EXPECT_EQ(failure_of(exercise), "0 failures");
}

TEST(LessonText, IsMarkdownWithTheNumbersFilledIn) {
  const std::string text =
      describe_lesson(small_lesson(R"("predict": "How many?", "expect": {"score_dots": 6}, "notes": "slowly",
                      "task": {"do": "Click.", "expect": {"num_tokens": 3}})"),
                      DeviceChoice::simt);
  for (const char* part : {"# case", "## x", "**Predict first:** How many?", "3 tokens",
                           "- score dots per head: 6", "**Do it yourself:** Click.", "> Speaker: slowly"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

const fs::path& authoring() {
  static const fs::path kPath = testing::source_dir() / "assets/lessons/AUTHORING.md";
  return kPath;
}

TEST(Authoring, ItsExampleRunsAndItsNumbersComeOut) {
  const std::string page = testing::read_file(authoring());
  const std::string fence = "```json\n";
  const std::size_t begin = page.find(fence) + fence.size();
  ASSERT_GT(begin, fence.size());
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  const LessonReport report =
      check_lesson(parse_scenario(example, authoring().parent_path() / "example.json"), DeviceChoice::simt);
  for (const Failure& failure : report.failures) ADD_FAILURE() << failure.where << ": " << failure.text;
  EXPECT_EQ(report.stops, 3);
}

TEST(Authoring, ListsEveryFact) {
  const std::string page = testing::read_file(authoring());
  for (const trace::Fact& fact : trace::facts()) {
    EXPECT_NE(page.find("| `" + std::string(fact.name)), std::string::npos) << fact.name;
  }
}

}  // namespace
}  // namespace attn::app
