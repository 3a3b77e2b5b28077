#include "headless.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attn::viz {

Headless::Headless(float width, float height, float scale) {
  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {width, height};
  io.DeltaTime = 1.0F / 60.0F;
#if IMGUI_VERSION_NUM < 18700
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
#endif
  view.scale = scale;
  apply_style(view);
}

Headless::~Headless() { ImGui::DestroyContext(context_); }

void Headless::draw(const Frame& frame) {
  commands.clear();
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
  ImGui::GetIO().KeysDown[named_key] = true;
  draw(frame);
  const Commands pressed = commands;
  ImGui::GetIO().KeysDown[named_key] = false;
#else
  ImGui::GetIO().AddKeyEvent(static_cast<ImGuiKey>(named_key), true);
  draw(frame);
  const Commands pressed = commands;
  ImGui::GetIO().AddKeyEvent(static_cast<ImGuiKey>(named_key), false);
#endif
  draw(frame);
  commands.insert(commands.begin(), pressed.begin(), pressed.end());
}

void Headless::type(const Frame& frame, const std::string& text) {
  ImGui::GetIO().AddInputCharactersUTF8(text.c_str());
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

}  // namespace attn::viz
