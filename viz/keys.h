// The one table of actions: it drives the keyboard, the menus, the command palette and the help overlay. Keys
// are off while text is typed.
#pragma once

#include <span>
#include <string_view>

#include "viz/frame.h"
#include "viz/screen.h"

namespace attn::viz {

enum class KeyAction : unsigned char {
  open,
  save,
  export_tensor,
  film,
  record_clicks,
  still,
  copy_state,
  quit,
  play,
  step_forward,
  step_back,
  run,
  run_back,
  run_to,
  break_here,
  slower,
  faster,
  loop_from,
  loop_to,
  loop_off,
  cancel,
  forward,
  back,
  finer,
  coarser,
  over,
  back_over,
  into,
  out,
  next_event,
  previous_event,
  first,
  last,
  go_to_step,
  frame_forward,
  frame_back,
  stage_forward,
  stage_back,
  layer_down,
  layer_up,
  head_up,
  head_down,
  select_seq,  // argument: place of the sequence
  find,
  bookmark,
  go_to_bookmark,  // argument: place of the bookmark
  tenth_bookmark,  // ... or the normal size: Ctrl+0 means both
  unselect,
  lessons,
  next_stop,  // argument: +1 or -1
  break_lesson,
  blank,  // in mode present; else a break point
  pen,
  notes,
  present,
  next_page,
  next_stage_view,
  next_side_view,
  side_alone,
  focus,  // argument: +1 or -1
  maximise,
  move_gap,  // argument: 0 left, 1 right, 2 up, 3 down
  reset_gaps,
  theme,
  weight_scale,
  larger,
  smaller,
  normal_size,
  full_screen,
  reduced_motion,
  compare,
  diff,
  repair,
  help,
  palette,
  menus
};

enum class Menu : unsigned char { file, run, go, view, compare, break_it, help, none };
inline constexpr int kNumMenus = 7;
std::string_view menu_title(Menu menu);

/// Key numbers are GLFW's, which ImGui 1.86 passes through; letters and digits are their ASCII codes.
struct Chord {
  int key = 0;  // 0: no key, or `typed` decides
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
  bool repeat = false;  // while it is held down
};

struct KeyBinding {
  KeyAction action{};
  int argument = 0;
  Chord chord = {};
  std::string_view typed = {};  // characters that trigger it; the place of the character is added to argument
  std::string_view also = {};   // more of them that mean the same
  std::string_view label = {};  // as help and menus write the key; "" none
  std::string_view title = {};  // as menus write it
  std::string_view text = {};   // what the title leaves open; the title again: nothing
  Menu menu = Menu::none;       // where it is listed
  bool rule = false;            // a line above it there
};

std::span<const KeyBinding> key_table();

/// Turns this frame's keys into commands and view changes. Does nothing while a text field has the keyboard.
void handle_keys(const Frame& frame, const Selection& selection, ViewState& view, Commands& commands);
/// What one action does.
void run_key(KeyAction action, int argument, const Frame& frame, const Selection& selection, ViewState& view,
             Commands& commands);
/// Why the action would do nothing now, for menus; "" when it does something.
std::string_view why_not(KeyAction action, const Frame& frame, const Selection& selection,
                         const ViewState& view);
/// Whether the action is a switch that is on.
bool is_on(KeyAction action, const Frame& frame, const ViewState& view);

/// Whether a key went down in this frame (numbers as in Chord), for menus and dialogs.
bool key_pressed(int key, bool repeat = true);
/// The number ImGui knows the key by: ImGuiKey_* from 1.87 on, before that the same.
int imgui_key(int key);
namespace keys {
inline constexpr int kSpace = 32, kMinus = 45, kEqual = 61, kEscape = 256, kEnter = 257, kTab = 258,
                     kRight = 262, kLeft = 263, kDown = 264, kUp = 265, kPageUp = 266, kPageDown = 267,
                     kHome = 268, kEnd = 269, kF5 = 294, kF9 = 298, kF10 = 299, kF11 = 300, kF12 = 301,
                     kKeypadEnter = 335;
}  // namespace keys

}  // namespace attn::viz
