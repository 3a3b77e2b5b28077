// The menus: titles in the header, and the open one below its title.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// Titles of the menus from `x`, or one button when `room` is too small for them; returns the x behind. For
/// the header.
float draw_menu_titles(Ui& ui, float x, float room);
/// The open menu.
void draw_menu(Ui& ui, const Rect& screen);

}  // namespace attn::viz
