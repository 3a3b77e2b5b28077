#include "viz/layout/pool_layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attn::viz {
namespace {

int fit_columns(float width, float card_w, float gap) {
  return std::max(1, static_cast<int>((width + gap) / (card_w + gap)));
}

/// Tries one card size; true when all cards fit.
bool try_cards(PoolLayout& out, const Rect& area, float card_w, float card_h) {
  const int columns = fit_columns(area.w, card_w, out.gap);
  const int rows = (out.num_blocks + columns - 1) / columns;
  if (static_cast<float>(rows) * (card_h + out.gap) - out.gap > area.h || card_w > area.w) return false;
  out.columns = columns;
  // Spread what is left over the columns, so that the grid ends where the panel ends (at most by half).
  const float spare = (area.w + out.gap) / static_cast<float>(columns) - out.gap;
  out.card_w = std::floor(std::min(spare, card_w * 1.5F));
  out.card_h = card_h;
  out.shown = out.num_blocks;
  return true;
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

PoolLayout layout_pool(const Rect& area, int num_blocks, int block_size, float scale) {
  PoolLayout out;
  out.num_blocks = std::max(0, num_blocks);
  out.x = area.x;
  out.y = area.y;
  out.gap = std::round(5.0F * scale);
  if (out.num_blocks == 0 || area.w <= 0.0F || area.h <= 0.0F) return out;

  // From roomy slots that carry a token's text down to bare squares; a block of more than 64 tokens has no
  // slots worth drawing.
  if (block_size <= 64) {
    out.slot_columns = block_size <= 4 ? block_size : block_size <= 8 ? 4 : 8;
    out.slot_rows = (block_size + out.slot_columns - 1) / out.slot_columns;
    out.detail = CardDetail::slots;
    for (const float slot_w : {34.0F, 28.0F, 22.0F, 16.0F, 11.0F, 8.0F}) {
      const float slot_h = std::min(slot_w, 18.0F);
      const float w = std::max(78.0F, slot_w * static_cast<float>(out.slot_columns) + 2.0F * kCardPadding);
      const float h = kCardHeading + slot_h * static_cast<float>(out.slot_rows) + kCardPadding;
      if (try_cards(out, area, std::floor(w * scale), std::floor(h * scale))) return out;
    }
  }
  out.detail = CardDetail::fill;
  out.gap = std::round(4.0F * scale);
  for (const auto& [w, h] :
       {std::pair{76.0F, 36.0F}, {64.0F, 32.0F}, {54.0F, 30.0F}, {48.0F, 28.0F}, {40.0F, 24.0F}}) {
    if (try_cards(out, area, std::floor(w * scale), std::floor(h * scale))) return out;
  }
  out.detail = CardDetail::tile;
  for (const float side : {26.0F, 20.0F, 16.0F, 12.0F, 8.0F, 6.0F}) {
    out.gap = std::max(1.0F, std::round(side / 6.0F * scale));
    if (try_cards(out, area, std::floor(side * scale), std::floor(side * scale))) return out;
  }
  const float side = std::max(3.0F, std::floor(6.0F * scale));
  out.gap = 1.0F;
  out.card_w = out.card_h = side;
  out.columns = fit_columns(area.w, side, out.gap);
  out.shown = std::min(out.num_blocks, out.columns * static_cast<int>((area.h + out.gap) / (side + out.gap)));
  return out;
}

}  // namespace attn::viz
