// Dragging the gaps between panels, the ring around the panel that the Tab key chose, and the same from the
// keyboard.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// Follows the mouse in the gaps; a double click gives a gap its default place back.
void drag_splitters(Ui& ui, const ScreenLayout& layout);
/// Moves the splitter by `by` pixels at scale 1 (positive: right or down); nothing when it is not on screen.
void move_splitter(ViewState& view, const ScreenLayout& layout, Split split, float by);
void draw_focus(Ui& ui, const ScreenLayout& layout);
/// The panel after `panel` (or before, `by` -1) in reading order of those on screen; count_ after the last.
PanelId next_panel(const ScreenLayout& layout, PanelId panel, int by);

}  // namespace attn::viz
