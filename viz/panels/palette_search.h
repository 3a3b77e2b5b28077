// The command palette (every menu entry by a few letters) and find (tokens, blocks, steps, weights).
#pragma once

#include <string_view>

#include "viz/menu_entries.h"

namespace attn::viz {

/// How well `typed` fits `text`: its characters in this order, not minding case; runs and word starts count
/// more. -1: not at all.
int fuzzy_score(std::string_view typed, std::string_view text);
/// The same for a command, "Menu: what it does": words as they were typed come first, at the start of what it
/// does before all others.
int command_score(std::string_view typed, std::string_view title);
/// What `typed` can mean in this frame: positions whose token holds it, the block or step of that number, and
/// for "0.25" the weight nearest to it.
std::vector<MenuEntry> find_entries(const Ui& ui, const std::string& typed);

void draw_palette(Ui& ui, const Rect& screen);

}  // namespace attn::viz
