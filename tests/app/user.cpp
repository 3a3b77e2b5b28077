#include "tests/app/user.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "tests/baked_fonts.h"

namespace attn::app::testing {

viz::Command command_of(viz::Command::Kind kind, int a, std::string text, std::string value) {
  viz::Command command;
  command.kind = kind;
  command.a = a;
  command.text = std::move(text);
  command.value = std::move(value);
  return command;
}

User::User(const Subject& subject, float width, float height) : context_(viz::context_of_baked_fonts()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {width, height};
  io.DeltaTime = 1.0F / 60.0F;
#if IMGUI_VERSION_NUM < 18700
  // As ImGui's GLFW backend does; other keys keep their GLFW number.
  using namespace viz::keys;
  for (const auto& [named, key] : std::initializer_list<std::pair<int, int>>{{ImGuiKey_Tab, kTab},
                                                                             {ImGuiKey_LeftArrow, kLeft},
                                                                             {ImGuiKey_RightArrow, kRight},
                                                                             {ImGuiKey_UpArrow, kUp},
                                                                             {ImGuiKey_DownArrow, kDown},
                                                                             {ImGuiKey_PageUp, kPageUp},
                                                                             {ImGuiKey_PageDown, kPageDown},
                                                                             {ImGuiKey_Home, kHome},
                                                                             {ImGuiKey_End, kEnd},
                                                                             {ImGuiKey_Delete, 261},
                                                                             {ImGuiKey_Backspace, 259},
                                                                             {ImGuiKey_Space, kSpace},
                                                                             {ImGuiKey_Enter, kEnter},
                                                                             {ImGuiKey_Escape, kEscape},
                                                                             {ImGuiKey_A, 'A'},
                                                                             {ImGuiKey_C, 'C'},
                                                                             {ImGuiKey_V, 'V'}})
    io.KeyMap[named] = key;
#endif
  session_ = std::make_unique<Session>(subject, DeviceChoice::simt, [] {});
  session_->set_program("/bin/false");  // "this program" is the tests': whoever wants a film names the viewer
}

User::~User() {
  session_.reset();
  ImGui::DestroyContext(context_);
}

void User::draw() {
  if (const viz::StyleKey style = viz::style_key(view); style != style_) {
    viz::apply_baked_style(view);
    style_ = style;
  }
  session_->tick(view, Session::Clock::now());
  commands_.clear();
  ImGui::NewFrame();
  viz::draw_screen(session_->frame(), session_->selection(), view, marks_, commands_);
  ImGui::Render();
  session_->apply(commands_, view);
}

void User::settle() {
  for (int i = 0; i < 3; ++i) {
    session_->wait_idle();
    draw();
  }
  session_->wait_idle();
}

void User::click(const std::string& name) {
  settle();
  const auto mark = marks_.get(name);
  ASSERT_TRUE(mark.has_value()) << "no mark " << name;
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {mark->rect.x + mark->rect.w * 0.5F, mark->rect.y + mark->rect.h * 0.5F};
  draw();
  draw();
  io.MouseDown[0] = true;
  draw();
  io.MouseDown[0] = false;
  settle();
}

void User::type(char key) {
  ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(key));
  draw();
}

void User::press(const viz::Chord& chord) {
  ImGuiIO& io = ImGui::GetIO();
  const auto set = [&](bool down) {
#if IMGUI_VERSION_NUM < 18700
    io.KeysDown[chord.key] = down;
#else
    io.AddKeyEvent(static_cast<ImGuiKey>(viz::imgui_key(chord.key)), down);
#endif
    io.KeyCtrl = down && chord.ctrl;
    io.KeyShift = down && chord.shift;
    io.KeyAlt = down && chord.alt;
  };
  set(true);
  draw();
  set(false);
  draw();
}

void User::send(viz::Command command) {
  session_->apply(viz::Commands{std::move(command)}, view);
  settle();
}

void User::send(viz::Command::Kind kind, int a, std::string text, std::string value) {
  send(command_of(kind, a, std::move(text), std::move(value)));
}

}  // namespace attn::app::testing
