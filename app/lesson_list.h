// The lessons that the gallery shows, and what of each was seen and done.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/script.h"
#include "viz/lesson_view.h"

namespace attn::app {

/// Of one lesson, by the names of its stops: a lesson may get other stops, or in another order.
struct LessonProgress {
  std::vector<std::string> seen;  // stops
  std::vector<std::string> done;  // what was done: see guess_key, task_key and break_key
  std::string at = {};            // the stop that was told last
  bool operator==(const LessonProgress&) const = default;
};
/// By lesson_key.
using LessonsProgress = std::map<std::string, LessonProgress>;

/// 3 of "03-slots.json", 0 of the tour; nothing of a scenario that is no lesson.
std::optional<int> lesson_number(const std::filesystem::path& path);
/// "03-slots.json" of a bundled lesson, the whole path of another file.
std::string lesson_key(const std::filesystem::path& path);
/// What progress calls a stop's question with choices, answered right, the i-th of its tasks, and its "break
/// it" with the numbers that come of it.
std::string guess_key(const Stop& stop);
std::string task_key(const Stop& stop, std::size_t i);
std::string break_key(const Stop& stop);
/// Where a lesson goes on: the number of the stop that was told last, from 1; 0: at the beginning.
int resume_at(const Script& script, const LessonProgress& progress);
/// Adds a name; false when it is there already.
bool note_stop(std::vector<std::string>& names, const std::string& name);

/// Every bundled scenario that has stops, by file name: read, not run. One that cannot be read has a note
/// that says why. `recent`: files as they were opened, the last one first.
std::vector<viz::LessonCard> lesson_cards(const LessonsProgress& progress,
                                          const std::vector<std::string>& recent);

}  // namespace attn::app
