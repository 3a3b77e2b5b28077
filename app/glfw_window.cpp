#include "app/glfw_window.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <string>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

std::string glfw_reason() {
  const char* description = nullptr;
  glfwGetError(&description);
  return description ? description : "no reason given";
}

}  // namespace

Glfw::Glfw() {
  if (!glfwInit()) throw DeviceError(fmt::format("no window can be opened: {}", glfw_reason()));
}
Glfw::~Glfw() { glfwTerminate(); }

void WindowDeleter::operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }

WindowPointer open_window(int width, int height) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  WindowPointer window(glfwCreateWindow(width, height, "attnscope", nullptr, nullptr));
  if (!window) {
    throw DeviceError(fmt::format(
        "no OpenGL 3.3 window can be opened: {}; `attnscope still` draws without one", glfw_reason()));
  }
  glfwSetWindowSizeLimits(window.get(), 640, 480, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(1);
  if (gladLoadGL(glfwGetProcAddress) == 0) throw DeviceError("the OpenGL functions could not be loaded");
  return window;
}

GLFWmonitor* monitor_of(GLFWwindow* window) {
  int x = 0, y = 0, w = 0, h = 0, count = 0;
  glfwGetWindowPos(window, &x, &y);
  glfwGetWindowSize(window, &w, &h);
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = glfwGetPrimaryMonitor();
  int best_area = 0;
  for (int i = 0; i < count; ++i) {
    int mx = 0, my = 0;
    glfwGetMonitorPos(monitors[i], &mx, &my);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    if (mode == nullptr) continue;
    const int area = std::max(0, std::min(x + w, mx + mode->width) - std::max(x, mx)) *
                     std::max(0, std::min(y + h, my + mode->height) - std::max(y, my));
    if (area > best_area) {
      best = monitors[i];
      best_area = area;
    }
  }
  return best;
}

}  // namespace attn::app
