#include "viz/panels/free_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/lookup.h"
#include "viz/panels/pool_cards.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::size_t kTail = 2;  // blocks at the end of the line that are shown even when it is cut

/// As in the pool: a small square in a dotted box.
void draw_cached(const Ui& ui, const Rect& box, bool next) {
  if (!next) dotted(ui, box, ui[Color::text]);
  const float side = std::round(ui.px(4)), in = std::round(ui.px(next ? 3 : 2));
  fill(ui, {box.right() - in - side, box.y + in, side, side}, ui[Color::muted]);
}

void draw_entry(Ui& ui, const trace::PoolState& pool, const Rect& box, std::size_t place) {
  const int id = pool.free_blocks[place];
  const bool known = id >= 0 && static_cast<std::size_t>(id) < pool.blocks.size();
  const bool cached = known && pool.blocks[static_cast<std::size_t>(id)].hash.has_value();
  const bool next = place == 0;
  fill(ui, box, ui[Color::raised], 1.0F, ui.px(3));
  if (next)
    outline(ui, box, ui[Color::accent], ui.px(2), ui.px(3));
  else if (!cached)
    outline(ui, box, ui[Color::border], 1.0F, ui.px(3));
  if (cached) draw_cached(ui, box, next);
  text_in(ui, FontRole::mono, box, ui[Color::text], std::to_string(id), Align::center);
  if (id == ui.selection.block || id == ui.view.hover.block)
    outline(ui, box, ui[id == ui.selection.block ? Color::selection : Color::accent], ui.px(2), ui.px(3));
  const Hit hit =
      mark(ui, fmt::format("free/{}", place), box,
           fmt::format(
               "block {}: {} in line{}", id, next ? "next" : fmt::format("number {}", place + 1),
               cached ? "\nits hash is still known: a hit takes it out of the line, its turn evicts it" : ""),
           fmt::format("free_blocks[{}] of step {}, {}", place, ui.frame.step->step,
                       moment_text(ui.frame, ui.selection, ui.view.grain)));
  if (hit.hovered) ui.view.next_hover.block = id;
  if (hit.clicked) select(ui, [&](Selection& s) { s.block = s.block == id ? -1 : id; });
}

/// Places that fit: all, or the head, a gap that says how many are left out, and the tail.
void draw_line(Ui& ui, const trace::PoolState& pool, const Rect& area, float w, float h) {
  const std::size_t count = pool.free_blocks.size();
  if (area.w < w) return;
  const float pitch = w + ui.px(3);
  const int columns = std::max(1, static_cast<int>((area.w + ui.px(3)) / pitch));
  const int lines = std::max(1, static_cast<int>((area.h + ui.px(3)) / (h + ui.px(3))));
  const auto room = static_cast<std::size_t>(columns * lines);
  const auto box_at = [&](std::size_t cell) {
    const auto line = static_cast<float>(cell / static_cast<std::size_t>(columns));
    const auto column = static_cast<float>(cell % static_cast<std::size_t>(columns));
    return Rect{area.x + pitch * column, area.y + (h + ui.px(3)) * line, w, h};
  };
  const bool all = count <= room;
  const std::size_t tail = all || room < kTail + 3 ? 0 : kTail;
  const std::size_t head = all ? count : room - tail - std::min<std::size_t>(room - tail, 1);
  for (std::size_t i = 0; i < head; ++i) draw_entry(ui, pool, box_at(i), i);
  if (all) return;
  text_in(ui, FontRole::mono_small, box_at(head), ui[Color::muted], fmt::format("+{}", count - head - tail),
          Align::center);
  for (std::size_t i = 0; i < tail; ++i) draw_entry(ui, pool, box_at(head + 1 + i), count - tail + i);
}

}  // namespace

void draw_free_queue(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  const std::shared_ptr<const PoolNow> now = step == nullptr ? nullptr : pool_shown(ui);
  const std::size_t count = now ? now->pool.free_blocks.size() : 0;
  const bool engine = ui.frame.manifest == nullptr || !ui.frame.manifest->is_tensor_case();
  constexpr std::string_view kTitle = "Free queue";
  const bool one_line = rect.h < ui.px(52);
  const std::string when = moment_text(ui.frame, ui.selection, ui.view.grain);
  const std::string about = fmt::format("next \xE2\x86\x92 last, {} blocks, \xE2\x96\xAA still cached{}{}",
                                        count, when.empty() ? "" : "  \xC2\xB7  ", when);
  if (!begin_panel(ui, "free_queue", rect, kTitle, one_line || step == nullptr || !engine ? "" : about))
    return;
  Rect area = ui.body;
  if (one_line) {  // the line goes on behind the title
    const float title_w = text_width(ui, FontRole::strong, kTitle);
    const std::string_view next = "next \xE2\x86\x92";
    area = {ui.body.x + title_w + ui.px(36), rect.y + ui.px(6), 0.0F, ui.px(20)};
    const float next_w =
        step == nullptr || count == 0 ? 0.0F : text_width(ui, FontRole::small, next) + ui.px(6);
    if (next_w > 0.0F)
      text_in(ui, FontRole::small, {area.x, area.y, next_w, area.h}, ui[Color::muted], next, Align::left);
    mark(ui, "free/title", {ui.body.x, area.y, title_w + 1.0F, area.h}, about,
         step == nullptr ? "" : fmt::format("free_blocks of step {}", step->step));
    area.x += next_w;
    area.w = std::max(0.0F, ui.body.right() - area.x);
  }
  if (count == 0) {
    text_in(ui, FontRole::small, area, ui[Color::muted],
            step == nullptr ? "Free blocks in the order they will be taken."
            : engine        ? "empty: the next block needs a preemption"
                            : "none: without an engine nobody takes blocks",
            Align::left);
  } else {
    const std::string widest = std::to_string(step->blocks.size());
    draw_line(ui, now->pool, area, text_width(ui, FontRole::mono, widest) + ui.px(12),
              std::min(ui.px(20), area.h));
  }
  end_panel(ui);
}

}  // namespace attn::viz
