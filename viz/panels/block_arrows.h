// Arrows from the selected sequence's block table to the physical blocks in the pool, where both are on
// screen.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// A layer in front of the panels and behind menus and dialogs, for what lies over the panels: opened empty
/// before the first panel, since ImGui keeps what was first made in front. end_panel() ends it.
void begin_front_layer(Ui& ui, const Rect& screen);
/// Thin curves from the marks "tables/cell/<seq>/<i>" to "pool/block/<id>"; the marks must be there. They
/// pass behind all that the panels draw, so that no text is struck; only their heads are in front. The arrow
/// of the hovered or selected block is strong. Nothing without a selected sequence.
void draw_block_arrows(Ui& ui, const Rect& screen);

}  // namespace attn::viz
