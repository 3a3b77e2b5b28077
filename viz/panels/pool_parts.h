// What the cards, the squares and the legend of the block pool share.
#pragma once

#include <string>
#include <string_view>

#include "viz/layout/pool_layout.h"
#include "viz/pool_facts.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// One block while it is drawn.
struct PoolCard {
  const trace::BlockState& block;
  const BlockFacts& facts;
  Rect rect;
  bool free() const { return block.ref_count == 0; }
  bool cached_free() const { return free() && block.hash.has_value(); }
  bool shared() const { return block.ref_count > 1; }
  int owner() const { return facts.owners.empty() ? -1 : facts.owners.front(); }
};
PoolCard pool_card(const PoolLayout& layout, const PoolNow& now, int block);

/// A mark without an answer: the card has it.
void note_in_card(const Ui& ui, std::string name, const Rect& rect);
/// From the step before; after the step that is what Frame::changes names, which may come later.
bool block_differs(const Frame& frame, const PoolNow& now, int block);
/// Around the block that is selected or meant elsewhere.
void draw_block_rings(const Ui& ui, const Rect& rect, int block, float out);

/// Whether cards with a bar are so narrow that id and badge have no room beside each other as they are
/// usually drawn.
bool cards_are_compact(const Ui& ui, const PoolLayout& layout);
/// What is inside the border of such a card.
void draw_compact_card(const Ui& ui, const PoolCard& card, int block_size);

/// A block of several sequences as a square: a hole, and in it how many they are where that has room. What is
/// around the hole is the hue of the first.
void draw_shared_square(const Ui& ui, const Rect& rect, Rgb hue, std::string_view count);
/// "×2", or "2" where the square has no room for more; nothing where no digit would be legible in it.
std::string count_in_square(const Ui& ui, const Rect& rect, int ref_count);

}  // namespace attn::viz
