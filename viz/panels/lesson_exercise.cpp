#include "viz/panels/lesson_exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::string_view kTick = "\xE2\x9C\x93";

/// An empty ring, or a tick: only the learner's own action fills it.
void draw_tick(const Ui& ui, const Rect& box, bool done) {
  fill(ui, box, ui[done ? Color::ok : Color::panel], 1.0F, box.w * 0.5F);
  outline(ui, box, ui[done ? Color::ok : Color::stroke], std::max(1.5F, ui.px(2)), box.w * 0.5F);
  if (done) text_in(ui, FontRole::strong, box, ui[Color::panel], kTick, Align::center);
}

/// "Your turn, 2 of 3", and of a walk how far one has come.
std::string title_of(const LessonNow& lesson, const ExerciseNow& exercise) {
  std::string title = exercise.done ? "Done" : "Your turn";
  if (!exercise.done && lesson.num_tasks > 1)
    title += fmt::format(", {} of {}", std::min(lesson.tasks_done + 1, lesson.num_tasks), lesson.num_tasks);
  if (!exercise.done && exercise.places > 0)
    title += fmt::format("  \xC2\xB7  {} of {} places", exercise.passed, exercise.places);
  return title;
}

/// The numbers of what is broken or done; of a task in hand those of the one before, or what is wrong.
struct Found {
  std::string text;
  Color ink = Color::ok;
  const char* mark = "lesson/proof";
};

Found found_of(const LessonNow& lesson, const ExerciseNow& exercise) {
  if (broken_now(lesson)) return {exercise.proof, Color::text};
  if (exercise.done) return {exercise.proof.empty() ? lesson.task_proof : exercise.proof};
  if (!exercise.missed.empty()) return {exercise.missed, Color::warning, "lesson/missed"};
  return {lesson.task_proof.empty() ? "" : fmt::format("{} {}", kTick, lesson.task_proof)};
}

/// How the lines under the title are shared: the text gets what it needs, the numbers at least one line and
/// whatever is left. Of what is broken the numbers come first: what they are is the point of breaking it.
struct Lines {
  int text = 0, found = 0;
};

Lines share_lines(int room, int text, int found, bool found_first) {
  if (found == 0) return {room, 0};
  const int most = found_first ? room - 1 : std::max(1, room - text);
  const int numbers = std::clamp(found, std::min(1, room), std::max(1, most));
  return {std::max(0, room - numbers), numbers};
}

}  // namespace

bool broken_now(const LessonNow& lesson) { return lesson.break_it && lesson.break_it->on; }

const ExerciseNow* at_hand(const LessonNow& lesson) {
  if (lesson.asking) return nullptr;
  if (broken_now(lesson)) return &*lesson.break_it;
  return lesson.task ? &*lesson.task : nullptr;
}

int lines_of(const Ui& ui, FontRole role, std::string_view text, float width) {
  return static_cast<int>(std::lround(wrapped_height(ui, role, width, text) / line_step(role)));
}

void draw_exercise(Ui& ui, const Rect& box) {
  const LessonNow& lesson = *ui.frame.lesson;
  const ExerciseNow& exercise = *at_hand(lesson);
  const bool broken = broken_now(lesson);
  const Color edge = broken ? Color::error : exercise.done ? Color::ok : Color::border;
  fill(ui, box, ui[Color::raised], 1.0F, ui.px(5));
  outline(ui, box, ui[edge], std::max(1.0F, ui.px(edge == Color::border ? 1.0F : 1.5F)), ui.px(5));
  const float side = ui.px(22), pad = ui.px(8), line_h = line_step(FontRole::small);
  float x = box.x + pad;
  if (!broken) {
    draw_tick(ui, {x, box.y + ui.px(8), side, side}, exercise.done);
    x += side + ui.px(9);
  }
  const float w = box.right() - pad - x;
  float y = box.y + ui.px(5);
  const Color ink = broken ? Color::error : exercise.done ? Color::ok : Color::accent;
  text_in(ui, FontRole::strong, {x, y, w, line_h}, ui[ink],
          broken ? "Broken on purpose" : title_of(lesson, exercise), Align::left);
  y += line_h;
  const Found found = found_of(lesson, exercise);
  const int room = std::max(0, static_cast<int>((box.bottom() - ui.px(4) - y) / line_h));
  const Lines lines =
      share_lines(room, lines_of(ui, FontRole::small, exercise.text, w),
                  found.text.empty() ? 0 : lines_of(ui, FontRole::mono, found.text, w), broken);
  const auto high = [&](int count) { return static_cast<float>(count) * line_h; };
  if (lines.text > 0)
    text_wrapped(ui, FontRole::small, {x, y, w, high(lines.text)}, ui[Color::text], exercise.text,
                 Align::left, lines.text);
  mark(ui,
       broken          ? "lesson/broken"
       : exercise.done ? "lesson/done"
                       : "lesson/task",
       box, exercise.text, lesson.where);
  if (lines.found == 0) return;
  const Rect proof{x, box.bottom() - ui.px(4) - high(lines.found), w, high(lines.found)};
  text_wrapped(ui, FontRole::mono, proof, ui[found.ink], found.text, Align::left, lines.found);
  mark(ui, found.mark, proof, found.text, "facts of the run that is open");
}

}  // namespace attn::viz
