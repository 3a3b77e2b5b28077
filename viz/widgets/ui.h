// What a panel is given, and the two things every panel does: open its frame, and put marks that answer to
// the mouse.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "viz/fonts.h"
#include "viz/frame.h"
#include "viz/marks.h"
#include "viz/screen.h"
#include "viz/theme.h"

namespace attn::viz {

struct Ui {
  const Frame& frame;
  const Selection& selection;
  ViewState& view;
  Marks& marks;
  Commands& commands;
  const Theme& theme;
  float scale = 1.0F;
  ImDrawList* draw = nullptr;  // of the window or scroll area being drawn
  Rect panel;                  // whole panel
  Rect body;                   // below its title
  bool mouse_here = false;     // the mouse is over this window and nothing covers it
  std::string_view panel_name = {};

  /// Length at scale 1 in whole pixels.
  float px(float length) const;
  Rgb operator[](Color color) const { return theme[color]; }
};

struct Hit {
  bool hovered = false;
  bool clicked = false;
};

/// Cards and bars stand on the cleared background, which is the panel colour; a dialog is a window over all
/// of them that paints itself.
enum class PanelLook : unsigned char { card, bar, dialog };

/// Opens the panel's window; false when it has no room (then end_panel must not be called). `caption` is the
/// quiet line at the right of the title.
bool begin_panel(Ui& ui, const char* name, const Rect& rect, std::string_view title,
                 std::string_view caption = {}, PanelLook look = PanelLook::card);
void end_panel(Ui& ui);
/// Says what will appear in a panel that has nothing to show yet.
void empty_note(Ui& ui, std::string_view text);

/// A part of the panel that scrolls; returns the y at which content starts (moves with the scroll). Without
/// `wheel` the mouse wheel is left to the panel.
float begin_scroll(Ui& ui, const char* id, const Rect& area, bool wheel = true);
/// `bottom` is where the content ends, on the same axis as the y of begin_scroll. What is seen ends between
/// two lines of text, or between two rows where all are `row_h` high, and below it stands how many more there
/// are. Returns what is seen.
Rect end_scroll(Ui& ui, float bottom, float row_h = 0.0F);
/// Whether any of a row of a scrolling part is in sight. One that is not need not be drawn: it is counted
/// here, as the `lines` of text that it would have been.
bool row_in_sight(const Ui& ui, const Rect& row, int lines = 1);
/// Neither the fold of a scrolling part nor an edge cuts this, as they cut no line of text. A thing higher
/// than the part is cut between the lines and boxes that it holds. `name` is told by tests.
void keep_whole(const Ui& ui, const Rect& rect, std::string_view name);
/// What that note takes off the height of a part that does not show its end.
float fold_note_height(const Ui& ui);
/// Inside a scrolling part `height` high: brings row `index` of rows `row_h` high into sight, in whole rows.
void follow_row(const Ui& ui, float row_h, float height, int index);
/// What is drawn from here on goes into ImGui's current window.
void enter_window(Ui& ui);

/// Whether the mouse is over (the visible part of) a rectangle of this panel.
Hit touch(const Ui& ui, const Rect& rect);
/// The mouse is over a part of the panel at hand, whatever scrolls in it as a window of its own included.
bool mouse_over(const Rect& part);
void tooltip(const Ui& ui, std::string_view value, std::string_view source);
/// Registers the visible part of a rectangle that is kept whole, and shows value and source while the mouse
/// is over it.
Hit mark(Ui& ui, std::string name, const Rect& rect, std::string value = {}, std::string source = {});
/// The part of `rect` that is on screen; w = 0 when none is.
Rect visible_part(const Ui& ui, const Rect& rect);

void send(Ui& ui, Command::Kind kind, int a = 0);
/// Asks for the current selection with changes: select(ui, [&](Selection& s) { s.head = 2; }).
template <class Change>
void select(Ui& ui, Change change) {
  Command command;
  command.kind = Command::Kind::select;
  command.selection = ui.selection;
  change(command.selection);
  ui.commands.push_back(std::move(command));
}

/// Whether `name` ("context_lens", "m", ...) is what the mouse means, here or in another panel: then light up
/// what carries it. Tell the others with `ui.view.next_hover.name = name` while the mouse is over it here.
bool lit(const Ui& ui, std::string_view name);

/// A push button with a mark. Disabled ones show `tip` as the reason.
bool button(Ui& ui, std::string name, const Rect& rect, std::string_view label, std::string_view tip,
            bool enabled = true, bool lit = false);

}  // namespace attn::viz
