#include "headless.h"

#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <initializer_list>
#include <limits>
#include <utility>

#include "tests/baked_fonts.h"

namespace attn::viz {

Headless::Headless(float width, float height, float scale) {
  context_ = context_of_baked_fonts();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {width, height};
  io.DeltaTime = 1.0F / 60.0F;
#if IMGUI_VERSION_NUM < 18700
  // As ImGui's GLFW backend does; other keys keep their GLFW number.
  for (const auto& [named, key] :
       std::initializer_list<std::pair<int, int>>{{ImGuiKey_Tab, keys::kTab},
                                                  {ImGuiKey_LeftArrow, keys::kLeft},
                                                  {ImGuiKey_RightArrow, keys::kRight},
                                                  {ImGuiKey_UpArrow, keys::kUp},
                                                  {ImGuiKey_DownArrow, keys::kDown},
                                                  {ImGuiKey_PageUp, keys::kPageUp},
                                                  {ImGuiKey_PageDown, keys::kPageDown},
                                                  {ImGuiKey_Home, keys::kHome},
                                                  {ImGuiKey_End, keys::kEnd},
                                                  {ImGuiKey_Insert, 260},
                                                  {ImGuiKey_Delete, 261},
                                                  {ImGuiKey_Backspace, 259},
                                                  {ImGuiKey_Space, keys::kSpace},
                                                  {ImGuiKey_Enter, keys::kEnter},
                                                  {ImGuiKey_Escape, keys::kEscape},
                                                  {ImGuiKey_KeyPadEnter, keys::kKeypadEnter},
                                                  {ImGuiKey_A, 'A'},
                                                  {ImGuiKey_C, 'C'},
                                                  {ImGuiKey_V, 'V'},
                                                  {ImGuiKey_X, 'X'},
                                                  {ImGuiKey_Y, 'Y'},
                                                  {ImGuiKey_Z, 'Z'}})
    io.KeyMap[named] = key;
#endif
  view.scale = scale;
  restyle();
}

Headless::~Headless() { ImGui::DestroyContext(context_); }

double Headless::cheapest_draw_ms(const Frame& frame, int frames) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < frames; ++i) {
    const std::clock_t start = std::clock();
    draw(frame);
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void Headless::resize(float width, float height) {
  ImGui::GetIO().DisplaySize = {width, height};
  restyle();
}

void Headless::restyle() {
  if (style_key(view) == style_) return;
  style_ = style_key(view);
  apply_baked_style(view);
}

void Headless::draw(const Frame& frame) {
  commands.clear();
  restyle();
  ImGui::NewFrame();
  draw_screen(frame, selection, view, marks, commands);
  ImGui::Render();
}

void Headless::hover(const Frame& frame, const std::string& name) {
  draw(frame);
  const auto mark = marks.get(name);
  ASSERT_TRUE(mark.has_value()) << "no mark " << name;
  ImGui::GetIO().MousePos = {mark->rect.x + mark->rect.w * 0.5F, mark->rect.y + mark->rect.h * 0.5F};
  draw(frame);
  draw(frame);
}

void Headless::click(const Frame& frame, const std::string& name) {
  hover(frame, name);
  ImGui::GetIO().MouseDown[0] = true;
  draw(frame);
  const Commands pressed = commands;
  ImGui::GetIO().MouseDown[0] = false;
  draw(frame);
  commands.insert(commands.begin(), pressed.begin(), pressed.end());
}

void Headless::press(const Frame& frame, int named_key) {
#if IMGUI_VERSION_NUM < 18700
  const auto set = [&](bool down) { ImGui::GetIO().KeysDown[ImGui::GetIO().KeyMap[named_key]] = down; };
#else
  const auto set = [&](bool down) { ImGui::GetIO().AddKeyEvent(static_cast<ImGuiKey>(named_key), down); };
#endif
  press_with(frame, set);
}

void Headless::chord(const Frame& frame, const Chord& chord) {
  ImGuiIO& io = ImGui::GetIO();
  const auto set = [&](bool down) {
#if IMGUI_VERSION_NUM < 18700
    io.KeysDown[chord.key] = down;
    io.KeyCtrl = down && chord.ctrl;
    io.KeyShift = down && chord.shift;
    io.KeyAlt = down && chord.alt;
#else
    if (chord.ctrl) io.AddKeyEvent(ImGuiMod_Ctrl, down);
    if (chord.shift) io.AddKeyEvent(ImGuiMod_Shift, down);
    if (chord.alt) io.AddKeyEvent(ImGuiMod_Alt, down);
    io.AddKeyEvent(static_cast<ImGuiKey>(imgui_key(chord.key)), down);
#endif
  };
  press_with(frame, set);
}

void Headless::press_with(const Frame& frame, const std::function<void(bool)>& set) {
  set(true);
  draw(frame);
  const Commands pressed = commands;
  set(false);
  draw(frame);
  commands.insert(commands.begin(), pressed.begin(), pressed.end());
}

void Headless::type(const Frame& frame, const std::string& text) {
  ImGui::GetIO().AddInputCharactersUTF8(text.c_str());
  draw(frame);
}

void Headless::scroll_to(const Frame& frame, float share) {
  for (ImGuiWindow* window : context_->Windows) {
    if ((window->Flags & ImGuiWindowFlags_ChildWindow) != 0 && window->WasActive)
      window->Scroll.y = std::floor(window->ScrollMax.y * share);
  }
  draw(frame);
}

int Headless::vertices() const { return ImGui::GetDrawData()->TotalVtxCount; }

int Headless::largest_list() const {
  int largest = 0;
  const ImDrawData* data = ImGui::GetDrawData();
  for (int i = 0; i < data->CmdListsCount; ++i)
    largest = std::max(largest, data->CmdLists[i]->VtxBuffer.Size);
  return largest;
}

Ui ui_of(const Frame& frame, Headless& screen) {
  return {frame,
          screen.selection,
          screen.view,
          screen.marks,
          screen.commands,
          theme_of(ThemeId::dark),
          1.0F,
          nullptr,
          {},
          {},
          false};
}

}  // namespace attn::viz
