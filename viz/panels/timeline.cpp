#include "viz/panels/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/lookup.h"
#include "viz/panels/timeline_lanes.h"
#include "viz/panels/transport.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kUnitMax = 44.0F;
constexpr float kZoomStep = 1.5F;

double middle_of(const TimelineFacts& facts, int step) {
  const auto i = static_cast<std::size_t>(step);
  return 0.5 * (facts.starts[i] + facts.starts[i + 1]);
}

/// The step on screen is kept in sight when it changes.
void follow_cursor(TimelineView& view, int index, const Rect& lane, float unit_max) {
  if (view.followed == index || index < 0 || index >= view.facts.steps()) return;
  view.followed = index;
  const TimelineLayout now = layout_timeline(view.facts.starts, view.window, lane.x, lane.w, unit_max);
  const bool seen = index >= now.first && index < now.end &&
                    now.x[static_cast<std::size_t>(index - now.first)] >= lane.x &&
                    now.x[static_cast<std::size_t>(index - now.first) + 1] <= lane.right() + 0.5F;
  if (!seen) view.window.center = middle_of(view.facts, index);
}

/// Units of a decode step at a pixel of the layout.
double units_at(const TimelineView& view, const TimelineLayout& layout, float pixel) {
  return view.facts.starts[static_cast<std::size_t>(layout.first)] +
         static_cast<double>(pixel - layout.x.front()) / layout.unit;
}

void zoom_at(TimelineView& view, const TimelineLayout& layout, float factor, float pixel, float unit_max) {
  const double fixed = units_at(view, layout, pixel);
  const float least = zoom_for(view.facts.starts, layout.x1 - layout.x0, unit_max, 0.0F);
  const float most = zoom_for(view.facts.starts, layout.x1 - layout.x0, unit_max, unit_max);
  const float unit = layout.unit;
  view.window.zoom = std::clamp(view.window.zoom * factor, least, most);
  const TimelineLayout next =
      layout_timeline(view.facts.starts, view.window, layout.x0, layout.x1 - layout.x0, unit_max);
  if (next.unit == unit) return;
  const double shown = static_cast<double>(layout.x1 - layout.x0) / next.unit;
  view.window.center = fixed - static_cast<double>(pixel - layout.x0) / next.unit + shown * 0.5;
}

void pan_by(TimelineView& view, const TimelineLayout& layout, double share) {
  const double shown = static_cast<double>(layout.x1 - layout.x0) / layout.unit;
  const double total = view.facts.starts.back();
  const double center =
      std::clamp(view.window.center, shown * 0.5, std::max(shown * 0.5, total - shown * 0.5));
  view.window.center = center + share * shown;
}

/// Zoom and pan for hands without a wheel, at the right of the lanes.
void draw_tools(Ui& ui, const Rect& area, const TimelineLayout& layout, float unit_max) {
  TimelineView& view = ui.view.data.timeline;
  const float side = ui.px(24);
  const float gap = ui.px(3);
  const bool all = layout.first == 0 && layout.end == view.facts.steps();
  const float middle = ui.frame.index >= layout.first && ui.frame.index < layout.end
                           ? 0.5F * (layout.left(ui.frame.index) + layout.right(ui.frame.index))
                           : 0.5F * (layout.x0 + layout.x1);
  Rect box{area.right() - 2.0F * side - gap, area.y, side, side};
  const auto tool = [&](const char* name, const char* label, const char* tip, bool enabled) {
    const bool pressed = button(ui, fmt::format("timeline/{}", name), box, label, tip, enabled);
    box.x += side + gap;
    return pressed;
  };
  const bool zoomed = view.window.zoom > 1.0F;
  if (tool("zoom_out", "\xE2\x88\x92", "more steps (mouse wheel)", zoomed))
    zoom_at(view, layout, 1.0F / kZoomStep, middle, unit_max);
  if (tool("zoom_in", "+", "fewer, wider steps (mouse wheel)", layout.unit < unit_max))
    zoom_at(view, layout, kZoomStep, middle, unit_max);
  if (area.h < 2.0F * side + gap) return;
  box = {area.right() - 2.0F * side - gap, area.y + side + gap, side, side};
  if (tool("pan_left", "\xE2\x80\xB9", "earlier steps (drag with the right button)",
           !all && layout.first > 0))
    pan_by(view, layout, -0.5);
  if (tool("pan_right", "\xE2\x80\xBA", "later steps (drag with the right button)",
           !all && layout.end < view.facts.steps()))
    pan_by(view, layout, 0.5);
  if (area.h < 3.0F * side + 2.0F * gap) return;
  box = {area.right() - 2.0F * side - gap, area.y + 2.0F * (side + gap), 2.0F * side + gap, side};
  if (button(ui, "timeline/fit", box, "All", "the whole recording", zoomed)) view.window = {};
}

/// Wheel zooms at the mouse, the right button drags the lanes.
void answer_wheel(Ui& ui, const Rect& lanes, const TimelineLayout& layout, float unit_max) {
  TimelineView& view = ui.view.data.timeline;
  const ImGuiIO& io = ImGui::GetIO();
  if (!touch(ui, lanes).hovered) return;
  if (io.MouseWheel != 0.0F)
    zoom_at(view, layout, std::pow(kZoomStep, io.MouseWheel), std::clamp(io.MousePos.x, layout.x0, layout.x1),
            unit_max);
  if (ImGui::IsMouseDragging(ImGuiMouseButton_Right) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle)) {
    pan_by(view, layout, 0.0);
    view.window.center -= static_cast<double>(io.MouseDelta.x) / layout.unit;
  }
}

/// A drag that sets the loop, from where it began to where the mouse is. True while one is under way.
bool drag_loop(Ui& ui, const TimelineLanes& lanes, bool begins) {
  int& anchor = ui.view.data.timeline.loop_anchor;
  const int at = lanes.layout.at(ImGui::GetIO().MousePos.x);
  if (ImGui::IsItemActivated()) anchor = begins ? at : -1;
  if (!ImGui::IsItemActive() || anchor < 0 || at < 0) return false;
  if (ImGui::IsMouseDragging(ImGuiMouseButton_Left))
    ui.view.loop = {std::min(anchor, at), std::max(anchor, at)};
  return true;
}

/// An invisible item keeps a drag that leaves the rectangle.
bool hold(const char* id, const Rect& rect) {
  if (rect.h < 1.0F) return false;
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  ImGui::InvisibleButton(id, {std::max(1.0F, rect.w), rect.h});
  return true;
}

/// Pressing goes to a step, dragging scrubs, with Shift it sets the loop.
void scrub(Ui& ui, const char* id, const Rect& rect, const TimelineLanes& lanes) {
  if (!hold(id, rect) || drag_loop(ui, lanes, ImGui::GetIO().KeyShift)) return;
  const Hit hit = touch(ui, rect);
  const int at = lanes.layout.at(ImGui::GetIO().MousePos.x);
  int& last = ui.view.data.timeline.scrubbed;
  if (hit.clicked) {
    // A bookmark on the lane was meant, which knows more than its step.
    const bool bookmark = !ui.commands.empty() && ui.commands.back().kind == Command::Kind::go_to_bookmark;
    last = bookmark ? at : -1;
  }
  if ((hit.clicked || ImGui::IsItemActive()) && at >= 0 && at != last) {
    last = at;
    send(ui, Command::Kind::seek, at);
  }
}

void add_families(Ui& ui, const TimelineLanes& lanes) {
  const auto number = [](std::string_view text) {
    int value = -1;
    return std::sscanf(std::string(text).c_str(), "%d", &value) == 1 ? value : -1;
  };
  const auto frame = std::make_shared<Frame>();
  frame->bookmarks = ui.frame.bookmarks;
  const auto family = [&](const char* prefix, float y0, float y1, auto words) {
    ui.marks.add_family(prefix,
                        [=, layout = lanes.layout, history = lanes.facts.history,
                         name = std::string(prefix)](std::string_view rest) -> std::optional<Mark> {
                          const int i = number(rest);
                          if (i < layout.first || i >= layout.end) return std::nullopt;
                          const float x = layout.left(i);
                          return Mark{name + std::to_string(i),
                                      {x, y0, std::max(0.5F, layout.right(i) - x), y1 - y0},
                                      words(*frame, (*history)[static_cast<std::size_t>(i)], i),
                                      fmt::format("history[{}]", i)};
                        });
  };
  family("timeline/step/", lanes.flags.y, lanes.steps.bottom(), step_words);
  const std::size_t total = ui.frame.step ? ui.frame.step->blocks.size() : 0;
  if (lanes.pool.h > 0.0F && total > 0)
    family("timeline/pool/", lanes.pool.y, lanes.pool.bottom(),
           [total](const Frame&, const StepSummary& step, int) {
             return fmt::format("{} of {} blocks used, {} cached-free", step.blocks_used, total,
                                step.blocks_cached_free);
           });
}

void show_words(Ui& ui, const TimelineLanes& lanes) {
  const int at = lanes.layout.at(ImGui::GetIO().MousePos.x);
  if (at < 0 || ImGui::GetIO().MousePos.x > lanes.layout.right(at)) return;
  const StepSummary& step = lanes.step(at);
  const std::string source = fmt::format("history[{}]", at);
  if (touch(ui, lanes.steps).hovered || touch(ui, lanes.flags).hovered)
    tooltip(ui, step_words(ui.frame, step, at), source);
  if (lanes.pool.h > 0.0F && ui.frame.step && !ui.frame.step->blocks.empty() && touch(ui, lanes.pool).hovered)
    tooltip(ui,
            fmt::format("{} of {} blocks used, {} cached-free", step.blocks_used,
                        ui.frame.step->blocks.size(), step.blocks_cached_free),
            source);
}

/// The steps that playing goes round: a bar above their columns between two posts.
void draw_loop(Ui& ui, const TimelineLanes& lanes) {
  const PlayLoop& loop = ui.view.loop;
  const int from = std::max(loop.from, lanes.layout.first), to = std::min(loop.to, lanes.layout.end - 1);
  if (!loop.on() || from > to) return;
  const float x0 = lanes.layout.left(from), x1 = lanes.layout.right(to), thick = ui.px(3);
  const Rect bar{x0, lanes.flags.y - ui.px(4), std::max(thick, x1 - x0), thick};
  const float post_h = lanes.steps.bottom() - bar.y;
  fill(ui, bar, ui[Color::selection]);
  if (from == loop.from) fill(ui, {x0 - ui.px(1), bar.y, ui.px(2), post_h}, ui[Color::selection]);
  if (to == loop.to) fill(ui, {bar.right() - ui.px(1), bar.y, ui.px(2), post_h}, ui[Color::selection]);
  mark(ui, "timeline/loop", bar,
       fmt::format("playing goes round steps {} to {}", step_number(ui.frame, loop.from),
                   step_number(ui.frame, loop.to)),
       "O: no loop");
}

/// The column of the step on screen, with a head that is seen even when the column is a pixel wide.
void draw_playhead(const Ui& ui, const TimelineLanes& lanes) {
  const int now = ui.frame.index;
  if (now < lanes.layout.first || now >= lanes.layout.end) return;
  const float x0 = lanes.layout.left(now);
  const float w = std::max(ui.px(2), lanes.layout.right(now) - x0);
  const Rect column{x0, lanes.steps.y, w, lanes.steps.h};
  fill(ui, column, ui[Color::accent]);
  const trace::StepKind kind = lanes.step(now).kind;
  if (w >= ui.px(11))
    text_in(ui, FontRole::mono_small, column, ui[Color::on_accent],
            kind == trace::StepKind::decode   ? "D"
            : kind == trace::StepKind::warmup ? "W"
                                              : "P",
            Align::center);
  const float middle = x0 + w * 0.5F;
  const float size = ui.px(5);
  if (w < 2.0F * size)
    ui.draw->AddTriangleFilled({middle - size, lanes.steps.y - size}, {middle + size, lanes.steps.y - size},
                               {middle, lanes.steps.y + 1.0F}, rgba(ui[Color::accent]));
  const float top = lanes.gantt.y - ui.px(1);
  const float bottom = lanes.pool.h > 0.0F ? lanes.pool.bottom() : lanes.gantt.bottom();
  if (bottom <= top + 2.0F) return;
  const float line_w = std::max(1.0F, ui.px(1.5F));
  fill(ui, {x0 - line_w, top, line_w, bottom - top}, ui[Color::accent]);
  if (w > 3.0F) fill(ui, {x0 + w - 1.0F, top, line_w, bottom - top}, ui[Color::accent]);
}

/// From top to bottom: flags, steps, stages, sequences, block, pool, legend; what has no room is left out.
TimelineLanes place_lanes(const Ui& ui, const TimelineFacts& facts, const TimelineLayout& layout,
                          const Rect& area, float x, float w) {
  const TimelineStack stack =
      stack_timeline(area.h / ui.scale, ui.view.mode == ScreenMode::present, ui.selection.block >= 0);
  TimelineLanes lanes{facts, layout, area.x, {}, {}, {}, {}, {}, {}, {}};
  float top = area.y, bottom = area.bottom();
  const auto from_top = [&](float height) {
    const Rect lane{x, top, w, ui.px(height)};
    top = lane.bottom();
    return lane;
  };
  const auto from_bottom = [&](float height, float apart) {
    if (height <= 0.0F) return Rect{};
    const float h = ui.px(height - apart);
    const Rect lane{x, bottom - h, w, h};
    bottom = lane.y - ui.px(apart);
    return lane;
  };
  lanes.flags = from_top(stack.flags);
  lanes.steps = from_top(stack.steps);
  lanes.stages = stack.stages > 0.0F ? from_top(stack.stages) : Rect{};
  top += ui.px(TimelineStack::kGap);
  lanes.legend = from_bottom(stack.legend, 0.0F);
  lanes.pool = from_bottom(stack.pool, TimelineStack::kApart);
  lanes.block = from_bottom(stack.block, TimelineStack::kApart);
  lanes.gantt = {x, top, w, std::max(0.0F, bottom - top)};
  return lanes;
}

void draw_lanes(Ui& ui, const Rect& area) {
  TimelineView& view = ui.view.data.timeline;
  const float label_w = ui.px(58);  // "warm-up"
  const float tools_w = ui.view.picture.still ? 0.0F : ui.px(58);
  const float unit_max = ui.px(kUnitMax);
  const Rect lane{area.x + label_w, area.y, std::max(ui.px(40), area.w - label_w - tools_w), area.h};
  follow_cursor(view, ui.frame.index, lane, unit_max);
  const TimelineLayout layout = layout_timeline(view.facts.starts, view.window, lane.x, lane.w, unit_max);
  const TimelineLanes lanes = place_lanes(ui, view.facts, layout, area, lane.x, lane.w);
  const bool hidden = draw_flags(ui, lanes);
  draw_steps(ui, lanes);
  draw_stage_lane(ui, lanes);
  if (lanes.gantt.h >= ui.px(4)) draw_gantt(ui, lanes);
  if (lanes.block.h > 0.0F) draw_block_use(ui, lanes);
  if (lanes.pool.h > 0.0F) draw_occupancy(ui, lanes);
  draw_loop(ui, lanes);
  draw_playhead(ui, lanes);
  draw_legend(ui, lanes, hidden);
  scrub(ui, "##steps", {lane.x, lanes.flags.y, lane.w, lanes.steps.bottom() - lanes.flags.y}, lanes);
  scrub(ui, "##pool", lanes.pool, lanes);
  if (hold("##sequences", lanes.gantt)) drag_loop(ui, lanes, true);
  show_words(ui, lanes);
  add_families(ui, lanes);
  if (!ui.view.picture.still) draw_tools(ui, area, layout, unit_max);
  answer_wheel(ui, lane, layout, unit_max);
}

}  // namespace

void draw_timeline(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "timeline", rect, {})) return;
  draw_transport(ui, {ui.body.x, ui.body.y, ui.body.w, ui.px(26)});
  const Rect area{ui.body.x, ui.body.y + ui.px(32), ui.body.w, ui.body.h - ui.px(32)};
  take_in(ui.view.data.timeline.facts, ui.frame.history);
  if (ui.view.data.timeline.facts.steps() > 0 && area.h >= ui.px(30)) {
    draw_lanes(ui, area);
  } else if (area.h >= ui.px(20)) {
    text_in(ui, FontRole::text, area, ui[Color::muted],
            "Engine steps appear here as they run: prefill wide, decode narrow.", Align::center);
  }
  end_panel(ui);
}

}  // namespace attn::viz
