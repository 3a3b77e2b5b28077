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
  float content_h = 0;  // of all cards; larger than the area when they have to be scrolled
  int size = 0;         // index of the card size in use, 0 = largest
  int all_fit = 0;      // largest size at which no card has to be scrolled

  int rows() const { return (num_blocks + columns - 1) / columns; }
  Rect card(int block) const;
  /// Block whose card (or the gap behind it) is at a point, -1 outside.
  int at(float px, float py) const;
  /// Slot inside a card of detail `slots`.
  Rect slot(int block, int offset, float scale) const;
};

/// The largest cards that all fit; where only squares would, the smallest cards as long as they take no more
/// than kMostScreens areas. Or `zoom` sizes above that, or below. Cards that do not fit go on below the area.
/// `letters` is how much larger the letters are than those that the sizes are made for.
PoolLayout layout_pool(const Rect& area, int num_blocks, int block_size, float scale, int zoom = 0,
                       float letters = 1.0F);

/// Cards in view at most; what would be more is drawn as bare squares.
inline constexpr int kMostCards = 300;
/// Cards say more than squares, but looking for one of them takes scrolling.
inline constexpr float kMostScreens = 2.0F;
/// Height of a detailed card's heading and its inner padding, at scale 1.
inline constexpr float kCardHeading = 18.0F;
inline constexpr float kCardPadding = 4.0F;

}  // namespace attn::viz
