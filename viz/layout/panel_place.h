// Where the screen shows one panel: what a picture of that panel alone is cut out of. Pure.
#pragma once

#include "viz/layout/screen_layout.h"

namespace attn::viz {

/// The views of the middle and of the lower right in which the panel is on screen; those given where it is in
/// any.
StageView stage_that_shows(PanelId id, StageView otherwise);
SideView side_that_shows(PanelId id, SideView otherwise);

/// The panel's rectangle in the window of `input`, on the page that has it; of a panel that no page of the
/// mode has, that of the other mode. Banner and lesson count as the input says; nothing is maximised.
Rect panel_place(LayoutInput input, PanelId id);

/// The page that has the panel, searched from the one of `input` on; that one where none has it.
int page_with(LayoutInput input, PanelId id);

}  // namespace attn::viz
