#include "app/key_queue.h"

#include <GLFW/glfw3.h>

#include <algorithm>

namespace attn::app {

void KeyQueue::push(const Event& event) {
  if (event.action != GLFW_REPEAT) events_.push_back(event);
}

std::vector<KeyQueue::Event> KeyQueue::take() {
  std::vector<Event> taken;
  bool pressed = false;
  while (!events_.empty()) {
    const Event next = events_.front();
    const bool modifier = next.key >= GLFW_KEY_LEFT_SHIFT && next.key <= GLFW_KEY_RIGHT_SUPER;
    const bool press = next.action == GLFW_PRESS && !modifier;
    if (press && pressed) break;
    if (std::ranges::any_of(taken, [&](const Event& before) { return before.key == next.key; })) break;
    // A modifier that changes after the press belongs to the key after it.
    if (modifier && pressed) break;
    pressed = pressed || press;
    taken.push_back(next);
    events_.pop_front();
  }
  return taken;
}

}  // namespace attn::app
