// `lessons`: which there are, and whether every number that they name comes out on this device.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/lessons.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

struct LessonsOptions {
  bool list = false;
  bool check = false;
  std::vector<int> numbers;  // empty: all
  std::string device = "auto";
};

std::vector<LessonFile> chosen(const std::vector<int>& numbers) {
  const std::vector<LessonFile> all = lesson_files();
  if (numbers.empty()) return all;
  std::vector<LessonFile> some;
  for (const int number : numbers) {
    const auto found = std::ranges::find(all, number, &LessonFile::number);
    if (found == all.end())
      throw InputError(fmt::format("there is no lesson {}; `lessons --list` shows them", number));
    some.push_back(*found);
  }
  return some;
}

int list_lessons(const std::vector<LessonFile>& lessons) {
  for (const LessonFile& lesson : lessons) {
    const Scenario scenario = load_scenario(lesson.path);
    fmt::print("{:2}  {:<36} {} ({} stops)\n", lesson.number, scenario.name, scenario.script.about,
               scenario.script.stops.size());
  }
  return 0;
}

/// One line for the lesson, one for each number that does not come out; false when there is one.
bool check_one(const LessonFile& lesson, DeviceChoice choice) {
  const auto begin = std::chrono::steady_clock::now();
  Scenario scenario;
  scenario.name = lesson.path.filename().string();
  LessonReport report;
  try {
    scenario = load_scenario(lesson.path);
    report = check_lesson(scenario, choice);
  } catch (const InputError& error) {
    report.failures.push_back({lesson.path.filename().string(), error.what()});
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::size_t wrong = report.failures.size();
  fmt::print("{:2}  {:<36} {:3} numbers at {:2} stops  {:>9}  {:5.1f} s\n", lesson.number, scenario.name,
             report.numbers, report.stops, wrong == 0 ? "ok" : fmt::format("{} wrong", wrong),
             seconds.count());
  for (const Failure& failure : report.failures) fmt::print("    {}: {}\n", failure.where, failure.text);
  std::fflush(stdout);
  return wrong == 0;
}

int lessons(const LessonsOptions& options) {
  const std::vector<LessonFile> some = chosen(options.numbers);
  if (!options.check) return list_lessons(some);
  const DeviceChoice choice = device_choice(options.device);
  const DevicePick pick = make_device(choice);
  if (!pick.note.empty()) fmt::print(stderr, "attnscope: {}\n", pick.note);
  fmt::print("on {}\n", pick.device->name());
  std::fflush(stdout);
  bool good = true;
  for (const LessonFile& lesson : some) good = check_one(lesson, choice) && good;
  return good ? 0 : 1;
}

}  // namespace

void add_lessons_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("lessons", "the bundled lessons: list them, or prove their numbers");
  auto options = std::make_shared<LessonsOptions>();
  auto* list = command->add_flag("--list", options->list, "titles and what each is about (the default)");
  command->add_flag("--check", options->check, "run them without a window and check every number they name")
      ->excludes(list);
  command->add_option("numbers", options->numbers, "of these lessons only: 1 10");
  add_device_option(*command, options->device);
  command->callback([options, &action] { action = [options] { return lessons(*options); }; });
}

}  // namespace attn::app
