// What menus, palette and dialogs are made of: a card over a dimmed screen, a line to type into, and a list
// to choose from with mouse or keyboard.
#pragma once

#include <span>
#include <string>

#include "viz/widgets/ui.h"

namespace attn::viz {

/// Opens an overlay of one card; `dim`: the rest of the screen is darkened. Sets ui.panel and ui.body. A
/// click outside the card closes the overlay. The mark `name` is the card. Always ended by end_panel.
void begin_card(Ui& ui, const char* name, const Rect& card, const Rect& screen, bool dim);
/// Centred horizontally, in the upper part of the screen, with sizes at scale 1 cut to the screen.
Rect card_on(const Ui& ui, const Rect& screen, float width, float height);

/// Callback that lets ImGui write into a std::string (its user data) of any length.
int grow_text(ImGuiInputTextCallbackData* data);
/// One line of text with the mark `name`. `focus` gives it the keyboard. True when Enter was pressed in it.
bool text_line(Ui& ui, const std::string& name, const Rect& rect, std::string& text, std::string_view hint,
               bool focus);

struct Choice {
  std::string name = {};  // last part of its mark
  std::string title = {};
  std::string right = {};  // key, kind: quiet, at the right
  std::string tip = {};
  std::string heading = {};  // a quiet line above it
  std::string note = {};     // a quiet line below the title
  bool enabled = true;
  bool checked = false;
  bool rule = false;  // a line above it
};

/// Height of all rows.
float choices_height(const Ui& ui, std::span<const Choice> choices);
/// A list in `area` that scrolls; up and down keys move `shell.chosen` over what is enabled. Returns the
/// place that was clicked or entered, else -1. Marks are "<panel>/<name>".
int choose(Ui& ui, const char* panel, const Rect& area, std::span<const Choice> choices);

}  // namespace attn::viz
