#include "app/window.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "app/gl_painter.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

using Clock = std::chrono::steady_clock;
const Clock::time_point kProgramStart = Clock::now();

std::string glfw_reason() {
  const char* description = nullptr;
  glfwGetError(&description);
  return description ? description : "no reason given";
}

/// GLFW for the lifetime of the window.
struct Glfw {
  Glfw() {
    if (!glfwInit()) throw DeviceError(fmt::format("no window can be opened: {}", glfw_reason()));
  }
  ~Glfw() { glfwTerminate(); }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
};

struct WindowDeleter {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using WindowPointer = std::unique_ptr<GLFWwindow, WindowDeleter>;

WindowPointer open_window(const std::string& title, const WindowOptions& options) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  WindowPointer window(glfwCreateWindow(options.width, options.height, title.c_str(), nullptr, nullptr));
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

/// ImGui's GLFW backend for the lifetime of the painter.
struct GlfwBackend {
  explicit GlfwBackend(GLFWwindow* window) { ImGui_ImplGlfw_InitForOpenGL(window, true); }
  ~GlfwBackend() { ImGui_ImplGlfw_Shutdown(); }
  GlfwBackend(const GlfwBackend&) = delete;
  GlfwBackend& operator=(const GlfwBackend&) = delete;
};

/// Sleeps until something happens. ImGui needs a few frames after an event for hover and layout to settle,
/// and a playing session moves on by time.
void wait_for_events(int& settle_frames, const viz::ViewState& view, bool typing) {
  if (settle_frames > 0) {
    --settle_frames;
    glfwPollEvents();
    return;
  }
  const double timeout = view.playing ? 0.05 : typing ? 0.4 : 1.0;
  const Clock::time_point before = Clock::now();
  glfwWaitEventsTimeout(timeout);
  const bool woken = Clock::now() - before < std::chrono::duration<double>(timeout * 0.98);
  if (woken) settle_frames = 2;
}

}  // namespace

bool display_available() {
  return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

void show_window(const std::string& title, const WindowOptions& options,
                 const std::function<std::unique_ptr<Session>(std::function<void()> changed)>& make,
                 viz::Selection start) {
  const Glfw glfw;
  const WindowPointer window = open_window(title, options);
  GlPainter painter;
  const GlfwBackend backend(window.get());
  const std::unique_ptr<Session> session = make([] { glfwPostEmptyEvent(); });
  session->select(start);

  viz::ViewState view;
  float content_scale = 1.0F;
  glfwGetWindowContentScale(window.get(), &content_scale, nullptr);
  view.scale = content_scale;
  const Clock::time_point opened = Clock::now();
  bool first = true;
  int settle_frames = 3;
  while (!glfwWindowShouldClose(window.get())) {
    wait_for_events(settle_frames, view, ImGui::GetIO().WantTextInput);
    session->tick(view, Clock::now());
    ImGui_ImplGlfw_NewFrame();
    int width = 0, height = 0;
    glfwGetFramebufferSize(window.get(), &width, &height);
    const viz::Commands commands = painter.paint(session->frame(), session->selection(), view, width, height);
    glfwSwapBuffers(window.get());
    if (!commands.empty()) settle_frames = 2;
    if (!session->apply(commands, view)) break;
    if (first && options.print_start) {
      fmt::print(stderr, "first frame after {:.3f} s\n",
                 std::chrono::duration<double>(Clock::now() - kProgramStart).count());
    }
    first = false;
    if (options.seconds > 0.0 && Clock::now() - opened > std::chrono::duration<double>(options.seconds))
      break;
  }
}

}  // namespace attn::app
