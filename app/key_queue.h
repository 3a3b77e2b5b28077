// Keys between the window system and ImGui, which looks at them once a frame: two presses that come between
// two frames would be one for it, and a press with its release none.
#pragma once

#include <deque>
#include <vector>

namespace attn::app {

class KeyQueue {
 public:
  /// As GLFW gives them.
  struct Event {
    int key = 0, scancode = 0, action = 0, modifiers = 0;
  };

  /// Repeats of a key that is held are left out: ImGui makes its own.
  void push(const Event& event);
  /// What the next frame may see, in order: at most one press (besides Shift, Ctrl, Alt and Super), and no
  /// key twice.
  std::vector<Event> take();
  bool empty() const { return events_.empty(); }

 private:
  std::deque<Event> events_;
};

}  // namespace attn::app
