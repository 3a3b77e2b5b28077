// What stands in each menu now: the table of actions, and what depends on the frame (files, switches,
// bookmarks, variants, conditions). Menus and the command palette list the same entries.
#pragma once

#include <functional>
#include <vector>

#include "viz/keys.h"
#include "viz/widgets/dialog.h"

namespace attn::viz {

struct MenuEntry {
  Choice choice;
  std::function<void(Ui&)> run;
  std::string words = {};  // the palette finds it by these too
};

std::vector<MenuEntry> menu_entries(const Ui& ui, Menu menu);
/// What is too much for a menu and only in the palette: every panel alone, break points of every kind.
std::vector<MenuEntry> palette_entries(const Ui& ui);

/// The conditions that "run to" and break points offer, with the selected block and token as parameters.
std::vector<trace::Condition> offered_conditions(const Selection& selection, const Frame& frame);
/// Whether the user is to be asked for the condition's number.
bool asks_number(const trace::Condition& condition);

}  // namespace attn::viz
