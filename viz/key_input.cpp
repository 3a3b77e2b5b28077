// Which keys went down in this frame, for every Dear ImGui from 1.86 on.
#include <imgui.h>

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

}  // namespace attn::viz
