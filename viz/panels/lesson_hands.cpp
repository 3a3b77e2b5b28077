#include "viz/panels/lesson_hands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/keys.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::size_t kMostButtons = 4;  // of a handle with more values a slider is made
constexpr float kSlider = 190.0F;        // its width at scale 1

void ask_for(Ui& ui, Command::Kind kind, const std::string& text, const std::string& value) {
  Command command;
  command.kind = kind;
  command.text = text;
  command.value = value;
  ui.commands.push_back(std::move(command));
}

/// Takes its width off the row; where there is none left, w = 0.
Rect cut_off(Rect& row, float w, float gap) {
  if (w > row.w) return {};
  const Rect box{row.x, row.y, w, row.h};
  row.x += w + gap;
  row.w -= w + gap;
  return box;
}

void turn(Ui& ui, const Handle& handle, int to) {
  if (to < 0 || to >= std::ssize(handle.labels) || to == handle.at) return;
  ask_for(ui, Command::Kind::turn_handle, handle.name, handle.labels[static_cast<std::size_t>(to)]);
}

/// One button for each value, joined; the one in force is lit.
void draw_values(Ui& ui, const Handle& handle, Rect& row) {
  for (std::size_t i = 0; i < handle.labels.size(); ++i) {
    const std::string& label = handle.labels[i];
    const Rect box = cut_off(row, text_width(ui, FontRole::strong, label) + ui.px(16), ui.px(3));
    if (box.w <= 0.0F) return;
    const bool on = static_cast<int>(i) == handle.at;
    // The second half of a double click was meant for what stood here before: the answers of a question.
    const bool meant = !ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    if (button(ui, fmt::format("lesson/turn/{}/{}", handle.name, label), box, label,
               on ? "in force" : fmt::format("{}: {}", handle.name, label), true, on) &&
        meant)
      turn(ui, handle, static_cast<int>(i));
  }
}

/// Dragged, or by its two buttons; every place of it is a run of its own.
void draw_slider(Ui& ui, const Handle& handle, Rect& row) {
  const int last = static_cast<int>(handle.labels.size()) - 1;
  const std::string name = "lesson/turn/" + handle.name;
  const Rect less = cut_off(row, row.h, ui.px(4));
  const Rect track = cut_off(row, ui.px(kSlider), ui.px(4));
  const Rect more = cut_off(row, row.h, ui.px(8));
  if (more.w <= 0.0F) return;
  if (button(ui, name + "/less", less, "\xE2\x88\x92", "one less", handle.at > 0))
    turn(ui, handle, handle.at - 1);
  if (button(ui, name + "/more", more, "+", "one more", handle.at < last)) turn(ui, handle, handle.at + 1);
  const float knob = ui.px(7);
  const float from = track.x + knob, length = track.w - 2.0F * knob;
  const float y = track.y + track.h * 0.5F;
  const auto x_of = [&](int i) { return from + length * static_cast<float>(i) / static_cast<float>(last); };
  fill(ui, {from, y - ui.px(2), length, ui.px(4)}, ui[Color::border], 1.0F, ui.px(2));
  for (int i = 0; i <= last; ++i)
    fill(ui, {x_of(i) - ui.px(1), y - ui.px(5), ui.px(2), ui.px(10)}, ui[Color::stroke]);
  if (handle.at >= 0) {
    fill(ui, {from, y - ui.px(2), x_of(handle.at) - from, ui.px(4)}, ui[Color::accent], 1.0F, ui.px(2));
    ui.draw->AddCircleFilled({x_of(handle.at), y}, knob, rgba(ui[Color::accent]));
  }
  // No tooltip: it would lie over what is dragged.
  ui.marks.add(name, track, handle.at < 0 ? "" : handle.labels[static_cast<std::size_t>(handle.at)],
               handle.name + ": drag, or use the buttons at its ends");
  const ImGuiIO& io = ImGui::GetIO();
  const Rect grip{track.x, track.y, track.w, track.h};
  const bool begun = ui.mouse_here && grip.contains(io.MouseClickedPos[0].x, io.MouseClickedPos[0].y);
  if (!begun || !ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const float share = std::clamp((io.MousePos.x - from) / std::max(1.0F, length), 0.0F, 1.0F);
  turn(ui, handle, static_cast<int>(std::lround(share * static_cast<float>(last))));
}

void draw_handle(Ui& ui, const Handle& handle, Rect& row) {
  const std::string value = handle.at < 0 ? "" : handle.labels[static_cast<std::size_t>(handle.at)];
  const bool slides = handle.labels.size() > kMostButtons;
  const std::string title = slides ? fmt::format("{} = {}", handle.name, value) : handle.name;
  const Rect name = cut_off(row, text_width(ui, FontRole::strong, title), ui.px(8));
  if (name.w <= 0.0F) return;
  text_in(ui, FontRole::strong, name, ui[Color::text], title, Align::left);
  mark(ui, "lesson/handle/" + handle.name, name, title, "the run is made again with what you choose");
  if (slides) {
    draw_slider(ui, handle, row);
  } else {
    draw_values(ui, handle, row);
  }
  cut_off(row, ui.px(6), 0.0F);
}

/// "Start over", then a button for the next request, and one for the next step.
void draw_outbox(Ui& ui, const Outbox& outbox, Rect& row) {
  const auto wide = [&](std::string_view label) {
    return text_width(ui, FontRole::strong, label) + ui.px(18);
  };
  const bool begun = outbox.sent >= 0;
  const char* over = "Start over";
  if (button(ui, "lesson/start_over", cut_off(row, wide(over), ui.px(6)), over,
             "the engine anew, with no request: you send them", true, !begun))
    send(ui, Command::Kind::start_over);
  if (!begun) return;
  const int count = static_cast<int>(outbox.labels.size());
  // It keeps its place when all are sent: a second click on it must not meet the step's button.
  const bool more = outbox.sent < count;
  constexpr std::string_view kAllSent = "All sent";
  const auto send_label = [](const std::string& request) { return "Send " + request; };
  float send_w = wide(kAllSent);
  for (const std::string& request : outbox.labels) send_w = std::max(send_w, wide(send_label(request)));
  const Rect send_box = cut_off(row, send_w, ui.px(6));
  if (send_box.w > 0.0F &&
      button(ui, "lesson/send", send_box,
             more ? send_label(outbox.labels[static_cast<std::size_t>(outbox.sent)]) : std::string(kAllSent),
             more ? "it enters with the next step" : "every request of this stop is sent", more, more))
    send(ui, Command::Kind::send_request);
  const char* step = "Step  \xE2\x86\x92";
  const bool can = outbox.waiting > 0 || ui.frame.engine_has_work;
  const Rect box = cut_off(row, wide(step), ui.px(8));
  if (box.w > 0.0F && button(ui, "lesson/step", box, step,
                             can ? "one engine step" : "there is nothing to do: send a request", can))
    run_key(KeyAction::step_forward, 0, ui.frame, ui.selection, ui.view, ui.commands);
  const std::string said = outbox.sent == 0      ? "nothing is sent yet"
                           : outbox.waiting == 0 ? fmt::format("{} of {} sent", outbox.sent, count)
                                                 : fmt::format("{} of {} sent, {} waiting for the next step",
                                                               outbox.sent, count, outbox.waiting);
  text_in(ui, FontRole::small, row, ui[Color::muted], said, Align::left);
  mark(ui, "lesson/outbox", row, said, "requests sent by hand in this run");
}

void draw_answers(Ui& ui, const LessonNow& lesson, Rect row) {
  for (std::size_t i = 0; i < lesson.choices.size(); ++i) {
    const std::string& label = lesson.choices[i];
    const Rect box = cut_off(row, text_width(ui, FontRole::strong, label) + ui.px(20), ui.px(6));
    if (box.w <= 0.0F) return;
    if (button(ui, fmt::format("lesson/choice/{}", i + 1), box, label,
               fmt::format("this is my guess (key {})", i + 1)))
      send(ui, Command::Kind::answer, static_cast<int>(i) + 1);
  }
}

}  // namespace

bool has_hands(const LessonNow& lesson) {
  if (lesson.asking) return !lesson.choices.empty();
  return !lesson.handles.empty() || lesson.outbox.has_value();
}

void draw_hands(Ui& ui, const Rect& row) {
  const LessonNow& lesson = *ui.frame.lesson;
  if (lesson.asking) return draw_answers(ui, lesson, row);
  Rect rest = row;
  for (const Handle& handle : lesson.handles) draw_handle(ui, handle, rest);
  if (lesson.outbox) draw_outbox(ui, *lesson.outbox, rest);
}

}  // namespace attn::viz
