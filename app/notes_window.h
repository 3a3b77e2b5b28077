// The speaker's notes in a window of their own, for the screen that the class does not see.
#pragma once

#include <memory>
#include <string>

#include "viz/frame.h"
#include "viz/screen.h"

struct GLFWwindow;

namespace attn::app {

class NotesWindow {
 public:
  /// Keys pressed in it mean what they mean in `main`, whose OpenGL and ImGui contexts stay the current ones.
  /// Throws DeviceError when this platform gives no second window.
  explicit NotesWindow(GLFWwindow* main);
  ~NotesWindow();
  NotesWindow(const NotesWindow&) = delete;
  NotesWindow& operator=(const NotesWindow&) = delete;

  /// Does nothing while it would look the same.
  void draw(const viz::Frame& frame, const viz::Selection& selection, const viz::ViewState& main,
            float monitor_scale);
  /// The user closed it.
  bool closed() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "14:03   0:12:40 since the start": local time, and `seconds` as a stopwatch has them.
std::string time_of_day();

}  // namespace attn::app
