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
#include <utility>

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

/// Longest sleep without an event, in seconds; 0 = until there is one.
double longest_sleep(const viz::ViewState& view, const WindowOptions& options) {
  constexpr double kPlaying = 0.05, kBlinkingCursor = 0.2;
  if (view.playing) return kPlaying;
  if (ImGui::GetIO().WantTextInput) return kBlinkingCursor;
  return options.seconds > 0.0 ? kPlaying : 0.0;
}

/// Handles events, and sleeps until there is one when nothing moves by itself. True when something happened.
bool handle_events(bool settled, double sleep) {
  if (!settled) {
    glfwPollEvents();
    return false;
  }
  if (sleep == 0.0) {
    glfwWaitEvents();
    return true;
  }
  const Clock::time_point before = Clock::now();
  glfwWaitEventsTimeout(sleep);
  return Clock::now() - before < std::chrono::duration<double>(sleep * 0.98);
}

/// The monitor's scale, kept in the view when the window moves to another monitor.
void follow_monitor(GLFWwindow* window, float& monitor_scale, viz::ViewState& view) {
  float now = 1.0F;
  glfwGetWindowContentScale(window, &now, nullptr);
  if (now <= 0.0F || now == monitor_scale) return;
  view.scale *= now / monitor_scale;
  monitor_scale = now;
}

viz::Commands draw(GLFWwindow* window, GlPainter& painter, Session& session, viz::ViewState& view) {
  ImGui_ImplGlfw_NewFrame();
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  GlPainter::Painted painted = painter.paint(session.frame(), session.selection(), view, width, height);
  if (painted.drawn) glfwSwapBuffers(window);
  return std::move(painted.commands);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

bool display_available() {
  return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

void show_window(const std::string& title, const WindowOptions& options,
                 const std::function<std::unique_ptr<Session>(std::function<void()> changed)>& make) {
  const Glfw glfw;
  const WindowPointer window = open_window(title, options);
  GlPainter painter;
  const GlfwBackend backend(window.get());
  glfwSetWindowUserPointer(window.get(), &painter);
  glfwSetWindowRefreshCallback(window.get(), [](GLFWwindow* uncovered) {
    static_cast<GlPainter*>(glfwGetWindowUserPointer(uncovered))->forget();
  });
  const std::unique_ptr<Session> session = make([] { glfwPostEmptyEvent(); });

  viz::ViewState view;
  view.theme = options.theme;
  float monitor_scale = 1.0F;
  const Clock::time_point opened = Clock::now();
  constexpr int kSettleFrames = 3;  // ImGui needs a few after an event until hover and layout are right
  int to_draw = kSettleFrames;
  bool first = true;
  while (!glfwWindowShouldClose(window.get())) {
    const bool settled = to_draw <= 0 && session->complete();
    if (handle_events(settled, longest_sleep(view, options))) to_draw = kSettleFrames;
    follow_monitor(window.get(), monitor_scale, view);
    session->tick(view, Clock::now());
    const viz::Commands commands = draw(window.get(), painter, *session, view);
    --to_draw;
    if (!commands.empty()) to_draw = kSettleFrames;
    if (!session->apply(commands, view)) break;
    if (std::exchange(first, false)) {
      if (options.print_start)
        fmt::print(stderr, "first frame after {:.3f} s\n", seconds_since(kProgramStart));
      if (!painter.font_note().empty()) fmt::print(stderr, "attnscope: {}\n", painter.font_note());
    }
    if (options.seconds > 0.0 && seconds_since(opened) > options.seconds) break;
  }
}

}  // namespace attn::app
