#include "viz/panels/lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "viz/keys.h"
#include "viz/layout/panel_names.h"
#include "viz/panels/block_arrows.h"
#include "viz/panels/lesson_exercise.h"
#include "viz/panels/lesson_hands.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kSteps = 150.0F;    // width of the left column
constexpr float kBreaker = 96.0F;   // of the button at the right
constexpr float kTwoRows = 120.0F;  // from this height on, an exercise has room below in a narrow strip
constexpr float kOneRow = 1080.0F;  // from this width on, it stands at the right
constexpr float kMargin = 7.0F;     // above and below
constexpr float kShowGap = 14.0F;   // between a question and its button
constexpr std::string_view kShow = "Show  (Space)";
constexpr std::string_view kRight = "\xE2\x9C\x93";

struct Parts {
  Rect steps;     // which stop, of how many
  Rect told;      // caption, or the question; h = 0: no room
  Rect hands;     // what can be turned, under it; h = 0: nothing, or no room
  Rect exercise;  // w = 0: none, or no room
  Rect breaker;   // w = 0: nothing to break
};

Parts parts_of(const Ui& ui, const Rect& rect) {
  const LessonNow& lesson = *ui.frame.lesson;
  const float gap = ui.px(12);
  Rect rest{rect.x + ui.px(10), rect.y + ui.px(kMargin), rect.w - ui.px(20), rect.h - 2.0F * ui.px(kMargin)};
  const bool two_rows = rect.w < ui.px(kOneRow) && rect.h >= ui.px(kTwoRows);
  const bool one_row = rect.w >= ui.px(kOneRow);
  Parts parts;
  const auto from_left = [&](float w) {
    const Rect piece{rest.x, rest.y, w, rest.h};
    rest.x += w + gap;
    rest.w -= w + gap;
    return piece;
  };
  const auto from_right = [&](float w) {
    rest.w -= w + gap;
    return Rect{rest.right() + gap, rest.y, w, rest.h};
  };
  parts.steps = from_left(ui.px(kSteps));
  if (lesson.break_it && !lesson.asking && rest.w > ui.px(420)) parts.breaker = from_right(ui.px(kBreaker));
  if (at_hand(lesson) != nullptr && one_row) parts.exercise = from_right(std::floor(rest.w * 0.34F));
  if (at_hand(lesson) != nullptr && two_rows) {
    // While it is broken, what the stop says does not hold: the room is the exercise's alone.
    const float h = broken_now(lesson) ? rest.h : std::floor(rest.h * 0.52F);
    parts.exercise = {rest.x, rest.bottom() - h, rest.w, h};
    rest.h = std::max(0.0F, rest.h - h - ui.px(4));
  }
  if (const float h = ui.px(kHandsRow); has_hands(lesson) && !broken_now(lesson) && rest.h >= h + ui.px(20)) {
    rest.h -= h;
    parts.hands = {rest.x, rest.bottom(), rest.w, h};
    rest.h -= ui.px(3);
  }
  parts.told = rest;
  return parts;
}

/// One segment per stop: those passed, the one told, those to come.
void draw_way(const Ui& ui, const Rect& bar) {
  const LessonNow& lesson = *ui.frame.lesson;
  const auto count = static_cast<float>(std::max(1, lesson.num_stops));
  const float gap = lesson.num_stops <= 30 ? ui.px(2) : 0.0F;
  const float w = (bar.w - gap * (count - 1.0F)) / count;
  for (int i = 0; i < lesson.num_stops; ++i) {
    const float x = bar.x + (w + gap) * static_cast<float>(i);
    fill(ui, {x, bar.y, w, bar.h}, ui[i <= lesson.stop ? Color::accent : Color::stroke],
         i == lesson.stop ? 1.0F : 0.55F, ui.px(1));
  }
}

void draw_steps(Ui& ui, const Rect& box) {
  const LessonNow& lesson = *ui.frame.lesson;
  const float side = ui.px(26);
  const Rect back{box.x, box.y, side, side};
  const Rect forward{box.right() - side, box.y, side, side};
  const auto go = [&](int by) {
    run_key(KeyAction::next_stop, by, ui.frame, ui.selection, ui.view, ui.commands);
  };
  if (button(ui, "lesson/previous", back, "\xE2\x80\xB9", "previous stop (PageUp)", lesson.stop > 0)) go(-1);
  const bool last = lesson.stop + 1 >= lesson.num_stops;
  if (button(ui, "lesson/next", forward, "\xE2\x80\xBA",
             last ? "this is the last stop" : "next stop (PageDown)", lesson.asking || !last, !last))
    go(1);
  const Rect count{back.right(), box.y, forward.x - back.right(), side};
  const std::string text = fmt::format("{} of {}", lesson.stop + 1, lesson.num_stops);
  text_in(ui, FontRole::strong, count, ui[Color::text], text, Align::center);
  if (mark(ui, "lesson/stop", count, fmt::format("{}: stop {}, {}", lesson.title, text, lesson.name),
           fmt::format("{}; click: all lessons (Ctrl+L)", lesson.where))
          .clicked)
    ui.view.shell.open(Overlay::lessons);
  const float way_h = ui.px(4);
  const Rect name{box.x, box.y + side + ui.px(3), box.w, box.h - side - way_h - ui.px(6)};
  const int lines = std::max(1, static_cast<int>(name.h / line_step(FontRole::small)));
  text_wrapped(ui, FontRole::small, name, ui[Color::muted], lesson.name, Align::center, std::min(lines, 2));
  draw_way(ui, {box.x, box.bottom() - way_h, box.w, way_h});
}

int room_of(const Rect& box, FontRole role) { return std::max(1, static_cast<int>(box.h / line_step(role))); }

/// The largest of the mode's letters in which the box holds the text, if any.
std::optional<FontRole> fitting_role(const Ui& ui, const Rect& box, const std::string& text) {
  const bool present = ui.view.mode == ScreenMode::present;
  const FontRole roles[] = {present ? FontRole::caption : FontRole::text,
                            present ? FontRole::title : FontRole::small, FontRole::small};
  const auto* role = std::ranges::find_if(
      roles, [&](FontRole one) { return lines_of(ui, one, text, box.w) <= room_of(box, one); });
  return role == std::end(roles) ? std::nullopt : std::optional(*role);
}

/// In the largest letters that fit, else cut in the smallest; in the middle of the box.
void draw_sentences(Ui& ui, const Rect& box, Rgb ink, const std::string& text) {
  const FontRole role = fitting_role(ui, box, text).value_or(FontRole::small);
  const int lines = std::min(room_of(box, role), lines_of(ui, role, text, box.w));
  const float h = static_cast<float>(lines) * line_step(role);
  text_wrapped(ui, role, {box.x, box.y + std::max(0.0F, std::floor((box.h - h) * 0.5F)), box.w, h}, ink, text,
               Align::left, lines);
}

Rect below_heading(const Rect& box) {
  const float h = line_step(FontRole::small);
  return {box.x, box.y + h, box.w, box.h - h};
}

/// A small heading, and what is below it.
Rect under_heading(Ui& ui, const Rect& box, Rgb ink, std::string_view heading) {
  text_in(ui, FontRole::small, {box.x, box.y, box.w, line_step(FontRole::small)}, ink, heading, Align::left);
  return below_heading(box);
}

float show_width(const Ui& ui) { return text_width(ui, FontRole::strong, kShow) + ui.px(24); }

/// The question instead of the caption; what it asks for stays covered until it is answered.
void draw_question(Ui& ui, const Rect& box) {
  const LessonNow& lesson = *ui.frame.lesson;
  const float w = show_width(ui);
  const float h = ui.px(32);
  const Rect show{box.right() - w, box.y + std::floor((box.h - h) * 0.5F), w, h};
  if (button(ui, "lesson/show", show, kShow, "guess first, then compare", true, true))
    send(ui, Command::Kind::answer);
  Rect text{box.x, box.y, show.x - box.x - ui.px(kShowGap), box.h};
  // All of the question, before that it is one: the button says it too.
  if (fitting_role(ui, below_heading(text), lesson.question))
    text = under_heading(ui, text, ui[Color::accent], "Guess first");
  draw_sentences(ui, text, ui[Color::text], lesson.question);
  mark(ui, "lesson/question", text, lesson.question, lesson.where);
}

/// What the stop says holds for its own run, which is not the one on screen now. Where the break it has no
/// box of its own, its text stands here instead.
void draw_told_while_broken(Ui& ui, const Rect& box, bool has_own_box) {
  const LessonNow& lesson = *ui.frame.lesson;
  if (!has_own_box) return draw_exercise(ui, box);
  const Rect rest = under_heading(ui, box, ui[Color::error], "Before it was broken");
  draw_sentences(ui, rest, ui[Color::muted], lesson.caption);
  mark(ui, "lesson/before", rest, lesson.caption,
       fmt::format("{}; its numbers are facts of the run that is not broken", lesson.where));
}

/// What was picked, and whether it was right: before what is told.
std::string guess_verdict(const LessonNow& lesson) {
  if (lesson.guessed < 0 || lesson.right < 0) return {};
  const std::string& guess = lesson.choices[static_cast<std::size_t>(lesson.guessed)];
  return lesson.guessed == lesson.right ? fmt::format("{} You said {}: right.", kRight, guess)
                                        : fmt::format("You said {}; it is {}.", guess,
                                                      lesson.choices[static_cast<std::size_t>(lesson.right)]);
}

/// One small line; what is left of the box.
Rect draw_guess_verdict(Ui& ui, const Rect& box) {
  const LessonNow& lesson = *ui.frame.lesson;
  const std::string said = guess_verdict(lesson);
  const float h = line_step(FontRole::small);
  if (said.empty() || box.h < 2.0F * h) return box;
  const Rect line_box{box.x, box.y, box.w, h};
  text_in(ui, FontRole::strong, line_box, ui[lesson.guessed == lesson.right ? Color::ok : Color::warning],
          said, Align::left);
  mark(ui, "lesson/verdict", line_box, said, "the answer is a fact of this run");
  return {box.x, box.y + h, box.w, box.h - h};
}

void draw_told(Ui& ui, const Rect& box, bool exercise_has_box) {
  const LessonNow& lesson = *ui.frame.lesson;
  if (box.h <= 0.0F) return;
  if (lesson.asking) return draw_question(ui, box);
  if (!lesson.ready) {
    draw_sentences(ui, box, ui[Color::muted], "computing what this stop shows\xE2\x80\xA6");
    return;
  }
  if (broken_now(lesson)) return draw_told_while_broken(ui, box, exercise_has_box);
  // In a run that was started over by hand it is told of the other one.
  const bool by_hand = lesson.outbox && lesson.outbox->sent >= 0;
  draw_sentences(ui, draw_guess_verdict(ui, box), ui[by_hand ? Color::muted : Color::text], lesson.caption);
  mark(ui, "lesson/caption", box, lesson.caption,
       fmt::format("{}; its numbers are facts of this run", lesson.where));
}

void draw_breaker(Ui& ui, const Rect& box) {
  const ExerciseNow& exercise = *ui.frame.lesson->break_it;
  const float h = ui.px(30);
  const Rect place{box.x, box.y + std::floor((box.h - h) * 0.5F), box.w, h};
  if (button(ui, "lesson/break", place,
             exercise.on     ? "Mend it"
             : exercise.done ? std::string(kRight) + " Break it"
                             : "Break it",
             exercise.on ? "everything right again (R)" : exercise.text + " (R)", true, exercise.on))
    run_key(KeyAction::break_lesson, 0, ui.frame, ui.selection, ui.view, ui.commands);
}

/// The rectangle that a ring's name stands for: a mark, or a whole panel; w = 0: not on screen.
Rect ringed(const Ui& ui, const ScreenLayout& layout, const std::string& name) {
  if (const PanelId id = panel_named(name); id != PanelId::count_) return layout[id];
  const auto found = ui.marks.get(name);
  return found ? found->rect : Rect{};
}

Rect widened(const Rect& r, float by) { return {r.x - by, r.y - by, r.w + 2.0F * by, r.h + 2.0F * by}; }

void paint_cover(Ui& ui, const Rect& ring, float thick) {
  fill(ui, ring, ui[Color::raised], 1.0F, ui.px(4));
  outline(ui, ring, ui[Color::accent], thick, ui.px(4));
  if (ring.h >= font_pixels(FontRole::small))
    text_in(ui, ring.h >= ui.px(40) ? FontRole::title : FontRole::small, ring, ui[Color::accent], "?",
            Align::center);
}

/// A window of its own: the mouse over it is not over what it hides. Under an overlay, which has the mouse,
/// it is painted on the layer above the panels: a window could come up over the overlay.
void draw_cover(Ui& ui, const std::string& name, const Rect& ring, float thick, const Rect& screen) {
  if (ui.view.shell.overlay != Overlay::none) {
    begin_front_layer(ui, screen);
    paint_cover(ui, ring, thick);
    return end_panel(ui);
  }
  if (!begin_panel(ui, name.c_str(), ring, {}, {}, PanelLook::dialog)) return;
  paint_cover(ui, ring, thick);
  end_panel(ui);
  ui.panel_name = {};
}

}  // namespace

void draw_lesson(Ui& ui, const char* panel, const Rect& rect) {
  if (!begin_panel(ui, panel, rect, {}, {}, PanelLook::bar)) return;
  const Parts parts = parts_of(ui, rect);
  draw_steps(ui, parts.steps);
  draw_told(ui, parts.told, parts.exercise.w > 0.0F);
  if (parts.hands.h > 0.0F) draw_hands(ui, parts.hands);
  if (parts.exercise.w > 0.0F) draw_exercise(ui, parts.exercise);
  if (parts.breaker.w > 0.0F) draw_breaker(ui, parts.breaker);
  end_panel(ui);
}

void draw_rings(Ui& ui, const ScreenLayout& layout, const Rect& screen) {
  if (ui.view.teach.blank) return;
  const bool told = ui.frame.lesson && ui.frame.lesson->ready;
  const bool asking = told && ui.frame.lesson->asking;
  // Rings would lie over an overlay; what a question hides stays hidden below it.
  if (ui.view.shell.overlay != Overlay::none && !asking) return;
  const float out = std::round(ui.px(2)), thick = std::max(2.0F, std::round(ui.px(2)));
  for (const std::string& name : told ? ui.frame.lesson->rings : ui.view.picture.ringed) {
    const Rect r = ringed(ui, layout, name);
    if (r.w <= 0.0F) continue;
    const Rect ring = widened(r, asking ? out : out + thick);
    if (asking) {
      draw_cover(ui, "cover/" + name, ring, thick, screen);
    } else {
      ui.draw = ImGui::GetForegroundDrawList();
      // Dashed, on a strip of its own: it stands out from whatever colour is under it, and no border in the
      // panels looks like it.
      outline(ui, ring, ui[Color::panel], thick + out, ui.px(3));
      dashed(ui, ring, ui[Color::warning], thick);
    }
    ui.marks.add("ring/" + name, ring, asking ? "hidden until you have guessed" : "");
  }
  ui.draw = nullptr;
}

}  // namespace attn::viz
