// The arrow from an entry of the selected sequence's block table to its physical block in the pool, where
// both are on screen.
#pragma once

#include <imgui.h>

#include <vector>

#include "viz/widgets/ui.h"

namespace attn::viz {

/// A layer in front of the panels and behind menus and dialogs, for what lies over the panels: opened empty
/// before the first panel, since ImGui keeps what was first made in front. end_panel() ends it.
void begin_front_layer(Ui& ui, const Rect& screen);

/// The part of the arrow that the tables lay out.
struct ArrowStart {
  int seq = -1;
  int index = -1;  // entry of its table
  int block = -1;
  std::vector<ImVec2> way;  // corners from the entry to above the tables' rows; empty: there is no arrow
};
/// x of the strip within the panel's right edge that holds no text.
float arrow_gutter(const Ui& ui);
/// One arrow at a time, as many lines across each other cannot be followed: from the tables along the edges
/// of the panels, where no text is, and between two rows of blocks to the mark "pool/block/<id>". Mark
/// "arrows/<entry>".
void draw_block_arrow(Ui& ui, const Rect& screen, const ArrowStart& start);

}  // namespace attn::viz
