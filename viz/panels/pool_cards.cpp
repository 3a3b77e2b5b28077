#include "viz/panels/pool_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "viz/lookup.h"
#include "viz/panels/pool_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

// One draw list holds 65,535 vertices: more slots than this are drawn without tokens and dots.
constexpr int kSlotsWithText = 512;
constexpr float kDigitInk = 0.56F;  // of the height of a line, in its middle: what digits take

/// Low cards with a fill bar: their id and bar keep less distance from the border.
bool low(const Ui& ui, const PoolCard& card) { return card.rect.h < ui.px(36); }

/// Dotted when free, brighter dotted when its contents can still be hit, solid in the owner's hue when one
/// sequence holds it, a double border when several do.
void draw_surface(const Ui& ui, const PoolCard& card, bool compact) {
  const float round = ui.px(3);
  if (card.free()) {
    if (card.cached_free()) fill(ui, card.rect, ui[Color::raised], 0.55F);
    dotted(ui, card.rect, ui[card.cached_free() ? Color::text : Color::unwritten]);
    return;
  }
  fill(ui, card.rect, ui[Color::raised], 1.0F, round);
  const Rgb edge = card.owner() >= 0 && !card.shared() ? hue_of(ui, card.owner()) : ui[Color::text];
  const float thick = std::max(1.0F, ui.px(compact && card.shared() ? 1 : 1.5F));
  outline(ui, card.rect, edge, thick, round);
  if (!card.shared()) return;
  const float in = std::round(ui.px(compact ? 2 : 3));
  outline(ui, {card.rect.x + in, card.rect.y + in, card.rect.w - 2 * in, card.rect.h - 2 * in}, edge, 1.0F);
}

/// "×2" in inverse colours, right-aligned at `right`; returns its left edge.
float draw_badge(const Ui& ui, const PoolCard& card, float right, float y, float h) {
  const std::string text = fmt::format("\xC3\x97{}", card.block.ref_count);
  const float w = text_width(ui, FontRole::mono_small, text) + ui.px(4);
  const Rect box{right - w, y, w, h};
  fill(ui, box, ui[Color::text], 1.0F, ui.px(2));
  text_in(ui, FontRole::mono_small, box, ui[Color::panel], text, Align::center);
  note_in_card(ui, fmt::format("pool/badge/{}", card.block.id), box);
  return box.x - ui.px(3);
}

/// ▼ written and △ read in this step, at the right; returns the left edge.
float draw_glyphs(const Ui& ui, const PoolCard& card, float left, float right, float y, float glyph) {
  if (card.facts.read && right - glyph > left) {
    right -= glyph;
    triangle_up(ui, right, y, glyph, ui[Color::accent]);
    if (card.shared())
      note_in_card(ui, fmt::format("pool/read/{}", card.block.id), {right, y, glyph, glyph * 0.85F});
    right -= ui.px(2);
  }
  if (card.facts.written > 0 && right - glyph > left) {
    right -= glyph;
    triangle_down(ui, right, y, glyph, ui[Color::warning]);
    right -= ui.px(2);
  }
  return right;
}

float badge_width(const Ui& ui, const PoolCard& card) {
  return text_width(ui, FontRole::mono_small, fmt::format("\xC3\x97{}", card.block.ref_count)) + ui.px(4);
}

float glyphs_width(const Ui& ui, const PoolCard& card, float glyph) {
  return (glyph + ui.px(2)) *
         static_cast<float>((card.facts.read ? 1 : 0) + (card.facts.written > 0 ? 1 : 0));
}

float hash_width(const Ui& ui, const PoolCard& card) {
  return text_width(ui, FontRole::mono_small, hash_tag(*card.block.hash)) + ui.px(2);
}

/// Of a card without slots.
Rect fill_bar(const Ui& ui, const PoolCard& card) {
  const float in = ui.px(card.shared() ? 6 : 5);
  const float h = ui.px(low(ui, card) ? 4 : 5);
  const float y = card.rect.bottom() - (low(ui, card) ? ui.px(card.shared() ? 5 : 4) : in) - h;
  return {card.rect.x + in, y, card.rect.w - 2.0F * in, h};
}

/// Where such a card has room for the hash between its id and its bar; w = 0: nowhere.
Rect hash_line(const Ui& ui, const PoolCard& card) {
  if (!card.block.hash) return {};
  const Rect bar = fill_bar(ui, card);
  const float id_middle = card.rect.y + ui.px(low(ui, card) ? 2 : 4) + ui.px(13) * 0.5F;
  float id_end = id_middle + kDigitInk * 0.5F * font_pixels(FontRole::mono);
  if (card.shared())
    id_end = std::max(id_end, card.rect.y + ui.px(low(ui, card) ? 13 : 15));  // the badge's end
  const float h = font_pixels(FontRole::mono_small);
  if (bar.y - id_end < kDigitInk * h + ui.px(card.shared() ? 2 : 4) || hash_width(ui, card) > bar.w)
    return {};
  return {bar.x, (id_end + bar.y - h) * 0.5F, hash_width(ui, card), h};
}

/// Where the heading of a small card has no room for all, badge and hash take it, and the glyphs stand beside
/// the fill bar.
bool glyphs_at_bar(const Ui& ui, const PoolCard& card) {
  const float room = card.rect.w - 2.0F * ui.px(card.shared() ? 6 : 5);
  float used = text_width(ui, FontRole::mono, std::to_string(card.block.id)) + ui.px(3);
  if (card.shared()) used += badge_width(ui, card);
  const bool hash = card.block.hash && hash_line(ui, card).w <= 0.0F && used + hash_width(ui, card) <= room;
  if (hash) used += hash_width(ui, card);
  return (card.shared() || hash) && used + glyphs_width(ui, card, ui.px(7)) > room;
}

/// The first digits of the hash, whole or not at all.
void draw_hash(const Ui& ui, const PoolCard& card, const Rect& box, Align align) {
  if (hash_width(ui, card) - ui.px(2) > box.w) return;
  text_in(ui, FontRole::mono_small, box, ui[Color::muted], hash_tag(*card.block.hash), align);
  const float ink = kDigitInk * font_pixels(FontRole::mono_small);
  note_in_card(ui, fmt::format("pool/hash/{}", card.block.id),
               {box.x, box.y + (box.h - ink) * 0.5F, box.w, ink});
}

/// Id at the left; glyphs, badge and hash tag at the right, as far as there is room: of a shared block how
/// often before anything else. Above a fill bar the hash has a line of its own where the card is high enough.
void draw_heading(const Ui& ui, const PoolCard& card, bool bar_below) {
  const float pad = ui.px(card.shared() ? 6 : 5);
  const bool near = bar_below && low(ui, card);
  const Rect box{card.rect.x + pad, card.rect.y + ui.px(near ? 2 : 4), card.rect.w - 2.0F * pad, ui.px(13)};
  const Rgb ink = card.free() && !card.cached_free() ? ui[Color::muted] : ui[Color::text];
  const float used = text_in(ui, FontRole::mono, box, ink, std::to_string(card.block.id), Align::left);
  const float left = box.x + used + ui.px(3);
  float right = box.right();
  const bool badge_first = glyphs_at_bar(ui, card);
  if (!badge_first) right = draw_glyphs(ui, card, left, right, box.y + ui.px(3), ui.px(7));
  if (card.shared() && right - badge_width(ui, card) >= left - ui.px(2))
    right = draw_badge(ui, card, right, box.y + (bar_below ? ui.px(1) : 0.0F),
                       box.h - (bar_below ? ui.px(3) : 0.0F));
  if (badge_first && !bar_below) right = draw_glyphs(ui, card, left, right, box.y + ui.px(3), ui.px(7));
  if (card.block.hash && !(bar_below && hash_line(ui, card).w > 0.0F))
    draw_hash(ui, card, {left, box.y, right - left, box.h}, Align::right);
}

/// Beside the id, and no further up than the gap to the card above has room for beside a ring.
void draw_changed(const Ui& ui, const PoolCard& card) {
  const float y = card.rect.y + ui.px(2), r = ui.px(3) + 1.0F;
  change_dot(ui, card.rect.x, y);
  note_in_card(ui, fmt::format("pool/changed/{}", card.block.id),
               {card.rect.x - r, y - r, 2.0F * r, 2.0F * r});
}

/// Back of a filled slot: its owner's hue when written in this step, ghosted when nobody holds it.
Rgb slot_color(const Ui& ui, const PoolCard& card, int offset) {
  if (card.free()) return mix(ui[Color::panel], ui[Color::raised], 0.9);
  if (card.owner() < 0) return ui[Color::raised];
  return card.facts.wrote(offset) ? hue_of(ui, card.owner()) : tint_of(ui, card.owner());
}

void draw_slots(const Ui& ui, const PoolCard& card, const PoolLayout& layout, int block_size,
                bool with_text) {
  const int hover_slot = ui.view.hover.block == card.block.id && ui.view.hover.k_col >= 0
                             ? ui.view.hover.k_col % block_size
                             : -1;
  for (int offset = 0; offset < block_size; ++offset) {
    const Rect slot = layout.slot(card.block.id, offset, ui.scale);
    if (offset >= card.block.num_filled) {
      if (with_text && slot.w >= 4.0F && !card.free()) dotted(ui, slot, ui[Color::unwritten]);
      continue;
    }
    const bool fresh = card.facts.wrote(offset) && card.owner() >= 0 && !card.free();
    fill(ui, slot, slot_color(ui, card, offset));
    if (offset == hover_slot) outline(ui, slot, ui[Color::selection], ui.px(1.5F));
    const bool room = slot.w >= ui.px(17) && slot.h >= kDigitInk * font_pixels(FontRole::mono_small);
    if (!with_text || !room || static_cast<std::size_t>(offset) >= card.facts.tokens.size()) continue;
    const Rgb ink = card.free() ? ui[Color::muted] : fresh ? on_hue_of(ui, card.owner()) : ui[Color::text];
    text_in(ui, FontRole::mono_small, {slot.x + 1.0F, slot.y, slot.w - 1.0F, slot.h}, ink,
            token_label(ui.frame, card.facts.tokens[static_cast<std::size_t>(offset)]), Align::center);
  }
}

/// The slots as one bar: a piece per slot while there is room, filled as far as K/V is there.
void draw_fill_bar(const Ui& ui, const PoolCard& card, int block_size) {
  if (card.free() && !card.cached_free()) return;
  Rect bar = fill_bar(ui, card);
  if (const Rect line = hash_line(ui, card); line.w > 0.0F) draw_hash(ui, card, line, Align::left);
  if (glyphs_at_bar(ui, card)) {
    const float glyph = ui.px(card.rect.h < ui.px(32) ? 5 : 7);  // below the badge
    draw_glyphs(ui, card, bar.x, bar.right(), bar.bottom() - glyph * 0.85F - 0.5F, glyph);
    bar.w -= glyphs_width(ui, card, glyph);
  }
  const Rgb full = card.cached_free()  ? ui[Color::unwritten]
                   : card.owner() >= 0 ? hue_of(ui, card.owner())
                                       : ui[Color::stroke];
  const int filled = std::clamp(card.block.num_filled, 0, block_size);
  const float pitch = bar.w / static_cast<float>(std::max(1, block_size));
  if (pitch < ui.px(4)) {
    fill(ui, bar, ui[Color::border]);
    fill(ui, {bar.x, bar.y, std::round(pitch * static_cast<float>(filled)), bar.h}, full);
    return;
  }
  for (int i = 0; i < block_size; ++i) {
    const float x0 = std::round(bar.x + pitch * static_cast<float>(i));
    const float x1 = std::round(bar.x + pitch * static_cast<float>(i + 1)) - 1.0F;
    const Rect piece{x0, bar.y, x1 - x0, bar.h};
    if (i < filled)
      fill(ui, piece, full);
    else
      outline(ui, piece, ui[Color::unwritten]);
  }
}

/// An engine's record has every block that nobody holds in its free queue; a tensor case has no queue.
std::string state_text(const trace::StepRecord& step, const trace::BlockState& block) {
  if (block.ref_count > 1) return fmt::format("shared, ref_count {}", block.ref_count);
  if (block.ref_count == 1) return "in use, ref_count 1";
  if (!block.hash && step.free_blocks.empty()) return "in no block table";
  return block.hash ? "free, but its contents can still be hit, ref_count 0" : "free, ref_count 0";
}

std::string hash_text(const trace::StepRecord& step, const trace::BlockState& block) {
  if (!block.hash) return "no hash: only full blocks are registered";
  const int parent = parent_of(step, block.id);
  return fmt::format("hash {:016x}, parent {}", *block.hash,
                     parent >= 0           ? fmt::format("block {}", parent)
                     : parent == kNoParent ? "none (first block)"
                                           : "not in the pool any more");
}

}  // namespace

PoolCard pool_card(const PoolLayout& layout, const PoolNow& now, int block) {
  const auto i = static_cast<std::size_t>(block);
  return {now.pool.blocks[i], now.facts[i], layout.card(block)};
}

void note_in_card(const Ui& ui, std::string name, const Rect& rect) {
  if (const Rect seen = visible_part(ui, rect); seen.w > 0.0F) ui.marks.add(std::move(name), seen);
}

bool block_differs(const Frame& frame, const PoolNow& now, int block) {
  return now.moment.committed ? block_changed(frame, block)
                              : now.facts[static_cast<std::size_t>(block)].changed;
}

void draw_block_rings(const Ui& ui, const Rect& rect, int block, float out) {
  const bool selected = ui.selection.block == block;
  if (!selected && ui.view.hover.block != block) return;
  outline(ui, {rect.x - out, rect.y - out, rect.w + 2.0F * out, rect.h + 2.0F * out},
          ui[selected ? Color::selection : Color::accent], ui.px(2));
}

std::shared_ptr<const PoolNow> pool_shown(const Ui& ui) {
  PoolView& view = ui.view.data.pool;
  const trace::Moment moment = moment_shown(ui.frame, ui.selection, ui.view.grain);
  if (view.step != ui.frame.step || !view.now || view.now->moment != moment) {
    view.step = ui.frame.step;
    view.now = std::make_shared<const PoolNow>(pool_now(ui.frame, moment));
  }
  return view.now;
}

std::string block_text(const Frame& frame, const PoolNow& now, int block) {
  const trace::StepRecord& step = *frame.step;
  const trace::BlockState& b = now.pool.blocks[static_cast<std::size_t>(block)];
  const BlockFacts& facts = now.facts[static_cast<std::size_t>(block)];
  std::string text = fmt::format("block {}: {}, {} of {} slots filled\n{}", b.id, state_text(step, b),
                                 b.num_filled, step.config.block_size, hash_text(step, b));
  for (std::size_t i = 0; i < facts.owners.size() && i < 8; ++i)
    text += (i == 0 ? "\nheld by " : ", ") + seq_letter(facts.owners[i]);
  if (facts.owners.size() > 8) text += fmt::format(" and {} more", facts.owners.size() - 8);
  for (std::size_t i = 0; i < facts.tokens.size() && i < 16; ++i)
    text += (i == 0 ? "\ntokens " : " ") + token_label(frame, facts.tokens[i]);
  if (facts.tokens.size() > 16) text += fmt::format(" and {} more", facts.tokens.size() - 16);
  if (facts.written > 0) text += fmt::format("\n{} slots written in this step", facts.written);
  if (facts.read) text += "\nread in this step";
  if (!now.moment.committed) return text;
  const std::string changes = changes_at(frame, fmt::format("block {}", block));
  if (!changes.empty()) text += fmt::format("\nchanged since step {}:\n{}", frame.changes->before, changes);
  return text;
}

std::string block_source(const Frame& frame, int block) {
  return fmt::format("blocks[{}], slot_mapping I32, after commit of step {}", block, frame.step->step);
}

void draw_cards(const Ui& ui, const PoolLayout& layout, const PoolNow& now, int first, int end) {
  const int block_size = std::max(1, ui.frame.step->config.block_size);
  const bool slots = layout.detail == CardDetail::slots, compact = cards_are_compact(ui, layout);
  for (int i = first; i < end; ++i) {
    const PoolCard card = pool_card(layout, now, i);
    draw_surface(ui, card, compact);
    if (compact) {
      draw_compact_card(ui, card, block_size);
    } else {
      draw_heading(ui, card, !slots);
      if (slots)
        draw_slots(ui, card, layout, block_size, (end - first) * block_size <= kSlotsWithText);
      else
        draw_fill_bar(ui, card, block_size);
    }
    if (block_differs(ui.frame, now, i)) draw_changed(ui, card);
    if (card.facts.written > 0 && lit(ui, "slot_mapping"))
      outline(ui, card.rect, ui[Color::accent], ui.px(2), ui.px(3));
    draw_block_rings(ui, card.rect, i, 1.0F);
  }
}

}  // namespace attn::viz
