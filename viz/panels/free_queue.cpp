#include "viz/panels/free_queue.h"

#include <fmt/format.h>

#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {

void draw_free_queue(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  const std::size_t count = step == nullptr ? 0 : step->free_blocks.size();
  if (!begin_panel(ui, "free_queue", rect, "Free queue",
                   step == nullptr
                       ? ""
                       : fmt::format("next \xE2\x86\x92 last, {} blocks, \xE2\x80\xA2 still cached", count)))
    return;
  if (count == 0) {
    text_in(ui, FontRole::small, ui.body, ui[Color::muted],
            step == nullptr ? "Free blocks in the order they will be taken."
                            : "empty: the next block needs a preemption",
            Align::left);
    end_panel(ui);
    return;
  }
  const float h = std::min(ui.px(20), ui.body.h);
  float x = ui.body.x;
  const std::string widest = std::to_string(step->blocks.size());
  const float w = text_width(ui, FontRole::mono, widest) + ui.px(12);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string rest = fmt::format("+{}", count - i);
    const float rest_w = text_width(ui, FontRole::mono, rest) + ui.px(6);
    const bool last = i + 1 == count;
    if (x + w + (last ? 0.0F : rest_w) > ui.body.right()) {
      text_in(ui, FontRole::mono, {x, ui.body.y, rest_w, h}, ui[Color::muted], rest, Align::left);
      break;
    }
    const int id = step->free_blocks[i];
    const Rect box{x, ui.body.y, w, h};
    const bool known = id >= 0 && static_cast<std::size_t>(id) < step->blocks.size();
    const bool cached = known && step->blocks[static_cast<std::size_t>(id)].hash.has_value();
    fill(ui, box, ui[Color::raised], 1.0F, ui.px(3));
    outline(ui, box, ui[i == 0 ? Color::accent : Color::border], i == 0 ? ui.px(2) : 1.0F, ui.px(3));
    text_in(ui, FontRole::mono, box, ui[Color::text], std::to_string(id), Align::center);
    if (cached)
      ui.draw->AddCircleFilled({box.right() - ui.px(4), box.y + ui.px(4)}, ui.px(2),
                               rgba(ui[Color::warning]));
    if (id == ui.selection.block || id == ui.view.hover.block)
      outline(ui, box, ui[id == ui.selection.block ? Color::selection : Color::accent], ui.px(2), ui.px(3));
    const Hit hit =
        mark(ui, fmt::format("free/{}", i), box,
             fmt::format("block {}: {} in line{}", id, i == 0 ? "next" : fmt::format("number {}", i + 1),
                         cached ? ", its hash is still known: taking it evicts it" : ""),
             fmt::format("free_blocks[{}], after commit of step {}", i, step->step));
    if (hit.hovered) ui.view.next_hover.block = id;
    if (hit.clicked) select(ui, [&](Selection& s) { s.block = id; });
    x += w + ui.px(3);
  }
  end_panel(ui);
}

}  // namespace attn::viz
