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

/// A newly selected block is brought into view.
void scroll_to_selected(Ui& ui, const PoolLayout& layout, const Rect& area) {
  PoolView& view = ui.view.data.pool;
  if (ui.selection.block == view.shown_block) return;
  view.shown_block = ui.selection.block;
  if (ui.selection.block < 0 || ui.selection.block >= layout.num_blocks) return;
  const Rect card = layout.card(ui.selection.block);
  const float y = card.y - layout.y;
  const float scroll = ImGui::GetScrollY();
  if (y >= scroll && y + card.h <= scroll + area.h) return;
  ImGui::SetScrollY(std::max(0.0F, y - (area.h - card.h) * 0.5F));
}

/// The first block that a lesson or a picture rings; -1: none.
int ringed_block(const Ui& ui) {
  const std::vector<std::string>& names = ui.frame.lesson ? ui.frame.lesson->rings : ui.view.picture.ringed;
  for (const std::string& name : names) {
    if (name.starts_with("pool/block/")) return number_of(std::string_view(name).substr(11));
    if (name.starts_with("pool/slot/"))
      return number_of(std::string_view(name).substr(10)) / std::max(1, ui.frame.step->config.block_size);
  }
  return -1;
}

/// Of the runs of so many rows the first that has the most blocks in use.
int fullest_rows(const PoolLayout& layout, const trace::PoolState& pool, int rows) {
  const auto used_in = [&](int row) {
    int used = 0;
    for (int i = row * layout.columns; i < std::min(layout.num_blocks, (row + 1) * layout.columns); ++i)
      used += pool.blocks[static_cast<std::size_t>(i)].ref_count > 0 ? 1 : 0;
    return used;
  };
  int sum = 0, best = 0, most = 0;
  for (int row = 0; row < layout.rows(); ++row) {
    sum += used_in(row) - (row >= rows ? used_in(row - rows) : 0);
    if (sum > most) best = std::max(0, row - rows + 1);
    most = std::max(most, sum);
  }
  return best;
}

/// Cards that have to be scrolled begin where the most blocks are in use, or where one is ringed. They stay
/// there from step to step.
void scroll_to_used(Ui& ui, const PoolLayout& layout, const trace::PoolState& pool, const Rect& area) {
  const PoolSight sight{layout.num_blocks, layout.columns, ringed_block(ui), layout.card_h};
  PoolView& view = ui.view.data.pool;
  if (view.sight == sight) return;
  view.sight = sight;
  const float pitch = layout.card_h + layout.gap;
  const int rows = std::max(1, static_cast<int>((area.h - fold_note_height(ui)) / pitch));
  const int row = sight.ringed >= 0 ? std::max(0, sight.ringed / layout.columns - rows / 2)
                                    : fullest_rows(layout, pool, rows);
  ImGui::SetScrollY(pitch * static_cast<float>(row));
}

PoolLayout layout_of(const Ui& ui, const Rect& area, int blocks, int block_size) {
  const float letters = font_pixels(FontRole::mono_small) / ui.px(11);
  return layout_pool(area, blocks, block_size, ui.scale, ui.view.data.pool.zoom, letters);
}

void zoom_by(Ui& ui, const PoolLayout& layout, int by) {
  PoolView& view = ui.view.data.pool;
  if (by > 0 ? layout.size > 0 : layout.size < layout.all_fit) view.zoom += by;
}

/// − and + at the right of the title.
void draw_zoom(Ui& ui, const Rect& title, const PoolLayout& layout) {
  if (ui.view.picture.still) return;
  const float side = ui.px(24);
  const float y = title.y - ui.px(2);
  Rect box{title.right() - side, y, side, side};
  if (button(ui, "pool/zoom/in", box, "+", "larger cards (mouse wheel)", layout.size > 0))
    zoom_by(ui, layout, 1);
  box.x -= side + ui.px(4);
  if (button(ui, "pool/zoom/out", box, "\xE2\x88\x92", "smaller cards, down to all at once (mouse wheel)",
             layout.size < layout.all_fit))
    zoom_by(ui, layout, -1);
}

/// "after attention of layer 0" -> "after attention".
std::string short_moment(const std::string& when) { return when.substr(0, when.find(" of layer")); }

bool of_engine(const Ui& ui) { return !ui.frame.manifest || !ui.frame.manifest->is_tensor_case(); }

/// How many blocks there are of each kind, in as many words as fit: what moment it is of goes first. "": not
/// even the numbers fit.
std::string sum_that_fits(const Ui& ui, float width) {
  const PoolNow& now = *pool_shown(ui);
  const PoolCounts c = count_blocks(now.pool.blocks);
  const bool engine = of_engine(ui);
  const std::string words = counts_text(c, engine);
  const std::size_t all = now.pool.blocks.size();
  const std::string numbers = engine ? fmt::format("{} + {} + {} = {}", c.used, c.cached_free, c.free, all)
                                     : fmt::format("{} of {}", c.used, all);
  const std::string close = engine ? fmt::format("{}+{}+{} = {}", c.used, c.cached_free, c.free, all) : "";
  const std::string when = moment_text(ui.frame, ui.selection, ui.view.grain);
  for (const std::string& sum : {words, numbers}) {
    for (const std::string& moment : {when, short_moment(when)}) {
      const std::string text = moment.empty() ? sum : moment + "  \xC2\xB7  " + sum;
      if (text_width(ui, FontRole::small, text) <= width) return text;
    }
    if (text_width(ui, FontRole::small, sum) <= width) return sum;
  }
  return text_width(ui, FontRole::small, close) <= width ? close : "";
}

/// Beside the title, between its buttons.
Rect title_room(const Ui& ui, const Rect& title) {
  const float left = title.x + text_width(ui, FontRole::strong, "Block pool") + ui.px(36);
  const float buttons = ui.view.picture.still ? 0.0F : 2.0F * ui.px(24) + ui.px(4) + ui.px(8);
  return {left, title.y, std::max(0.0F, title.right() - buttons - left), title.h};
}

void draw_sum(Ui& ui, const Rect& box) {
  const PoolNow& now = *pool_shown(ui);
  const bool engine = of_engine(ui);
  const std::string sum = counts_text(count_blocks(now.pool.blocks), engine);
  text_in(ui, FontRole::small, box, ui[now.moment.committed ? Color::muted : Color::accent],
          sum_that_fits(ui, box.w), Align::right);
  mark(ui, "pool/sum", box,
       engine ? sum + "\ncached-free: ref_count 0, but the hash is kept and can be hit" : sum,
       engine ? fmt::format("blocks of step {}, {}", ui.frame.step->step,
                            moment_text(ui.frame, ui.selection, ui.view.grain))
              : "block_tables I32 of the case");
}

/// What the cards leave of the area: with all words of the legend, or with the shortest where cards become
/// poorer by those or have to be scrolled. In a low panel squares keep one line, for they say nothing without
/// it, and cards that would become poorer keep none.
float legend_height(const Ui& ui, const Rect& area, int blocks, int block_size) {
  const bool low = ui.body.h <= ui.px(150);
  const float line = pool_legend_line(ui);
  const auto above = [&](float h) {
    return layout_of(ui, {area.x, area.y, area.w, area.h - h}, blocks, block_size);
  };
  const CardDetail most = above(0.0F).detail;
  if (most == CardDetail::tile) return low ? line : pool_legend_height(ui, area.w, false);
  float h = pool_legend_height(ui, area.w, true);
  const float brief = pool_legend_height(ui, area.w, true, true);
  const PoolLayout less = above(h);
  if (less.content_h > area.h - h + 0.5F || less.detail > above(brief).detail) h = brief;
  if (!low || above(h).detail == most) return h;
  return above(line).detail == most ? line : 0.0F;
}

void draw_content(Ui& ui, PoolLayout layout, const Rect& area) {
  const Now now = pool_shown(ui);
  const bool scrolls = layout.content_h > area.h + 0.5F;
  // Room for rings of the outermost cards; their cards stay inside.
  const Rect clip_area{area.x - ui.px(3), area.y - ui.px(3), area.w + ui.px(6), area.h + ui.px(6)};
  const float top = begin_scroll(ui, "pool/cards", clip_area, false);
  if (scrolls) {
    layout.y = top + ui.px(3);
    scroll_to_used(ui, layout, now->pool, area);
    scroll_to_selected(ui, layout, clip_area);
  }
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
  // It ends in the gap between two rows: below what rings the upper one, above what marks the lower one.
  const float low = layout.y + layout.content_h + (layout.detail == CardDetail::tile ? 0.0F : 1.0F);
  add_families(ui, layout, now, {end_scroll(ui, low, pitch)});
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
  const Rect title{ui.body.x, rect.y + ui.px(6), ui.body.w, ui.px(20)};
  Rect sum = title_room(ui, title);
  if (sum_that_fits(ui, sum.w).empty()) {  // a line of its own
    sum = {ui.body.x, ui.body.y, ui.body.w, ui.px(20)};
    ui.body = {ui.body.x, sum.bottom(), ui.body.w, ui.body.bottom() - sum.bottom()};
  }
  Rect area{ui.body.x + ui.px(3), ui.body.y, ui.body.w - ui.px(6), ui.body.h - ui.px(3)};
  const float legend_h = legend_height(ui, area, blocks, block_size);
  area.h -= legend_h;
  PoolLayout layout = layout_of(ui, area, blocks, block_size);
  if (layout.content_h > area.h + 0.5F)  // make room for the scroll bar
    layout = layout_of(ui, {area.x, area.y, area.w - ui.px(10), area.h}, blocks, block_size);
  draw_sum(ui, sum);
  draw_zoom(ui, title, layout);
  const ImGuiIO& io = ImGui::GetIO();
  if (mouse_over(area) && io.MouseWheel != 0.0F && io.KeyCtrl == ui.view.scroll_parts.any())
    zoom_by(ui, layout, io.MouseWheel > 0.0F ? 1 : -1);
  draw_content(ui, layout, area);
  if (legend_h > 0.0F) draw_pool_legend(ui, {area.x, ui.body.bottom() - legend_h, area.w, legend_h}, layout);
  end_panel(ui);
}

}  // namespace attn::viz
