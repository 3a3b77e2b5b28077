// The smallest cards: id, a fill bar, and in the corners how often the block is shared, written and read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/panels/pool_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kLeastHeight = 23.0F;  // of a card whose badge has its id's line, at scale 1
constexpr float kDigitHeight = 0.56F;  // of a line's height, in its middle

/// Between the border and what is in the card.
Rect content_of(const Ui& ui, const PoolCard& card) {
  const float pad = std::round(ui.px(card.shared() ? 4 : 3));
  return {card.rect.x + pad, card.rect.y + pad, card.rect.w - 2.0F * pad, card.rect.h - 2.0F * pad};
}

/// "×2", or "2" where the id beside it needs the room, in inverse colours over the corner; its left edge.
float draw_corner_badge(const Ui& ui, const PoolCard& card, float id_w) {
  const std::string number = std::to_string(card.block.ref_count);
  const std::string times = "\xC3\x97" + number;
  const auto wide = [&](const std::string& text) {
    return text_width(ui, FontRole::mono_small, text) + ui.px(3);
  };
  const float room = card.rect.right() - content_of(ui, card).x - id_w - ui.px(1);
  const std::string& text = wide(times) <= room ? times : number;
  const float w = std::min(wide(text), card.rect.w);
  const float h = std::floor(std::max(ui.px(9), kDigitHeight * font_pixels(FontRole::mono_small) + ui.px(3)));
  const Rect box{card.rect.right() - w, card.rect.y, w, h};
  fill(ui, box, ui[Color::text], 1.0F, ui.px(2));
  text_in(ui, FontRole::mono_small, box, ui[Color::panel], text, Align::center);
  note_in_card(ui, fmt::format("pool/badge/{}", card.block.id), box);
  return box.x;
}

/// As far as the K/V of the block goes; cached-free: the small square of the legend.
void draw_bar(const Ui& ui, const PoolCard& card, const Rect& bar, int block_size) {
  if (card.cached_free())
    return fill(ui, {bar.x, bar.y + bar.h - ui.px(5), ui.px(5), ui.px(5)}, ui[Color::muted]);
  if (card.free() || bar.w < 2.0F) return;
  const float filled = static_cast<float>(std::clamp(card.block.num_filled, 0, block_size));
  const float end = std::round(bar.x + bar.w * filled / static_cast<float>(block_size));
  fill(ui, {bar.x, bar.y, end - bar.x, bar.h},
       card.owner() >= 0 ? hue_of(ui, card.owner()) : ui[Color::stroke]);
  outline(ui, {end, bar.y, bar.right() - end, bar.h}, ui[Color::unwritten]);
}

}  // namespace

bool cards_are_compact(const Ui& ui, const PoolLayout& layout) {
  const float id = text_width(ui, FontRole::mono, std::to_string(layout.num_blocks - 1));
  const float badge = text_width(ui, FontRole::mono_small,
                                 "\xC3\x97"
                                 "2") +
                      ui.px(4);
  const bool room = layout.card_w >= id + badge + ui.px(13) && layout.card_h >= ui.px(kLeastHeight);
  return layout.detail == CardDetail::fill && !room;
}

void draw_compact_card(const Ui& ui, const PoolCard& card, int block_size) {
  const Rect in = content_of(ui, card);
  const std::string id = std::to_string(card.block.id);
  const float id_w = text_width(ui, FontRole::mono_small, id);
  const float glyph = std::floor(ui.px(card.shared() ? 5 : 6));  // below the badge
  const float line = kDigitHeight * font_pixels(FontRole::mono_small);
  const float top = card.rect.y + ui.px(3.5F);
  float right = in.right();
  if (card.shared()) {
    right = draw_corner_badge(ui, card, id_w) - ui.px(1);
  } else if (card.facts.written > 0) {
    right -= glyph;
    triangle_down(ui, right, top + ui.px(0.5F), glyph, ui[Color::warning]);
    note_in_card(ui, fmt::format("pool/written/{}", card.block.id), {right, top, glyph, glyph});
    right -= ui.px(1);
  }
  const Rgb ink = card.free() && !card.cached_free() ? ui[Color::muted] : ui[Color::text];
  text_shrunk(ui, FontRole::mono_small, {in.x, top, right - in.x, line}, ink, id);
  Rect bar{in.x, 0.0F, in.w, std::round(ui.px(3))};
  bar.y = in.bottom() - bar.h;
  if (card.facts.read) {
    bar.w -= glyph + ui.px(2);
    const Rect corner{in.right() - glyph, in.bottom() - std::round(glyph * 0.85F), glyph, glyph * 0.85F};
    triangle_up(ui, corner.x, corner.y, glyph, ui[Color::accent]);
    note_in_card(ui, fmt::format("pool/read/{}", card.block.id), corner);
  }
  draw_bar(ui, card, bar, block_size);
}

}  // namespace attn::viz
