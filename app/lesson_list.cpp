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
    if (stop.break_it) count_task(break_key(stop));
  }
  card.at = resume_at(script, progress);
}

/// The lesson among them that was open last; nothing where none was.
void note_last(const std::vector<std::string>& recent, std::vector<viz::LessonCard>& cards) {
  for (const std::string& file : recent) {
    const auto card = std::ranges::find(cards, lesson_key(file),
                                        [](const viz::LessonCard& one) { return lesson_key(one.path); });
    if (card == cards.end()) continue;
    card->last = true;
    return;
  }
}

}  // namespace

std::optional<int> lesson_number(const fs::path& path) {
  const std::string name = path.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || *end != '-') return std::nullopt;
  return number;
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

std::string break_key(const Stop& stop) { return stop.name + ": break it"; }

int resume_at(const Script& script, const LessonProgress& progress) {
  const auto at = std::ranges::find(script.stops, progress.at, &Stop::name);
  return at == script.stops.end() ? 0 : static_cast<int>(at - script.stops.begin()) + 1;
}

bool note_stop(std::vector<std::string>& names, const std::string& name) {
  if (holds(names, name)) return false;
  names.push_back(name);
  return true;
}

std::vector<viz::LessonCard> lesson_cards(const LessonsProgress& progress,
                                          const std::vector<std::string>& recent) {
  std::vector<viz::LessonCard> cards;
  for (const std::string& path : bundled_scenarios()) {
    const int number = lesson_number(path).value_or(0);
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
  note_last(recent, cards);
  return cards;
}

}  // namespace attn::app
