// The bundled lessons: which there are, and whether their numbers come out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/script_runs.h"

namespace attn::app {

struct LessonFile {
  int number = 0;              // 1 .. 12, from the file's name
  std::filesystem::path path;  // assets/lessons/01-two-jobs.json
};

/// In order of their numbers.
std::vector<LessonFile> lesson_files();

struct LessonReport {
  int stops = 0;
  int numbers = 0;  // expectations checked
  std::vector<Failure> failures;
};
/// Runs everything that a scenario's script needs and checks every number that it names. Throws InputError
/// when a run cannot be run.
LessonReport check_lesson(const Scenario& lesson, DeviceChoice choice);

/// The lesson as Markdown with its numbers filled in: the text twin of its film.
/// With `stop` (from 1, one that there is) that stop alone.
std::string describe_lesson(const Scenario& lesson, DeviceChoice choice, std::optional<int> stop = {});

}  // namespace attn::app
