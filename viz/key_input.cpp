// Which keys went down in this frame, for every Dear ImGui from 1.86 on, and what they mean.
#include <imgui.h>

#include <string_view>

#include "viz/keys.h"

namespace attn::viz {
#if IMGUI_VERSION_NUM >= 18700
int imgui_key(int key) {
  if (key >= 'A' && key <= 'Z') return (ImGuiKey_A + (key - 'A'));
  if (key >= '0' && key <= '9') return (ImGuiKey_0 + (key - '0'));
  if (key >= 290 && key <= 301) return (ImGuiKey_F1 + (key - 290));
  switch (key) {
    case keys::kSpace:
      return ImGuiKey_Space;
    case keys::kMinus:
      return ImGuiKey_Minus;
    case keys::kEqual:
      return ImGuiKey_Equal;
    case keys::kEscape:
      return ImGuiKey_Escape;
    case keys::kEnter:
      return ImGuiKey_Enter;
    case keys::kKeypadEnter:
      return ImGuiKey_KeypadEnter;
    case keys::kTab:
      return ImGuiKey_Tab;
    case keys::kRight:
      return ImGuiKey_RightArrow;
    case keys::kLeft:
      return ImGuiKey_LeftArrow;
    case keys::kDown:
      return ImGuiKey_DownArrow;
    case keys::kUp:
      return ImGuiKey_UpArrow;
    case keys::kPageUp:
      return ImGuiKey_PageUp;
    case keys::kPageDown:
      return ImGuiKey_PageDown;
    case keys::kHome:
      return ImGuiKey_Home;
    case keys::kEnd:
      return ImGuiKey_End;
    default:
      return ImGuiKey_None;
  }
}

bool key_pressed(int key, bool repeat) {
  const auto known = static_cast<ImGuiKey>(imgui_key(key));
  return known != ImGuiKey_None && ImGui::IsKeyPressed(known, repeat);
}
#else
int imgui_key(int key) { return key; }

bool key_pressed(int key, bool repeat) { return ImGui::IsKeyPressed(key, repeat); }
#endif

namespace {

bool modifiers_match(const Chord& chord) {
  const ImGuiIO& io = ImGui::GetIO();
  // "+" is Shift and "=" on many keyboards.
  const bool shift = io.KeyShift == chord.shift || chord.key == keys::kEqual;
  return io.KeyCtrl == chord.ctrl && shift && io.KeyAlt == chord.alt;
}

}  // namespace

void handle_keys(const Frame& frame, const Selection& selection, ViewState& view, Commands& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  const Overlay overlay = view.shell.overlay;
  if (overlay != Overlay::none && key_pressed(keys::kEscape, false)) return view.shell.close();
  // Menus and dialogs have the keyboard; the help goes away with the key that showed it.
  if (io.WantTextInput || (overlay != Overlay::none && overlay != Overlay::help)) return;
  for (const KeyBinding& key : key_table()) {
    if (key.chord.key != 0 && modifiers_match(key.chord) && key_pressed(key.chord.key, key.chord.repeat))
      run_key(key.action, key.argument, frame, selection, view, commands);
    for (const ImWchar typed : io.InputQueueCharacters) {
      const char c = typed < 128 ? static_cast<char>(typed) : '\0';
      const std::size_t place = key.typed.find(c);
      const bool same = key.also.find(c) != std::string_view::npos;
      if (place == std::string_view::npos && !same) continue;
      run_key(key.action, key.argument + (same ? 0 : static_cast<int>(place)), frame, selection, view,
              commands);
    }
  }
}

}  // namespace attn::viz
