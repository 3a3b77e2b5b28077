#include "viz/layout/pool_layout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace attn::viz {
namespace {

struct CardSize {
  CardDetail detail;
  float w, h, gap;  // at scale 1
};

constexpr float kHighestLow = 31.0F;  // from 32 on a card has a line for its hash, and the width for it
constexpr float kSmallDigitW = 6.6F, kSmallDigitH = 7.0F;  // on the smallest cards
constexpr float kMostStretch = 1.25F;

/// Of a card with its id, in letters three quarters as wide if need be, beside a badge of one digit.
float least_width(int num_blocks, float letters) {
  const auto digits = static_cast<float>(std::to_string(num_blocks - 1).size());
  return std::max(26.0F, 8.0F + kSmallDigitW * letters * (0.75F * digits + 1.0F));
}

/// From roomy slots that carry a token's text over cards with a bar and glyphs down to bare squares.
std::vector<CardSize> card_sizes(const PoolLayout& layout, bool with_slots, float letters) {
  const int slot_columns = layout.slot_columns, slot_rows = layout.slot_rows;
  std::vector<CardSize> sizes;
  if (with_slots) {
    for (const float slot_w : {52.0F, 34.0F, 28.0F, 22.0F, 16.0F, 11.0F, 8.0F}) {
      const float slot_h = std::min(slot_w, 18.0F);
      sizes.push_back({CardDetail::slots,
                       std::max(80.0F, slot_w * static_cast<float>(slot_columns) + 2.0F * kCardPadding),
                       kCardHeading + slot_h * static_cast<float>(slot_rows) + kCardPadding, 5.0F});
    }
  }
  for (const auto& [w, h] : {std::pair{76.0F, 40.0F}, {64.0F, 36.0F}, {54.0F, 34.0F}, {48.0F, 32.0F}})
    sizes.push_back({CardDetail::fill, w, h, 4.0F});
  for (const float h : {28.0F, 25.0F, 23.0F}) sizes.push_back({CardDetail::fill, 39.0F, h, 3.0F});
  const float least = least_width(layout.num_blocks, letters);
  for (const auto& [w, h] : {std::pair{34.0F, 21.0F}, {34.0F, 18.0F}, {30.0F, 18.0F}, {least, 18.0F}})
    if (w >= least && w <= 39.0F)
      sizes.push_back({CardDetail::fill, w, h + kSmallDigitH * (letters - 1.0F), 3.0F});
  for (const float side : {26.0F, 20.0F, 16.0F, 12.0F, 8.0F, 6.0F, 4.0F, 3.0F, 2.0F})
    sizes.push_back({CardDetail::tile, side, side, side / 6.0F});
  sizes.push_back({CardDetail::tile, 2.0F, 2.0F, 0.0F});  // thousands of blocks: an area, not squares
  return sizes;
}

void use_size(PoolLayout& out, const Rect& area, const CardSize& size, float scale) {
  out.detail = size.detail;
  out.gap = size.gap > 0.0F ? std::max(1.0F, std::round(size.gap * scale)) : 0.0F;
  const float w = std::min(area.w, std::max(2.0F, std::floor(size.w * scale)));
  out.card_h = std::max(2.0F, std::floor(size.h * scale));
  out.columns = std::max(1, static_cast<int>((area.w + out.gap) / (w + out.gap)));
  out.columns = std::min(out.columns, out.num_blocks);
  // Spread what is left over the columns, so that the grid ends where the panel ends (at most by half);
  // squares stay square.
  const float spare = (area.w + out.gap) / static_cast<float>(out.columns) - out.gap;
  out.card_w = size.detail == CardDetail::tile ? w : std::floor(std::min(spare, w * 1.5F));
  out.content_h = static_cast<float>(out.rows()) * (out.card_h + out.gap) - out.gap;
}

/// More than can be drawn in detail at once.
bool too_many(const PoolLayout& layout, const Rect& area) {
  const int rows = 1 + static_cast<int>(std::ceil(area.h / (layout.card_h + layout.gap)));
  return layout.detail != CardDetail::tile && std::min(layout.num_blocks, rows * layout.columns) > kMostCards;
}

/// What the rows of cards with a bar leave of the area goes to their height; squares grow while all fit, up
/// to `largest`.
void use_room(PoolLayout& out, const Rect& area, const CardSize& size, float largest, float scale) {
  if (out.detail == CardDetail::fill) {
    const float rows = static_cast<float>(out.rows());
    const float room = std::floor((area.h + out.gap) / rows - out.gap);
    const float most = size.h * kMostStretch;
    const float limit = std::floor((size.h < kHighestLow ? std::min(most, kHighestLow) : most) * scale);
    out.card_h = std::max(out.card_h, std::min(room, limit));
    out.content_h = rows * (out.card_h + out.gap) - out.gap;
  }
  if (out.detail != CardDetail::tile || size.gap <= 0.0F) return;
  for (float side = size.w + 1.0F / scale; side <= largest; side += 1.0F / scale) {
    PoolLayout larger = out;
    use_size(larger, area, {CardDetail::tile, side, side, side / 6.0F}, scale);
    if (larger.content_h > area.h) return;
    out = larger;
  }
}

}  // namespace

Rect PoolLayout::card(int block) const {
  const auto column = static_cast<float>(block % columns);
  const auto row = static_cast<float>(block / columns);
  return {x + column * (card_w + gap), y + row * (card_h + gap), card_w, card_h};
}

Rect PoolLayout::slot(int block, int offset, float scale) const {
  const Rect c = card(block);
  const float pad = kCardPadding * scale;
  const float w = (c.w - 2.0F * pad) / static_cast<float>(slot_columns);
  const float top = c.y + kCardHeading * scale;
  const float h = (c.bottom() - pad - top) / static_cast<float>(slot_rows);
  return {c.x + pad + w * static_cast<float>(offset % slot_columns),
          top + h * static_cast<float>(offset / slot_columns), w - scale, h - scale};
}

int PoolLayout::at(float px, float py) const {
  if (num_blocks == 0 || px < x || py < y) return -1;
  const int column = static_cast<int>((px - x) / (card_w + gap));
  const int block = static_cast<int>((py - y) / (card_h + gap)) * columns + column;
  return column < columns && block < num_blocks ? block : -1;
}

PoolLayout layout_pool(const Rect& area, int num_blocks, int block_size, float scale, int zoom,
                       float letters) {
  PoolLayout out;
  out.num_blocks = std::max(0, num_blocks);
  out.x = area.x;
  out.y = area.y;
  if (out.num_blocks == 0 || area.w <= 0.0F || area.h <= 0.0F) return out;
  // A block of more than 64 tokens has no slots worth drawing.
  const bool with_slots = block_size <= 64;
  if (with_slots) {
    out.slot_columns = block_size <= 4 ? block_size : block_size <= 8 ? 4 : 8;
    out.slot_rows = (block_size + out.slot_columns - 1) / out.slot_columns;
  }
  const std::vector<CardSize> sizes = card_sizes(out, with_slots, letters);
  const int smallest = static_cast<int>(sizes.size()) - 1;
  const auto use = [&](int size) {
    out.size = size;
    use_size(out, area, sizes[static_cast<std::size_t>(size)], scale);
  };
  for (use(0); out.size < smallest && (out.content_h > area.h || too_many(out, area));) use(out.size + 1);
  out.all_fit = out.size;
  int base = out.all_fit;
  if (out.detail == CardDetail::tile) {
    while (sizes[static_cast<std::size_t>(base)].detail == CardDetail::tile) --base;
    use(base);
    if (out.content_h > kMostScreens * area.h || too_many(out, area)) base = out.all_fit;
  }
  use(std::clamp(base - zoom, 0, out.all_fit));
  while (too_many(out, area)) use(out.size + 1);
  if (out.size == out.all_fit) {
    const auto i = static_cast<std::size_t>(out.size);
    const bool after_cards = i == 0 || sizes[i - 1].detail != CardDetail::tile;
    use_room(out, area, sizes[i], after_cards ? sizes[i].w : sizes[i - 1].w - 1.0F / scale, scale);
  }
  return out;
}

}  // namespace attn::viz
