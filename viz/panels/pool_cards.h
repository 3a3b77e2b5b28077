// Cards of the block pool, from slots with their tokens down to bare cells of thousands of blocks.
#pragma once

#include <memory>
#include <string>

#include "viz/layout/pool_layout.h"
#include "viz/pool_facts.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// The pool at the moment that panels show; gathered once per moment, not once per frame, for a pool may have
/// thousands of blocks.
std::shared_ptr<const PoolNow> pool_shown(const Ui& ui);

/// Everything known of a block, in lines: state, hash and parent, owners, tokens, what the step did to it up
/// to then, what changed. For the hover card, marks and the text twin.
std::string block_text(const Frame& frame, const PoolNow& now, int block);
std::string block_source(const Frame& frame, int block);

/// Blocks [first, end) as cards (detail slots or fill).
void draw_cards(const Ui& ui, const PoolLayout& layout, const PoolNow& now, int first, int end);
/// Blocks [first, end) as squares; neighbours of one look in one rectangle, so that thousands stay cheap.
void draw_tiles(const Ui& ui, const PoolLayout& layout, const PoolNow& now, int first, int end);

}  // namespace attn::viz
