#include "app/lesson_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/files.h"
#include "app/scenario.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void count(const Script& script, const LessonProgress& progress, viz::LessonCard& card) {
  card.about = script.about;
  for (const Stop& stop : script.stops) {
    ++card.stops;
    if (holds(progress.seen, stop.name)) ++card.seen;
    const auto count_task = [&](const std::string& key) {
      ++card.tasks;
      if (holds(progress.done, key)) ++card.done;
    };
    if (!stop.choices.empty()) count_task(guess_key(stop));
    for (std::size_t i = 0; i < stop.tasks.size(); ++i) count_task(task_key(stop, i));
  }
}

}  // namespace

int lesson_number(const fs::path& path) {
  const std::string name = path.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && *end == '-' ? number : 0;
}

std::string lesson_key(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  const fs::path bundled = fs::weakly_canonical(assets_dir() / "lessons", error);
  return whole.parent_path() == bundled ? whole.filename().string() : whole.string();
}

std::string guess_key(const Stop& stop) { return stop.name + ": guess"; }

std::string task_key(const Stop& stop, std::size_t i) {
  return i == 0 ? stop.name : fmt::format("{}: task {}", stop.name, i + 1);
}

bool note_stop(std::vector<std::string>& names, const std::string& name) {
  if (holds(names, name)) return false;
  names.push_back(name);
  return true;
}

std::vector<viz::LessonCard> lesson_cards(const LessonsProgress& progress) {
  std::vector<viz::LessonCard> cards;
  for (const std::string& path : bundled_scenarios()) {
    const int number = lesson_number(path);
    viz::LessonCard card{.path = path,
                         .number = number > 0 ? std::to_string(number) : "",
                         .title = fs::path(path).stem().string(),
                         .about = {}};
    try {
      const Scenario scenario = load_scenario(path);
      if (scenario.script.empty()) continue;
      card.title = scenario.name;
      const auto found = progress.find(lesson_key(path));
      count(scenario.script, found == progress.end() ? LessonProgress{} : found->second, card);
    } catch (const InputError& error) {
      card.note = error.what();
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace attn::app
