// GLFW: its lifetime, one window with an OpenGL 3.3 context, and the monitor that window is on.
#pragma once

#include <memory>

struct GLFWmonitor;
struct GLFWwindow;

namespace attn::app {

/// GLFW for the lifetime of the window. DeviceError with its reason when there is no display.
struct Glfw {
  Glfw();
  ~Glfw();
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
};

struct WindowDeleter {
  void operator()(GLFWwindow* window) const;
};
using WindowPointer = std::unique_ptr<GLFWwindow, WindowDeleter>;

/// Size in screen coordinates. Its context is made current and OpenGL's functions are loaded; DeviceError
/// when either cannot be.
WindowPointer open_window(int width, int height);

/// The monitor that most of the window is on.
GLFWmonitor* monitor_of(GLFWwindow* window);

}  // namespace attn::app
