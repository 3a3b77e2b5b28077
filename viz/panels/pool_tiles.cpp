#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/panels/pool_cards.h"
#include "viz/panels/pool_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kTileAlone = 12.0F;   // px at scale 1: smaller squares are drawn in runs
constexpr float kTileWithId = 18.0F;  // smaller ones have no ids, so that a digit in one is a ref_count
constexpr float kTilePadding = 2.0F;  // left and right of an id
constexpr int kMostCounts = 2000;     // one draw list holds 65,535 vertices

Rect inset(const Rect& r, float by) {
  const float w = std::max(1.0F, r.w - 2.0F * by);  // squares of two pixels have a middle, too
  return {r.x + by, r.y + by, w, w};
}

float rim_of_core(const Rect& square) { return std::max(1.0F, std::round(square.w * 0.3F)); }
float rim_of_count(const Rect& square) { return std::max(1.0F, std::floor(square.w * 0.13F)); }

Rgb square_hue(const Ui& ui, const PoolCard& card) {
  return card.owner() >= 0 ? hue_of(ui, card.owner()) : ui[Color::stroke];
}

/// For all blocks or for none.
bool ids_fit(const Ui& ui, const PoolLayout& layout) {
  const std::string last = std::to_string(layout.num_blocks - 1);
  return layout.card_w >= ui.px(kTileWithId) &&
         kLeastShrunk * text_width(ui, FontRole::mono_small, last) <= layout.card_w - ui.px(kTilePadding);
}

void draw_shared(const Ui& ui, const PoolCard& card, bool counts) {
  const std::string count = counts ? count_in_square(ui, card.rect, card.block.ref_count) : std::string();
  draw_shared_square(ui, card.rect, square_hue(ui, card), count);
  if (!count.empty())
    note_in_card(ui, fmt::format("pool/badge/{}", card.block.id), inset(card.rect, rim_of_count(card.rect)));
}

/// A square by itself: its id or, when several hold it, how many.
void draw_tile(const Ui& ui, const PoolCard& card, bool counts, bool ids) {
  if (card.shared()) return draw_shared(ui, card, counts);
  const Rgb back = square_hue(ui, card);
  if (card.free())
    dotted(ui, card.rect, ui[card.cached_free() ? Color::text : Color::unwritten]);
  else
    fill(ui, card.rect, back);
  const float in = ui.px(kTilePadding * 0.5F);
  if (ids)
    text_shrunk(ui, FontRole::mono_small,
                {card.rect.x + in, card.rect.y, card.rect.w - 2.0F * in, card.rect.h},
                card.free() ? ui[Color::muted] : ink_on(back), std::to_string(card.block.id), Align::center);
  else if (card.cached_free())
    fill(ui, inset(card.rect, rim_of_core(card.rect)), ui[Color::muted]);
}

/// Marks a square that differs from the step before: where it may hold a number, on its rim and the gap
/// beside it.
Rect changed_corner(const Ui& ui, const PoolLayout& layout, const Rect& square) {
  if (square.w >= ui.px(kTileAlone)) {
    const float side = layout.gap + rim_of_count(square);
    return {square.x - layout.gap, square.y - layout.gap, side, side};
  }
  const float side = std::max(2.0F, std::round(square.w * 0.3F));
  return {square.x, square.y, side, side};
}

/// The last block's id beside its square, or below it, where it has no room inside: squares without ids then
/// count up to it.
void draw_last_id(const Ui& ui, const PoolLayout& layout) {
  const int last = layout.num_blocks - 1;
  const Rect tile = layout.card(last);
  const std::string id = std::to_string(last);
  const float w = text_width(ui, FontRole::mono_small, id), h = font_pixels(FontRole::mono_small);
  const Rect beside{tile.right() + ui.px(4), tile.y + std::round(std::max(0.0F, tile.h - h) * 0.5F), w, h};
  const bool free = beside.right() <= layout.card(layout.columns - 1).right();
  const Rect below{tile.right() - w, tile.bottom() + ui.px(2), w, h};
  const Rect box = free ? beside : below;
  if (visible_part(ui, box).h < h) return;
  text_in(ui, FontRole::mono_small, {box.x, box.y, box.w + 1.0F, box.h}, ui[Color::muted], id, Align::left);
  note_in_card(ui, "pool/last_id", box);
}

/// Cells of one row: used ones in runs of one owner, a small square for cached-free, a hole for shared.
void draw_cell_row(const Ui& ui, const PoolLayout& layout, const PoolNow& now, int first, int end,
                   bool counts) {
  int run = first;
  const auto look = [&](int block) {
    const PoolCard card = pool_card(layout, now, block);
    return card.free() ? -2 : card.owner();
  };
  for (int i = first; i < end; i = run) {
    const int owner = look(i);
    for (run = i + 1; run < end && look(run) == owner; ++run) {
    }
    if (owner == -2) continue;
    const Rect a = layout.card(i);
    fill(ui, {a.x, a.y, layout.card(run - 1).right() - a.x, a.h},
         owner >= 0 ? hue_of(ui, owner) : ui[Color::stroke]);
  }
  for (int i = first; i < end; ++i) {
    const PoolCard card = pool_card(layout, now, i);
    if (card.shared())
      draw_shared(ui, card, counts);
    else if (card.cached_free())
      fill(ui, inset(card.rect, rim_of_core(card.rect)), ui[Color::muted]);
  }
}

/// Lines around blocks [first, end): the last row ends with its last block.
void draw_grid(const Ui& ui, const PoolLayout& layout, int first, int end) {
  const Rect a = layout.card(first);
  const Rect last = layout.card(end - 1);
  const float right = layout.card(layout.columns - 1).right();
  const int in_last_row = (end - 1) % layout.columns + 1;
  if (layout.gap <= 0.0F) {  // no room for lines: one surface, which ends where the blocks do
    fill(ui, {a.x, a.y, right - a.x, last.y - a.y}, ui[Color::raised]);
    fill(ui, {a.x, last.y, last.right() - a.x, last.h}, ui[Color::raised]);
    const Rect all{a.x, a.y, right - a.x, last.bottom() - a.y};
    dotted(ui, all, ui[Color::unwritten]);
    return note_in_card(ui, "pool/surface", all);
  }
  for (int c = 0; c <= layout.columns; ++c) {
    const float x = a.x + (layout.card_w + layout.gap) * static_cast<float>(c) - layout.gap;
    const float bottom = c <= in_last_row ? last.bottom() : last.y;
    fill(ui, {x, a.y, layout.gap, bottom - a.y}, ui[Color::border]);
  }
  for (float y = a.y + layout.card_h; y <= last.bottom(); y += layout.card_h + layout.gap)
    fill(ui, {a.x, y, (y < last.y ? right : last.right()) - a.x, layout.gap}, ui[Color::border]);
}

}  // namespace

void draw_shared_square(const Ui& ui, const Rect& rect, Rgb hue, std::string_view count) {
  const float rim = count.empty() ? rim_of_core(rect) : rim_of_count(rect);
  const bool line = rim >= 2.0F;  // else the rim has no room for two borders
  if (line) fill(ui, rect, ui[Color::text]);
  fill(ui, line ? inset(rect, 1.0F) : rect, hue);
  const Rect hole = inset(rect, rim);
  fill(ui, hole, ui[Color::panel]);
  text_in(ui, FontRole::mono_small, hole, ui[Color::text], count, Align::center);
}

std::string count_in_square(const Ui& ui, const Rect& rect, int ref_count) {
  const float room = inset(rect, rim_of_count(rect)).w;
  const std::string number = std::to_string(ref_count);
  if (rect.w < ui.px(kTileAlone) || text_width(ui, FontRole::mono_small, number) > room) return {};
  const std::string times = "\xC3\x97" + number;
  return text_width(ui, FontRole::mono_small, times) <= room ? times : number;
}

void draw_tiles(const Ui& ui, const PoolLayout& layout, const PoolNow& now, int first, int end) {
  if (first >= end) return;
  const auto shared = std::count_if(now.pool.blocks.begin() + first, now.pool.blocks.begin() + end,
                                    [](const trace::BlockState& block) { return block.ref_count > 1; });
  const bool counts = shared <= kMostCounts;
  bool ids = false;
  if (layout.card_w >= ui.px(kTileAlone) && end - first <= kMostCards) {
    ids = ids_fit(ui, layout);
    for (int i = first; i < end; ++i) draw_tile(ui, pool_card(layout, now, i), counts, ids);
  } else {
    draw_grid(ui, layout, first, end);
    for (int i = first; i < end; i += layout.columns)
      draw_cell_row(ui, layout, now, i, std::min(end, i + layout.columns), counts);
  }
  for (int i = first; i < end; ++i) {
    const Rect rect = layout.card(i);
    if (block_differs(ui.frame, now, i)) {
      const Rect corner = changed_corner(ui, layout, rect);
      // Warning on a hue may be as light as the hue: a notch in the panel's colour sets it apart.
      if (layout.card_w < ui.px(kTileAlone))
        fill(ui, {corner.x, corner.y, corner.w + 1.0F, corner.h + 1.0F}, ui[Color::panel]);
      fill(ui, corner, ui[Color::warning]);
      if (counts && now.pool.blocks[static_cast<std::size_t>(i)].ref_count > 1)
        note_in_card(ui, fmt::format("pool/changed/{}", i), corner);
    }
    if (now.facts[static_cast<std::size_t>(i)].written > 0 && lit(ui, "slot_mapping"))
      outline(ui, rect, ui[Color::accent], ui.px(1));
    draw_block_rings(ui, rect, i, 2.0F);
  }
  if (!ids && end == layout.num_blocks) draw_last_id(ui, layout);
}

}  // namespace attn::viz
