// Keys that are struck faster than frames are drawn: none is lost, and none loses its modifier.
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <string>

#include "app/key_queue.h"

namespace attn::app {
namespace {

KeyQueue::Event down(int key) { return {key, 0, GLFW_PRESS, 0}; }
KeyQueue::Event up(int key) { return {key, 0, GLFW_RELEASE, 0}; }

/// Frames until nothing waits: "+R" a press of Right, "-C" a release of Control, "|" the end of a frame.
std::string frames(KeyQueue& queue) {
  std::string told;
  while (!queue.empty()) {
    for (const KeyQueue::Event& event : queue.take()) {
      told += event.action == GLFW_PRESS ? '+' : '-';
      told += event.key == GLFW_KEY_RIGHT ? 'R' : event.key == GLFW_KEY_LEFT_CONTROL ? 'C' : 'M';
    }
    told += '|';
  }
  return told;
}

TEST(KeyQueue, EveryStrokeHasItsFrame) {
  KeyQueue queue;
  for (int i = 0; i < 3; ++i) {
    queue.push(down(GLFW_KEY_RIGHT));
    queue.push(up(GLFW_KEY_RIGHT));
  }
  EXPECT_EQ(frames(queue), "+R|-R|+R|-R|+R|-R|");
}

TEST(KeyQueue, TwoKeysComeInTheirOrder) {
  KeyQueue queue;
  queue.push(down(GLFW_KEY_M));
  queue.push(down(GLFW_KEY_RIGHT));
  queue.push(up(GLFW_KEY_M));
  queue.push(up(GLFW_KEY_RIGHT));
  EXPECT_EQ(frames(queue), "+M|+R-M|-R|");
}

TEST(KeyQueue, AModifierStaysWithItsKey) {
  KeyQueue queue;
  queue.push(down(GLFW_KEY_LEFT_CONTROL));
  queue.push(down(GLFW_KEY_RIGHT));
  queue.push(up(GLFW_KEY_LEFT_CONTROL));
  queue.push(up(GLFW_KEY_RIGHT));
  queue.push(down(GLFW_KEY_RIGHT));
  EXPECT_EQ(frames(queue), "+C+R|-C-R|+R|");
}

TEST(KeyQueue, RepeatsAreImGuis) {
  KeyQueue queue;
  queue.push({GLFW_KEY_RIGHT, 0, GLFW_REPEAT, 0});
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace attn::app
