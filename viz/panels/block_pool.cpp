#include "viz/panels/block_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "viz/layout/pool_layout.h"
#include "viz/lookup.h"
#include "viz/pool_facts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

struct Card {
  const trace::BlockState& block;
  const BlockFacts& facts;
  Rect rect;
  bool cached_free() const { return block.ref_count == 0 && block.hash.has_value(); }
  bool free() const { return block.ref_count == 0; }
};

std::string card_text(const Card& card) {
  const trace::BlockState& b = card.block;
  std::string text = fmt::format("block {}: ref_count {}, {} slots filled", b.id, b.ref_count, b.num_filled);
  text += b.hash ? fmt::format(", hash {:016x}", *b.hash) : ", no hash";
  if (card.cached_free())
    text += "; free, but its contents can still be hit";
  else if (card.free())
    text += "; free";
  for (std::size_t i = 0; i < card.facts.owners.size() && i < 8; ++i)
    text += (i == 0 ? "; held by " : ", ") + seq_letter(card.facts.owners[i]);
  if (card.facts.written > 0) text += fmt::format("; {} slots written in this step", card.facts.written);
  if (card.facts.read) text += "; read in this step";
  return text;
}

/// Surface and border by state; identity hue only when one sequence holds the block.
void draw_surface(const Ui& ui, const Card& card) {
  const float round = ui.px(3);
  const int owner = card.facts.owners.empty() ? -1 : card.facts.owners.front();
  if (card.free()) {
    dotted(ui, card.rect, ui[card.cached_free() ? Color::stroke : Color::unwritten]);
    return;
  }
  fill(ui, card.rect, ui[Color::raised], 1.0F, round);
  const Rgb edge = owner >= 0 && card.block.ref_count == 1 ? hue_of(ui, owner) : ui[Color::text];
  outline(ui, card.rect, edge, std::max(1.0F, ui.px(1.5F)), round);
  if (card.block.ref_count > 1) {
    const float in = ui.px(3);
    outline(ui, {card.rect.x + in, card.rect.y + in, card.rect.w - 2 * in, card.rect.h - 2 * in}, edge, 1.0F,
            round);
  }
}

/// "#12" at the left; ×n, hash tag and the ▼ △ glyphs at the right.
void draw_heading(const Ui& ui, const Card& card) {
  const float pad = ui.px(5);
  Rect line_box{card.rect.x + pad, card.rect.y + ui.px(3), card.rect.w - 2.0F * pad, ui.px(14)};
  const Rgb ink = card.free() ? ui[Color::muted] : ui[Color::text];
  const float used = text_in(ui, FontRole::mono, line_box, ink, std::to_string(card.block.id), Align::left);
  const float left = line_box.x + used + ui.px(4);
  float right = line_box.right();
  const float glyph = ui.px(7);
  if (card.block.ref_count > 1) {
    const std::string badge = fmt::format("\xC3\x97{}", card.block.ref_count);
    const float w = text_width(ui, FontRole::mono, badge) + ui.px(4);
    if (right - w > left) {
      const Rect box{right - w, line_box.y, w, line_box.h};
      fill(ui, box, ui[Color::text], 1.0F, ui.px(2));
      text_in(ui, FontRole::mono, box, ui[Color::panel], badge, Align::center);
      right -= w + ui.px(3);
    }
  }
  if (card.facts.read && right - glyph > left) {
    right -= glyph;
    triangle_up(ui, right, line_box.y + ui.px(4), glyph, ui[Color::accent]);
    right -= ui.px(3);
  }
  if (card.facts.written > 0 && right - glyph > left) {
    right -= glyph;
    triangle_down(ui, right, line_box.y + ui.px(4), glyph, ui[Color::warning]);
    right -= ui.px(3);
  }
  if (card.block.hash) {
    const std::string tag = hash_tag(*card.block.hash);
    if (right - text_width(ui, FontRole::mono_small, tag) > left) {
      text_in(ui, FontRole::mono_small, {left, line_box.y, right - left, line_box.h}, ui[Color::muted], tag,
              Align::right);
    }
  }
}

void draw_slots(const Ui& ui, const Card& card, const PoolLayout& layout, int block_size) {
  const int owner = card.facts.owners.empty() ? -1 : card.facts.owners.front();
  const int hover_slot = ui.view.hover.block == card.block.id && ui.view.hover.k_col >= 0
                             ? ui.view.hover.k_col % block_size
                             : -1;
  for (int offset = 0; offset < block_size; ++offset) {
    const Rect slot = layout.slot(card.block.id, offset, ui.scale);
    if (offset >= card.block.num_filled) {
      if (slot.w >= 4.0F && !card.free()) dotted(ui, slot, ui[Color::unwritten]);
      continue;
    }
    const bool fresh = card.facts.wrote(offset);
    const Rgb back = card.free() || owner < 0 ? mix(ui[Color::panel], ui[Color::raised], 0.7)
                     : fresh                  ? hue_of(ui, owner)
                                              : tint_of(ui, owner);
    fill(ui, slot, back);
    if (offset == hover_slot) outline(ui, slot, ui[Color::selection], ui.px(1.5F));
    if (slot.w < ui.px(17) || static_cast<std::size_t>(offset) >= card.facts.tokens.size()) continue;
    const Rgb ink = card.free()           ? ui[Color::muted]
                    : fresh && owner >= 0 ? on_hue_of(ui, owner)
                                          : ui[Color::text];
    text_in(ui, FontRole::mono_small, {slot.x + 1.0F, slot.y, slot.w - 1.0F, slot.h}, ink,
            token_label(ui.frame, card.facts.tokens[static_cast<std::size_t>(offset)]), Align::center);
  }
}

void draw_fill_bar(const Ui& ui, const Card& card, int block_size) {
  const float in = ui.px(5);
  const Rect bar{card.rect.x + in, card.rect.bottom() - ui.px(8), card.rect.w - 2.0F * in, ui.px(4)};
  const float share = static_cast<float>(std::min(card.block.num_filled, block_size)) /
                      static_cast<float>(std::max(1, block_size));
  const int owner = card.facts.owners.empty() ? -1 : card.facts.owners.front();
  fill(ui, bar, ui[Color::border]);
  fill(ui, {bar.x, bar.y, std::round(bar.w * share), bar.h},
       owner >= 0 ? hue_of(ui, owner) : ui[Color::stroke]);
}

/// A square: filled when in use, ringed when shared, an outline when free; its id while there is room.
void draw_tile(const Ui& ui, const Card& card) {
  const int owner = card.facts.owners.empty() ? -1 : card.facts.owners.front();
  const bool used = card.block.ref_count > 0;
  const Rgb back = !used ? ui[Color::panel] : owner >= 0 ? hue_of(ui, owner) : ui[Color::stroke];
  if (used) fill(ui, card.rect, back);
  if (!used) outline(ui, card.rect, ui[card.cached_free() ? Color::stroke : Color::border]);
  if (card.block.ref_count > 1 && card.rect.w >= 6.0F) outline(ui, card.rect, ui[Color::text], ui.px(2));
  const std::string id = std::to_string(card.block.id);
  if (card.rect.h < ui.px(14) || text_width(ui, FontRole::mono_small, id) + ui.px(4) > card.rect.w) return;
  text_in(ui, FontRole::mono_small, card.rect, used ? ink_on(back) : ui[Color::muted], id, Align::center);
}

void draw_card(Ui& ui, const Card& card, const PoolLayout& layout, int block_size) {
  if (layout.detail == CardDetail::tile) {
    draw_tile(ui, card);
  } else {
    draw_surface(ui, card);
    draw_heading(ui, card);
    if (layout.detail == CardDetail::slots)
      draw_slots(ui, card, layout, block_size);
    else
      draw_fill_bar(ui, card, block_size);
  }
  const bool selected = ui.selection.block == card.block.id;
  const bool lit = ui.view.hover.block == card.block.id;
  if (selected || lit)
    outline(ui, {card.rect.x - 2.0F, card.rect.y - 2.0F, card.rect.w + 4.0F, card.rect.h + 4.0F},
            ui[selected ? Color::selection : Color::accent], ui.px(2), ui.px(4));
  const Hit hit = touch(ui, card.rect);
  const bool named = layout.detail != CardDetail::tile || hit.hovered;
  if (!named) return;
  mark(ui, fmt::format("pool/block/{}", card.block.id), card.rect, card_text(card),
       fmt::format("blocks[{}], slot_mapping I32, after commit of step {}", card.block.id,
                   ui.frame.step->step));
  if (hit.hovered) ui.view.next_hover.block = card.block.id;
  if (hit.clicked) select(ui, [&](Selection& s) { s.block = s.block == card.block.id ? -1 : card.block.id; });
}

void add_slot_family(Ui& ui, const PoolLayout& layout, int block_size) {
  ui.marks.add_family("pool/slot/",
                      [layout, block_size, scale = ui.scale,
                       step = ui.frame.step](std::string_view rest) -> std::optional<Mark> {
                        int slot = -1;
                        if (std::sscanf(std::string(rest).c_str(), "%d", &slot) != 1 || slot < 0 ||
                            slot / block_size >= layout.shown)
                          return std::nullopt;
                        const auto block = static_cast<std::size_t>(slot / block_size);
                        if (block >= step->blocks.size()) return std::nullopt;
                        const bool filled = slot % block_size < step->blocks[block].num_filled;
                        return Mark{fmt::format("pool/slot/{}", slot),
                                    layout.slot(slot / block_size, slot % block_size, scale),
                                    fmt::format("slot {} = block {} * {} + {}, {}", slot, block, block_size,
                                                slot % block_size, filled ? "written" : "not written"),
                                    fmt::format("k_cache[{}, {}], v_cache[{}, {}]", block, slot % block_size,
                                                block, slot % block_size)};
                      });
}

}  // namespace

void draw_block_pool(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  std::string caption = "written \xE2\x96\xBC  read \xE2\x96\xB3";
  if (step != nullptr) {
    const PoolCounts counts = count_blocks(*step);
    caption = fmt::format("{} used + {} cached-free + {} free = {}   {}", counts.used, counts.cached_free,
                          counts.free, step->blocks.size(), caption);
  }
  if (!begin_panel(ui, "pool", rect, "Block pool", caption)) return;
  if (step == nullptr || step->blocks.empty()) {
    empty_note(
        ui,
        "The physical blocks of the KV cache appear here, in id order, with reference counts and hashes.");
    end_panel(ui);
    return;
  }
  const int block_size = std::max(1, step->config.block_size);
  Rect area = ui.body;
  area.x += ui.px(2);
  area.w -= ui.px(4);
  const PoolLayout layout = layout_pool(area, static_cast<int>(step->blocks.size()), block_size, ui.scale);
  const std::vector<BlockFacts> facts = gather_facts(ui.frame);
  for (int i = 0; i < layout.shown; ++i) {
    const auto index = static_cast<std::size_t>(i);
    draw_card(ui, {step->blocks[index], facts[index], layout.card(i)}, layout, block_size);
  }
  if (layout.shown < layout.num_blocks) {
    text_in(ui, FontRole::small, {area.x, area.bottom() - ui.px(16), area.w, ui.px(16)}, ui[Color::muted],
            fmt::format("blocks 0 to {} of {}", layout.shown - 1, layout.num_blocks), Align::right);
  }
  if (layout.detail == CardDetail::slots) add_slot_family(ui, layout, block_size);
  end_panel(ui);
}

}  // namespace attn::viz
