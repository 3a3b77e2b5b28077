#include "app/lessons.h"

#include <fmt/format.h>

#include "app/files.h"
#include "app/lesson_list.h"
#include "core/trace/fact_words.h"

namespace attn::app {
namespace {

int count_numbers(const Stop& stop) {
  std::size_t count = stop.expect.size() + (stop.choices.empty() ? 0 : 1);
  for (const Exercise& task : stop.tasks) count += task.expect.size();
  if (stop.break_it) count += stop.break_it->expect.size();
  return static_cast<int>(count);
}

std::string in_words(const std::string& fact) { return trace::words_of(trace::parse_fact(fact), kMainRun); }

void describe_exercise(std::string& out, const char* title, const Stop& stop, const Exercise& exercise,
                       ScriptRuns& runs) {
  out += fmt::format("\n**{}** {}\n", title, runs.fill_in(exercise.text, stop, exercise));
  for (const auto& [name, value] : exercise.switches) out += fmt::format("- Switch {} = {}\n", name, value);
  for (const auto& [label, step] : exercise.sent)
    out += fmt::format("- Send {} after {} steps\n", label, step);
  for (const Expectation& one : exercise.expect) {
    out += fmt::format("- {}: {}\n", in_words(one.fact), runs.value_text(one.fact, stop, exercise));
  }
}

void describe_stop(std::string& out, const Stop& stop, ScriptRuns& runs) {
  out += fmt::format("\n## {}\n\n", stop.name);
  if (!stop.predict.empty())
    out += fmt::format("**Predict first:** {}\n\n", runs.fill_in(stop.predict, stop));
  for (const std::string& choice : stop.choices) out += fmt::format("- [ ] {}\n", runs.fill_in(choice, stop));
  if (!stop.choices.empty()) out += "\n";
  out += runs.fill_in(stop.caption, stop) + "\n";
  if (!stop.expect.empty()) out += "\n";
  for (const Expectation& one : stop.expect) {
    out += fmt::format("- {}: {}\n", in_words(one.fact), runs.value_text(one.fact, stop));
  }
  for (const Exercise& task : stop.tasks) describe_exercise(out, "Do it yourself:", stop, task, runs);
  if (stop.break_it) describe_exercise(out, "Break it:", stop, *stop.break_it, runs);
  if (!stop.notes.empty()) out += fmt::format("\n> Speaker: {}\n", runs.fill_in(stop.notes, stop));
}

}  // namespace

std::vector<LessonFile> lesson_files() {
  std::vector<LessonFile> lessons;
  for (const std::string& path : bundled_scenarios()) {
    if (const std::optional<int> number = lesson_number(path)) lessons.push_back({*number, path});
  }
  return lessons;
}

LessonReport check_lesson(const Scenario& lesson, DeviceChoice choice) {
  LessonReport report;
  ScriptRuns runs(lesson, choice);
  for (const Stop& stop : lesson.script.stops) {
    ++report.stops;
    report.numbers += count_numbers(stop);
    for (Failure& failure : runs.check(stop)) report.failures.push_back(std::move(failure));
  }
  return report;
}

std::string describe_lesson(const Scenario& lesson, DeviceChoice choice, std::optional<int> stop) {
  ScriptRuns runs(lesson, choice);
  std::string out = fmt::format("# {}\n", lesson.name);
  if (!lesson.script.about.empty()) out += fmt::format("\n{}\n", lesson.script.about);
  const std::vector<Stop>& stops = lesson.script.stops;
  if (stop) {
    describe_stop(out, stops[static_cast<std::size_t>(*stop - 1)], runs);
  } else {
    for (const Stop& one : stops) describe_stop(out, one, runs);
  }
  return out;
}

}  // namespace attn::app
