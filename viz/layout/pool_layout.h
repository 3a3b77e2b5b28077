// Geometry of the block pool: cards in physical id order, as detailed as the area allows. Pure, in pixels.
#pragma once

#include "viz/marks.h"

namespace attn::viz {

enum class CardDetail : unsigned char {
  slots,  // id, badge, hash and every slot with its token
  fill,   // id, badge and a fill bar
  tile    // a coloured square
};

struct PoolLayout {
  CardDetail detail = CardDetail::tile;
  int num_blocks = 0;
  int columns = 1;
  int slot_columns = 1;  // slots per row of a card
  int slot_rows = 1;
  float card_w = 0, card_h = 0, gap = 0;
  float x = 0, y = 0;
  int shown = 0;  // cards that fit; the rest is told in words

  Rect card(int block) const;
  /// Slot inside a card of detail `slots`.
  Rect slot(int block, int offset, float scale) const;
};

PoolLayout layout_pool(const Rect& area, int num_blocks, int block_size, float scale);

/// Height of a detailed card's heading and its inner padding, at scale 1.
inline constexpr float kCardHeading = 18.0F;
inline constexpr float kCardPadding = 4.0F;

}  // namespace attn::viz
