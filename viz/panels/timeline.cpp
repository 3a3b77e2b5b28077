#include "viz/panels/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/trace/names.h"
#include "viz/layout/timeline_layout.h"
#include "viz/lookup.h"
#include "viz/panels/transport.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

using trace::EventKind;

struct Lanes {
  const std::vector<StepSummary>& steps;
  TimelineLayout layout;
  Rect head;  // P and D columns with flags above
  Rect gantt;
  Rect pool;
};

struct Flag {
  EventKind kind;
  const char* glyph;
};
// The rarer and more telling first: a column has room for few. Allocation and hashing happen nearly every
// step.
constexpr Flag kFlags[] = {
    {EventKind::poison, "!"}, {EventKind::reject, "\xC3\x97"}, {EventKind::preempt, "\xE2\x86\xBB"},
    {EventKind::evict, "E"},  {EventKind::prefix_hit, "H"},    {EventKind::share, "S"},
    {EventKind::finish, "F"}, {EventKind::admit, "+"}};

bool has(const std::vector<int>& ids, int id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

std::string step_text(const StepSummary& step) {
  std::string text = fmt::format("{} step {}: {} tokens;", kind_text(step.kind), step.step, step.num_tokens);
  for (const int id : step.scheduled) text += " " + seq_letter(id);
  std::string events;
  for (const EventKind kind : step.events)
    events += (events.empty() ? "\n" : ", ") + std::string(trace::name_of(kind));
  return text + events;
}

void draw_column(Ui& ui, const Lanes& lanes, int index) {
  const StepSummary& step = lanes.steps[static_cast<std::size_t>(index)];
  const float x0 = lanes.layout.left(index);
  const float w = lanes.layout.right(index) - x0;
  const float flag_h = ui.px(14);
  const Rect box{x0, lanes.head.y + flag_h, std::max(1.0F, w - 1.0F), lanes.head.h - flag_h};
  const bool current = index == ui.frame.index;
  const bool prefill = step.kind != trace::StepKind::decode;
  fill(ui, box, ui[current ? Color::accent : Color::raised]);
  if (prefill && !current) fill(ui, {box.x, box.y, box.w, ui.px(3)}, ui[Color::stroke]);
  const char* letter = step.kind == trace::StepKind::warmup ? "W" : prefill ? "P" : "D";
  if (box.w >= ui.px(10))
    text_in(ui, FontRole::mono_small, box, current ? ui[Color::on_accent] : ui[Color::text], letter,
            Align::center);
  float flag_x = x0;
  for (const Flag& flag : kFlags) {
    if (flag_x + ui.px(8) > x0 + std::max(w, ui.px(8))) break;
    if (std::find(step.events.begin(), step.events.end(), flag.kind) == step.events.end()) continue;
    const bool bad =
        flag.kind == EventKind::poison || flag.kind == EventKind::preempt || flag.kind == EventKind::reject;
    text_at(ui, FontRole::mono_small, flag_x, lanes.head.y, ui[bad ? Color::error : Color::warning],
            flag.glyph);
    flag_x += ui.px(9);
  }
  const Rect column{x0, lanes.head.y, w, lanes.pool.bottom() - lanes.head.y};
  const Hit hit =
      mark(ui, fmt::format("timeline/step/{}", index), {column.x, column.y, column.w, lanes.head.h},
           step_text(step), fmt::format("history[{}]", index));
  if (hit.clicked) send(ui, Command::Kind::seek, index);
}

/// Sequences that occur in the laid-out steps, ascending.
std::vector<int> sequences_of(const Lanes& lanes) {
  std::vector<int> ids;
  const auto add = [&](const std::vector<int>& more) { ids.insert(ids.end(), more.begin(), more.end()); };
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) {
    const StepSummary& step = lanes.steps[static_cast<std::size_t>(i)];
    add(step.scheduled);
    add(step.waiting);
    add(step.preempted);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Waiting is an outline, prefill solid, decode a thinner bar, preemption hatched, finishing a cap.
void draw_bar(const Ui& ui, const StepSummary& step, const Rect& cell, int seq) {
  const Rgb hue = hue_of(ui, seq);
  if (has(step.scheduled, seq)) {
    const bool decode = step.kind == trace::StepKind::decode;
    const float inset = decode ? std::round(cell.h * 0.3F) : 1.0F;
    fill(ui, {cell.x, cell.y + inset, std::max(1.0F, cell.w - 1.0F), std::max(1.0F, cell.h - 2.0F * inset)},
         hue);
  } else if (has(step.preempted, seq)) {
    hatch(ui, cell, ui[Color::error], ui.px(4));
  } else if (has(step.waiting, seq)) {
    outline(ui, {cell.x, cell.y + 1.0F, std::max(1.0F, cell.w - 1.0F), cell.h - 2.0F}, hue, 1.0F);
  }
  if (has(step.finished, seq)) fill(ui, {cell.right() - ui.px(3), cell.y, ui.px(2), cell.h}, ui[Color::text]);
}

void draw_gantt(Ui& ui, const Lanes& lanes) {
  std::vector<int> ids = sequences_of(lanes);
  const float row_min = ui.px(11);
  const int room = std::max(1, static_cast<int>(lanes.gantt.h / row_min));
  const int count = static_cast<int>(ids.size());
  int first = 0;
  if (count > room) {  // keep the selected sequence among the rows
    const auto it = std::find(ids.begin(), ids.end(), focus_seq(ui.frame, ui.selection));
    const int at = it == ids.end() ? 0 : static_cast<int>(it - ids.begin());
    first = std::clamp(at - room / 2, 0, count - room);
  }
  const int shown = std::min(room, count);
  if (shown == 0) return;
  const float h = std::min(ui.px(20), std::floor(lanes.gantt.h / static_cast<float>(shown)));
  for (int r = 0; r < shown; ++r) {
    const int id = ids[static_cast<std::size_t>(first + r)];
    const float y = lanes.gantt.y + h * static_cast<float>(r);
    const Rect label{ui.body.x, y, lanes.gantt.x - ui.body.x - ui.px(6), h};
    text_in(ui, FontRole::mono_small, label, id == ui.selection.seq ? ui[Color::text] : ui[Color::muted],
            seq_letter(id), Align::right);
    for (int i = lanes.layout.first; i < lanes.layout.end; ++i) {
      const float x0 = lanes.layout.left(i);
      draw_bar(ui, lanes.steps[static_cast<std::size_t>(i)], {x0, y, lanes.layout.right(i) - x0, h}, id);
    }
    const Rect lane{lanes.gantt.x, y, lanes.layout.right(lanes.layout.end - 1) - lanes.gantt.x, h};
    if (mark(ui, fmt::format("timeline/seq/{}", id), lane, fmt::format("sequence {}", seq_letter(id)),
             "history: scheduled, waiting, preempted, finished")
            .clicked) {
      select(ui, [&](Selection& s) { s.seq = id; });
    }
  }
  if (count > shown)
    text_in(ui, FontRole::small, {ui.body.x, lanes.gantt.bottom() - ui.px(14), ui.px(40), ui.px(14)},
            ui[Color::muted], fmt::format("{}/{}", shown, count), Align::left);
}

void draw_occupancy(Ui& ui, const Lanes& lanes) {
  const int total = ui.frame.step ? static_cast<int>(ui.frame.step->blocks.size()) : 0;
  if (total <= 0 || lanes.pool.h < ui.px(8)) return;
  text_in(ui, FontRole::small, {ui.body.x, lanes.pool.y, lanes.pool.x - ui.body.x - ui.px(6), lanes.pool.h},
          ui[Color::muted], "pool", Align::right);
  const auto height = [&](int blocks) {
    return std::round(lanes.pool.h * static_cast<float>(std::min(blocks, total)) / static_cast<float>(total));
  };
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) {
    const StepSummary& step = lanes.steps[static_cast<std::size_t>(i)];
    const Rect column{lanes.layout.left(i), lanes.pool.y,
                      std::max(1.0F, lanes.layout.right(i) - lanes.layout.left(i) - 1.0F), lanes.pool.h};
    const float used = height(step.blocks_used);
    const float cached = height(step.blocks_used + step.blocks_cached_free) - used;
    fill(ui, column, ui[Color::raised]);
    fill(ui, {column.x, column.bottom() - used, column.w, used}, ui[Color::stroke]);
    fill(ui, {column.x, column.bottom() - used - cached, column.w, cached}, ui[Color::border]);
    mark(
        ui, fmt::format("timeline/pool/{}", i), column,
        fmt::format("{} of {} blocks used, {} cached-free", step.blocks_used, total, step.blocks_cached_free),
        fmt::format("history[{}]", i));
  }
}

}  // namespace

void draw_timeline(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "timeline", rect, {})) return;
  draw_transport(ui, {ui.body.x, ui.body.y, ui.body.w, ui.px(26)});
  const Rect area{ui.body.x, ui.body.y + ui.px(32), ui.body.w, ui.body.h - ui.px(32)};
  if (!ui.frame.history || ui.frame.history->empty() || area.h < ui.px(30)) {
    if (area.h >= ui.px(20))
      text_in(ui, FontRole::text, area, ui[Color::muted],
              "Engine steps appear here as they run: prefill wide, decode narrow.", Align::center);
    end_panel(ui);
    return;
  }
  const float label_w = ui.px(36);
  std::vector<bool> wide;
  for (const StepSummary& step : *ui.frame.history) wide.push_back(step.kind != trace::StepKind::decode);
  Lanes lanes{*ui.frame.history,
              layout_timeline(wide, ui.frame.index, area.x + label_w, area.w - label_w, ui.px(10), ui.px(44)),
              {},
              {},
              {}};
  const float head_h = ui.px(36);
  const float pool_h = area.h > ui.px(86) ? ui.px(18) : 0.0F;
  lanes.head = {area.x + label_w, area.y, area.w - label_w, std::min(head_h, area.h)};
  lanes.pool = {lanes.head.x, area.bottom() - pool_h, lanes.head.w, pool_h};
  lanes.gantt = {lanes.head.x, lanes.head.bottom() + ui.px(4), lanes.head.w,
                 std::max(0.0F, lanes.pool.y - lanes.head.bottom() - ui.px(8))};
  text_in(ui, FontRole::small,
          {ui.body.x, lanes.head.y + ui.px(14), label_w - ui.px(6), lanes.head.h - ui.px(14)},
          ui[Color::muted], "step", Align::right);
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) draw_column(ui, lanes, i);
  if (lanes.gantt.h >= ui.px(11)) draw_gantt(ui, lanes);
  draw_occupancy(ui, lanes);
  if (ui.frame.index >= lanes.layout.first && ui.frame.index < lanes.layout.end) {
    const float x0 = lanes.layout.left(ui.frame.index);
    const bool lanes_below = lanes.gantt.h >= ui.px(11) || pool_h > 0.0F;
    const float bottom = lanes_below ? area.bottom() : lanes.head.bottom();
    outline(ui,
            {x0 - 1.0F, lanes.head.y + ui.px(14), lanes.layout.right(ui.frame.index) - x0 + 1.0F,
             bottom - lanes.head.y - ui.px(14)},
            ui[Color::accent], ui.px(2));
  }
  end_panel(ui);
}

}  // namespace attn::viz
