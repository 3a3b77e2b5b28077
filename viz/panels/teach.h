// What a speaker puts over the screen: the blanked stage, pen strokes, the notes.
#pragma once

#include "viz/layout/screen_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Over all panels, under menus and dialogs.
void draw_teaching(Ui& ui, const ScreenLayout& layout, const Rect& screen);
/// Notes, next stop and clock.
void draw_notes(Ui& ui, const Rect& rect);
/// The same as all there is in a window of its own, into the current ImGui frame.
void draw_notes_screen(const Frame& frame, const Selection& selection, ViewState& view, Marks& marks);

}  // namespace attn::viz
