#include "tests/app/user.h"

#include <gtest/gtest.h>

#include <utility>

namespace attn::app::testing {

User::User(const Subject& subject, float width, float height) : context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {width, height};
  io.DeltaTime = 1.0F / 60.0F;
#if IMGUI_VERSION_NUM < 18700
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
#endif
  session_ = std::make_unique<Session>(subject, DeviceChoice::simt, [] {});
}

User::~User() {
  session_.reset();
  ImGui::DestroyContext(context_);
}

void User::draw() {
  if (view.scale != scale_ || view.theme != theme_) {
    viz::apply_style(view);
    scale_ = view.scale;
    theme_ = view.theme;
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

void User::press(int named_key) {
#if IMGUI_VERSION_NUM < 18700
  ImGui::GetIO().KeysDown[named_key] = true;
  draw();
  ImGui::GetIO().KeysDown[named_key] = false;
#else
  ImGui::GetIO().AddKeyEvent(static_cast<ImGuiKey>(named_key), true);
  draw();
  ImGui::GetIO().AddKeyEvent(static_cast<ImGuiKey>(named_key), false);
#endif
  draw();
}

void User::send(viz::Command command) {
  session_->apply(viz::Commands{std::move(command)}, view);
  settle();
}

void User::send(viz::Command::Kind kind, int a, std::string text, std::string value) {
  viz::Command command;
  command.kind = kind;
  command.a = a;
  command.text = std::move(text);
  command.value = std::move(value);
  send(std::move(command));
}

}  // namespace attn::app::testing
