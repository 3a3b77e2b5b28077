// What the window's own parts (menus, dialogs, splitters) keep between frames.
#pragma once

#include <array>
#include <map>
#include <string>

#include "core/trace/condition.h"
#include "viz/layout/screen_layout.h"

namespace attn::viz {

/// What lies over the panels; one at a time.
enum class Overlay : unsigned char { none, help, menu, palette, find, entry, open, lessons, film };

/// What the one-line box asks for.
enum class Entry : unsigned char {
  go_to_step,
  bookmark_note,
  run_to_value,  // the number of `condition`
  stop_at_value,
  save_trace,
  export_tensor
};

struct ShellView {
  Overlay overlay = Overlay::none;
  bool fresh = false;                 // opened in this frame: the text field takes the keyboard
  int menu = 0;                       // place of the open menu
  std::array<Rect, 7> menu_places{};  // of their titles in the header; w = 0: behind one button
  int chosen = 0;                     // highlighted entry of the menu, palette or dialog
  bool follow = false;                // the highlighted entry is to be scrolled into view
  std::string text;                   // typed into palette, find, entry or dialog
  std::string listed;                 // the text that `chosen` counts in
  std::map<std::string, int> used;    // commands of the palette by name: how often in this window
  Entry entry = Entry::go_to_step;
  trace::Condition condition;  // of the entry box; afterwards what "run to" repeats
  bool has_condition = false;
  std::string tensor = "weights";     // what export writes
  std::string film_size = "1080p";    // of the film dialog
  bool film_from_here = false;        // it begins at this step, not at the first
  bool film_run = false;              // of a lesson: what runs now, not what is told
  PanelId focused = PanelId::count_;  // ring of the Tab key
  Split dragged = Split::count_;      // being dragged with the mouse

  void open(Overlay what) {
    overlay = what;
    fresh = true;
    chosen = 0;
    text.clear();
    listed.clear();
  }
  void close() { overlay = Overlay::none; }
};

}  // namespace attn::viz
