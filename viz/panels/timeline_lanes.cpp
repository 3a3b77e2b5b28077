#include "viz/panels/timeline_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {

void lane_label(const Ui& ui, const TimelineLanes& lanes, const Rect& lane, std::string_view text,
                Rgb color) {
  text_in(ui, FontRole::small, {lanes.label_x, lane.y, lane.x - lanes.label_x - ui.px(8), lane.h}, color,
          text, Align::right);
}

void draw_steps(Ui& ui, const TimelineLanes& lanes) {
  lane_label(ui, lanes, lanes.steps, "step", ui[Color::muted]);
  const float gap = lanes.layout.unit >= 3.0F ? 1.0F : 0.0F;
  for (int i = lanes.layout.first; i < lanes.layout.end;) {
    const bool decode = lanes.step(i).kind == trace::StepKind::decode;
    int end = i + 1;
    // Columns too narrow to part are drawn in runs of one kind.
    while (gap == 0.0F && end < lanes.layout.end &&
           (lanes.step(end).kind == trace::StepKind::decode) == decode)
      ++end;
    const float x0 = lanes.layout.left(i);
    const Rect box{x0, lanes.steps.y, std::max(1.0F, lanes.layout.right(end - 1) - x0 - gap), lanes.steps.h};
    fill(ui, box, ui[Color::raised]);
    if (!decode) fill(ui, {box.x, box.y, box.w, ui.px(4)}, ui[Color::stroke]);
    const char* letter = decode ? "D" : lanes.step(i).kind == trace::StepKind::warmup ? "W" : "P";
    const bool playhead = i == ui.frame.index && end == i + 1;  // which writes it
    if (!playhead && box.w >= ui.px(11))
      text_in(ui, FontRole::mono_small, box, ui[Color::text], letter, Align::center);
    i = end;
  }
}

void draw_block_use(Ui& ui, const TimelineLanes& lanes) {
  const int block = ui.selection.block;
  lane_label(ui, lanes, lanes.block, block < 0 ? "block" : fmt::format("#{}", block),
             ui[block < 0 ? Color::muted : Color::text]);
  if (block < 0) {
    text_in(ui, FontRole::small, lanes.block, ui[Color::muted],
            "click a block: when it was written \xE2\x96\xBC and read \xE2\x96\xB3", Align::right);
    return;
  }
  const auto at = static_cast<std::size_t>(block);
  const auto in = [&](const std::vector<bool>& set) { return at < set.size() && set[at]; };
  const float size = std::min(ui.px(8), lanes.block.h - 1.0F);
  int written = 0, read = 0;
  float write_from = lanes.block.x, read_from = lanes.block.x;  // ticks of one pixel need no second one there
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) {
    const StepSummary& step = lanes.step(i);
    const float x = lanes.layout.left(i);
    const float w = std::max(1.0F, lanes.layout.right(i) - x);
    const bool wrote = in(step.written), took = in(step.read);
    written += wrote ? 1 : 0;
    read += took ? 1 : 0;
    if (w < size + ui.px(2)) {  // a tick: written from above, read from below
      const float half = std::round(lanes.block.h * 0.5F);
      if (wrote && x >= write_from) fill(ui, {x, lanes.block.y, w, half}, ui[Color::warning]);
      if (took && x >= read_from)
        fill(ui, {x, lanes.block.y + half, w, lanes.block.h - half - 1.0F}, ui[Color::accent], 0.7F);
      if (wrote && x >= write_from) write_from = x + w - 0.25F;
      if (took && x >= read_from) read_from = x + w - 0.25F;
      continue;
    }
    const float step_w = w >= 2.0F * size + ui.px(4) ? size + ui.px(2) : 0.0F;
    const float left = std::round(x + (w - size - step_w) * 0.5F);
    if (wrote) triangle_down(ui, left, lanes.block.y + ui.px(2), size, ui[Color::warning]);
    if (took && (step_w > 0.0F || !wrote))
      triangle_up(ui, left + step_w, lanes.block.y + ui.px(2), size, ui[Color::accent]);
  }
  mark(ui, "timeline/block", lanes.block,
       fmt::format("block {}: written in {} and read in {} of the steps shown", block, written, read),
       "history: slot_mapping, block_tables of every step");
}

void draw_occupancy(Ui& ui, const TimelineLanes& lanes) {
  const int total = ui.frame.step ? static_cast<int>(ui.frame.step->blocks.size()) : 0;
  if (total <= 0) return;
  lane_label(ui, lanes, lanes.pool, "pool", ui[Color::muted]);
  const float x1 = lanes.layout.right(lanes.layout.end - 1);
  fill(ui, {lanes.pool.x, lanes.pool.y, x1 - lanes.pool.x, lanes.pool.h}, ui[Color::raised]);
  const auto height = [&](int blocks) {
    return std::round(lanes.pool.h * static_cast<float>(std::min(blocks, total)) / static_cast<float>(total));
  };
  for (int i = lanes.layout.first; i < lanes.layout.end;) {
    const StepSummary& step = lanes.step(i);
    int end = i + 1;
    while (end < lanes.layout.end && lanes.step(end).blocks_used == step.blocks_used &&
           lanes.step(end).blocks_cached_free == step.blocks_cached_free)
      ++end;
    const Rect area{lanes.layout.left(i), lanes.pool.y,
                    std::max(1.0F, lanes.layout.right(end - 1) - lanes.layout.left(i)), lanes.pool.h};
    const float used = height(step.blocks_used);
    const float cached = height(step.blocks_used + step.blocks_cached_free) - used;
    fill(ui, {area.x, area.bottom() - used, area.w, used}, ui[Color::stroke]);
    const Rect upper{area.x, area.bottom() - used - cached, area.w, cached};
    fill(ui, upper, ui[Color::border]);
    if (cached >= 2.0F) fill(ui, {upper.x, upper.y, upper.w, 1.0F}, ui[Color::muted]);
    i = end;
  }
}

}  // namespace attn::viz
