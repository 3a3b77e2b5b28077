#include "viz/panels/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

enum class Icon : unsigned char { first, back, play, pause, forward, last };

/// Drawn, not typed: the same on every font.
void draw_icon(const Ui& ui, const Rect& box, Icon icon, Rgb color) {
  const float s = ui.px(5);
  const float cx = box.x + box.w * 0.5F;
  const float cy = box.y + box.h * 0.5F;
  const ImU32 c = rgba(color);
  const auto right = [&](float x) {
    ui.draw->AddTriangleFilled({x - s, cy - s}, {x + s, cy}, {x - s, cy + s}, c);
  };
  const auto left = [&](float x) {
    ui.draw->AddTriangleFilled({x + s, cy - s}, {x + s, cy + s}, {x - s, cy}, c);
  };
  const auto post = [&](float x) {
    fill(ui, {std::round(x - s * 0.3F), cy - s, std::max(2.0F, s * 0.6F), 2.0F * s}, color);
  };
  switch (icon) {
    case Icon::first:
      post(cx - s);
      left(cx + s * 0.4F);
      break;
    case Icon::back:
      left(cx);
      break;
    case Icon::play:
      right(cx);
      break;
    case Icon::pause:
      post(cx - s * 0.7F);
      post(cx + s * 0.7F);
      break;
    case Icon::forward:
      right(cx);
      break;
    case Icon::last:
      right(cx - s * 0.4F);
      post(cx + s);
      break;
  }
}

float draw_button(Ui& ui, float x, float y, const char* name, Icon icon, const char* tip, bool enabled,
                  bool lit, Command::Kind kind) {
  const Rect box{x, y, ui.px(kind == Command::Kind::toggle_play ? 40 : 28), ui.px(26)};
  if (button(ui, fmt::format("timeline/{}", name), box, "", tip, enabled, lit)) send(ui, kind);
  draw_icon(ui, box, icon, !enabled ? ui[Color::muted] : lit ? ui[Color::on_accent] : ui[Color::text]);
  return box.right() + ui.px(4);
}

void draw_rail(Ui& ui, const Rect& rail) {
  const int count = ui.frame.num_steps;
  const float mid = rail.y + rail.h * 0.5F;
  fill(ui, {rail.x, mid - ui.px(2), rail.w, ui.px(4)}, ui[Color::border], 1.0F, ui.px(2));
  if (count == 0) return;
  const float t =
      count > 1 ? static_cast<float>(std::clamp(ui.frame.index, 0, count - 1)) / static_cast<float>(count - 1)
                : 0.0F;
  const float knob = std::round(rail.x + rail.w * t);
  fill(ui, {rail.x, mid - ui.px(2), knob - rail.x, ui.px(4)}, ui[Color::accent], 1.0F, ui.px(2));
  ui.draw->AddCircleFilled({knob, mid}, ui.px(7), rgba(ui[Color::accent]));

  const Hit hit = touch(ui, rail);
  const auto step_at = [&](float x) {
    const float share = std::clamp((x - rail.x) / std::max(1.0F, rail.w), 0.0F, 1.0F);
    return static_cast<int>(std::lround(share * static_cast<float>(count - 1)));
  };
  ui.marks.add("timeline/rail", visible_part(ui, rail), step_of_text(ui.frame, ui.frame.index),
               "position in the recording");
  if (hit.hovered) tooltip(ui, "go to " + step_of_text(ui.frame, step_at(ImGui::GetIO().MousePos.x)), "");
  // An invisible ImGui item keeps the drag when the mouse leaves the rail.
  ImGui::SetCursorScreenPos({rail.x, rail.y});
  ImGui::InvisibleButton("##rail", {std::max(1.0F, rail.w), rail.h});
  const bool held = ImGui::IsItemActive();
  if (hit.clicked || held) {
    const int step = step_at(ImGui::GetIO().MousePos.x);
    if (step != ui.frame.index) send(ui, Command::Kind::seek, step);
  }
}

/// What playing goes round, and the way out of it. Returns the x behind it.
float draw_loop(Ui& ui, float x, float y) {
  const PlayLoop& loop = ui.view.loop;
  if (!loop.on()) return x;
  const std::string label = fmt::format("loop {}\xE2\x80\x93{} \xC3\x97", step_number(ui.frame, loop.from),
                                        step_number(ui.frame, loop.to));
  const Rect box{x, y, text_width(ui, FontRole::strong, label) + ui.px(16), ui.px(26)};
  if (button(ui, "timeline/no_loop", box, label, "playing goes round these steps; click: no loop (O)")) {
    ui.view.loop = {};
  }
  return box.right() + ui.px(16);  // the knob of the rail reaches over its end
}

/// Returns the x behind the buttons.
float draw_buttons(Ui& ui, const Rect& rect, bool can_run) {
  const bool any = ui.frame.num_steps > 0;
  const bool at_end = ui.frame.index + 1 >= ui.frame.num_steps;
  const bool back = any && ui.frame.index > 0;
  const bool forward = (any && !at_end) || can_run;
  float x = rect.x;
  const float y = rect.y;
  x = draw_button(ui, x, y, "first", Icon::first, "first step (Home)", back, false, Command::Kind::first);
  x = draw_button(ui, x, y, "back", Icon::back, "one step back (\xE2\x86\x90)", back, false,
                  Command::Kind::step_back);
  x = draw_button(ui, x, y, "play", ui.view.playing ? Icon::pause : Icon::play,
                  ui.view.playing ? "pause (Space)" : "play (Space)", forward || ui.view.playing,
                  ui.view.playing, Command::Kind::toggle_play);
  x = draw_button(
      ui, x, y, "forward", Icon::forward,
      at_end && can_run ? "run one more engine step (\xE2\x86\x92)" : "one step forward (\xE2\x86\x92)",
      forward, false, Command::Kind::step_forward);
  x = draw_button(ui, x, y, "last", Icon::last, "last step (End)", any && !at_end, false,
                  Command::Kind::last);
  return x + ui.px(6);
}

}  // namespace

void draw_transport(Ui& ui, const Rect& rect) {
  const bool any = ui.frame.num_steps > 0;
  const bool can_run = ui.frame.live && ui.frame.engine_has_work;
  const float y = rect.y;
  float x = ui.view.picture.still ? rect.x : draw_buttons(ui, rect, can_run);
  const std::string count = any ? fmt::format("{} / {}", step_number(ui.frame, ui.frame.index),
                                              step_number(ui.frame, ui.frame.num_steps - 1))
                                : "no steps";
  const float count_w = std::max(ui.px(84), text_width(ui, FontRole::mono, count) + ui.px(4));
  text_in(ui, FontRole::mono, {x, y, count_w, ui.px(26)}, ui[Color::text], count, Align::left);
  x += count_w + ui.px(6);
  if (!ui.view.picture.still) x = draw_loop(ui, x, y);
  std::string state = ui.frame.engine_busy ? "engine: computing a step"
                      : can_run            ? "engine: ready for more"
                      : ui.frame.live      ? "engine: idle"
                                           : "recording";
  const float state_room = rect.right() - x - ui.px(90);  // the rail comes first
  if (text_width(ui, FontRole::small, state) > state_room) state.clear();
  const float state_w = state.empty() ? 0.0F : text_width(ui, FontRole::small, state) + ui.px(4);
  text_in(ui, FontRole::small, {rect.right() - state_w, y, state_w, ui.px(26)}, ui[Color::muted], state,
          Align::right);
  draw_rail(ui, {x, y, std::max(ui.px(20), rect.right() - state_w - ui.px(18) - x), ui.px(26)});
}

}  // namespace attn::viz
