#include "viz/panels/block_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/lookup.h"
#include "viz/panels/pool_cards.h"
#include "viz/panels/pool_legend.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

using Now = std::shared_ptr<const PoolNow>;

/// The part of a card that is on screen when the drawing is done; marks resolve later.
struct Clip {
  Rect area;
  std::optional<Rect> of(const Rect& rect) const {
    const float x0 = std::max(rect.x, area.x), y0 = std::max(rect.y, area.y);
    const float x1 = std::min(rect.right(), area.right()), y1 = std::min(rect.bottom(), area.bottom());
    if (x1 <= x0 || y1 <= y0) return std::nullopt;
    return Rect{x0, y0, x1 - x0, y1 - y0};
  }
};

int number_of(std::string_view text) {
  int value = -1;
  return std::sscanf(std::string(text).c_str(), "%d", &value) == 1 ? value : -1;
}

/// Marks are made after the frame is drawn, so they keep the records they read; token texts would be too much
/// to keep, a mark names tokens by id.
void add_families(Ui& ui, const PoolLayout& layout, const Now& now, Clip clip) {
  const auto frame = std::make_shared<Frame>();
  frame->step = ui.frame.step;
  frame->changes = ui.frame.changes;
  ui.marks.add_family("pool/block/", [=](std::string_view rest) -> std::optional<Mark> {
    const int block = number_of(rest);
    if (block < 0 || block >= layout.num_blocks) return std::nullopt;
    const auto rect = clip.of(layout.card(block));
    if (!rect) return std::nullopt;
    return Mark{fmt::format("pool/block/{}", block), *rect, block_text(*frame, *now, block),
                block_source(*frame, block)};
  });
  if (layout.detail != CardDetail::slots) return;
  const int size = std::max(1, ui.frame.step->config.block_size);
  ui.marks.add_family("pool/slot/", [=, scale = ui.scale](std::string_view rest) -> std::optional<Mark> {
    const int slot = number_of(rest);
    if (slot < 0 || slot / size >= layout.num_blocks) return std::nullopt;
    const int block = slot / size;
    const auto rect = clip.of(layout.slot(block, slot % size, scale));
    if (!rect) return std::nullopt;
    const bool filled = slot % size < now->pool.blocks[static_cast<std::size_t>(block)].num_filled;
    return Mark{fmt::format("pool/slot/{}", slot), *rect,
                fmt::format("slot {} = block {} * {} + {}, {}", slot, block, size, slot % size,
                            filled ? "written" : "not written"),
                fmt::format("k_cache[{0}, {1}], v_cache[{0}, {1}]", block, slot % size)};
  });
}

void answer_mouse(Ui& ui, const PoolLayout& layout, const Now& now, const Rect& area) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!touch(ui, area).hovered) return;
  const int block = layout.at(mouse.x, mouse.y);
  if (block < 0 || !layout.card(block).contains(mouse.x, mouse.y)) return;
  ui.view.next_hover.block = block;
  tooltip(ui, block_text(ui.frame, *now, block), block_source(ui.frame, block));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    select(ui, [&](Selection& s) { s.block = s.block == block ? -1 : block; });
}

/// A newly selected block is brought into view; returns the y of the content.
float scroll_to_selected(Ui& ui, const PoolLayout& layout, const Rect& area, float top) {
  PoolView& view = ui.view.data.pool;
  if (ui.selection.block == view.shown_block) return top;
  view.shown_block = ui.selection.block;
  if (ui.selection.block < 0 || ui.selection.block >= layout.num_blocks) return top;
  const Rect card = layout.card(ui.selection.block);
  const float y = card.y - layout.y;
  const float scroll = area.y - top;
  if (y >= scroll && y + card.h <= scroll + area.h) return top;
  ImGui::SetScrollY(std::max(0.0F, y - (area.h - card.h) * 0.5F));
  return top;
}

void zoom_by(Ui& ui, const PoolLayout& layout, int by) {
  PoolView& view = ui.view.data.pool;
  if (by > 0 && layout.size == 0) return;
  view.zoom = std::max(0, view.zoom + by);
}

/// − and + at the right of the title; returns where the caption has to end.
float draw_zoom(Ui& ui, const Rect& title, const PoolLayout& layout) {
  if (ui.view.picture.still) return title.right();
  const float side = ui.px(24);
  const float y = title.y - ui.px(2);
  Rect box{title.right() - side, y, side, side};
  if (button(ui, "pool/zoom/in", box, "+", "larger cards (mouse wheel)", layout.size > 0))
    zoom_by(ui, layout, 1);
  box.x -= side + ui.px(4);
  if (button(ui, "pool/zoom/out", box, "\xE2\x88\x92", "smaller cards, down to all at once (mouse wheel)",
             ui.view.data.pool.zoom > 0))
    zoom_by(ui, layout, -1);
  return box.x - ui.px(8);
}

void draw_title(Ui& ui, const Rect& title, const PoolLayout& layout) {
  const trace::StepRecord& step = *ui.frame.step;
  const PoolCounts counts = count_blocks(pool_shown(ui)->pool.blocks);
  const float left = title.x + text_width(ui, FontRole::strong, "Block pool") + ui.px(36);
  const float right = draw_zoom(ui, title, layout);
  if (right <= left) return;
  const Rect box{left, title.y, right - left, title.h};
  const bool engine = !ui.frame.manifest || !ui.frame.manifest->is_tensor_case();
  const std::string sum = counts_text(counts, engine);
  const std::string brief =
      engine ? fmt::format("{}+{}+{} = {}", counts.used, counts.cached_free, counts.free, step.blocks.size())
             : fmt::format("{} of {}", counts.used, step.blocks.size());
  const std::string when = moment_text(ui.frame, ui.selection, ui.view.grain);
  const std::string timed = when.empty() ? "" : when + "  \xC2\xB7  ";
  const std::string timed_sum = timed + sum, timed_brief = timed + brief;
  // Inside a step it matters more when this is than how much there is.
  const bool inside = !moment_shown(ui.frame, ui.selection, ui.view.grain).committed;
  const std::string_view shown =
      inside ? first_fitting(ui, FontRole::small, box.w, {timed_sum, timed_brief, when})
             : first_fitting(ui, FontRole::small, box.w, {timed_sum, sum, brief, ""});
  text_in(ui, FontRole::small, box, ui[inside ? Color::accent : Color::muted], shown, Align::right);
  mark(ui, "pool/sum", box,
       engine ? sum + "\ncached-free: ref_count 0, but the hash is kept and can be hit" : sum,
       engine ? fmt::format("blocks of step {}, {}", step.step, when) : "block_tables I32 of the case");
}

/// What the cards leave of the area: in a low panel the legend may make them lower, but not poorer. Squares
/// say nothing without it.
float legend_height(const Ui& ui, const Rect& area, int blocks, int block_size) {
  const float h = pool_legend_height(ui, area.w);
  if (ui.body.h > ui.px(150)) return h;
  const int zoom = ui.view.data.pool.zoom;
  const PoolLayout all = layout_pool(area, blocks, block_size, ui.scale, zoom);
  if (all.detail == CardDetail::tile) return pool_legend_line(ui);
  const Rect above{area.x, area.y, area.w, area.h - h};
  const PoolLayout less = layout_pool(above, blocks, block_size, ui.scale, zoom);
  return less.detail == all.detail && less.content_h <= above.h + 0.5F ? h : 0.0F;
}

void draw_content(Ui& ui, PoolLayout layout, const Rect& area) {
  const Now now = pool_shown(ui);
  const bool scrolls = layout.content_h > area.h + 0.5F;
  // Room for rings of the outermost cards; their cards stay inside.
  const Rect clip_area{area.x - ui.px(3), area.y - ui.px(3), area.w + ui.px(6), area.h + ui.px(6)};
  const float top = begin_scroll(ui, "pool/cards", clip_area, false);
  if (scrolls) layout.y = scroll_to_selected(ui, layout, clip_area, top) + ui.px(3);
  const float pitch = layout.card_h + layout.gap;
  const int first_row = std::clamp(static_cast<int>((clip_area.y - layout.y) / pitch), 0, layout.rows());
  const int end_row =
      std::clamp(static_cast<int>(std::ceil((clip_area.bottom() - layout.y) / pitch)), 0, layout.rows());
  const int first = first_row * layout.columns;
  const int end = std::min(layout.num_blocks, end_row * layout.columns);
  if (layout.detail == CardDetail::tile)
    draw_tiles(ui, layout, *now, first, end);
  else
    draw_cards(ui, layout, *now, first, end);
  answer_mouse(ui, layout, now, clip_area);
  add_families(ui, layout, now, {clip_area});
  end_scroll(ui, layout.y + layout.content_h + ui.px(3), pitch);
}

}  // namespace

void draw_block_pool(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "pool", rect, "Block pool")) return;
  const trace::StepRecord* step = ui.frame.step.get();
  if (step == nullptr || step->blocks.empty()) {
    const bool packed = step != nullptr && ui.frame.manifest && ui.frame.manifest->is_tensor_case();
    empty_note(ui, packed ? "Packed keys: this case reads no cache."
                          : "The physical blocks of the KV cache appear here, in id order, with reference "
                            "counts and hashes.");
    end_panel(ui);
    return;
  }
  const int block_size = std::max(1, step->config.block_size);
  const int blocks = static_cast<int>(step->blocks.size());
  Rect area{ui.body.x + ui.px(3), ui.body.y, ui.body.w - ui.px(6), ui.body.h - ui.px(3)};
  const float legend_h = legend_height(ui, area, blocks, block_size);
  area.h -= legend_h;
  PoolLayout layout = layout_pool(area, blocks, block_size, ui.scale, ui.view.data.pool.zoom);
  if (layout.content_h > area.h + 0.5F) {  // make room for the scroll bar
    const Rect narrow{area.x, area.y, area.w - ui.px(10), area.h};
    layout = layout_pool(narrow, blocks, block_size, ui.scale, ui.view.data.pool.zoom);
  }
  draw_title(ui, {ui.body.x, rect.y + ui.px(6), ui.body.w, ui.px(20)}, layout);
  if (touch(ui, area).hovered && ImGui::GetIO().MouseWheel != 0.0F)
    zoom_by(ui, layout, ImGui::GetIO().MouseWheel > 0.0F ? 1 : -1);
  draw_content(ui, layout, area);
  if (legend_h > 0.0F) draw_pool_legend(ui, {area.x, ui.body.bottom() - legend_h, area.w, legend_h}, layout);
  end_panel(ui);
}

}  // namespace attn::viz
