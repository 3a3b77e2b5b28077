// Somebody at the window, without one: keys and mouse go into the real screen over a real session, and what
// the screen asks for is carried out.
#pragma once

#include <imgui.h>

#include <memory>
#include <string>

#include "app/session.h"
#include "viz/keys.h"
#include "viz/marks.h"
#include "viz/screen.h"

namespace attn::app::testing {

viz::Command command_of(viz::Command::Kind kind, int a = 0, std::string text = {}, std::string value = {});

class User {
 public:
  explicit User(const Subject& subject, float width = 1600.0F, float height = 900.0F);
  ~User();
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  /// One picture, without waiting for anything; what it asks for is carried out.
  void draw();
  /// Waits for the engine, long work and the inspector, then draws until everything is in place.
  void settle();
  void click(const std::string& mark);
  void type(char key);
  /// With `key` as viz::Chord numbers it.
  void press(const viz::Chord& chord);
  void send(viz::Command command);
  void send(viz::Command::Kind kind, int a = 0, std::string text = {}, std::string value = {});
  void resize(float width, float height) { ImGui::GetIO().DisplaySize = {width, height}; }
  Session& session() { return *session_; }
  const viz::Frame& frame() { return session_->frame(); }
  const viz::Marks& marks() const { return marks_; }
  viz::ViewState view;

 private:
  ImGuiContext* context_;
  std::unique_ptr<Session> session_;
  viz::Marks marks_;
  viz::Commands commands_;
  viz::StyleKey style_;
};

}  // namespace attn::app::testing
