// How long a frame takes in a 1080p window next to an empty one with the same clear, and how long a seek
// takes until the weights are there. Needs a display: xvfb-run -a -s '-screen 0 1920x1080x24'
// build/tests/bench/bench_frame
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "app/gl_painter.h"
#include "app/opening.h"

namespace {

using namespace attn;
using namespace attn::app;

constexpr int kWidth = 1920, kHeight = 1080, kFrames = 60, kSeeks = 200;

std::vector<double> milliseconds_of(int times, const std::function<void()>& work) {
  std::vector<double> times_taken;
  for (int i = 0; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times_taken.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(times_taken);
  return times_taken;
}

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

void frames(GLFWwindow* window, GlPainter& painter, Session& session) {
  const double empty = median(milliseconds_of(kFrames, [&] {
    glViewport(0, 0, kWidth, kHeight);
    glClear(GL_COLOR_BUFFER_BIT);
    glfwSwapBuffers(window);
    glFinish();
  }));
  fmt::print("renderer {}\nempty window          {:6.2f} ms\n",
             reinterpret_cast<const char*>(glGetString(GL_RENDERER)), empty);
  viz::ViewState view;
  const auto frame = [&](bool changed) {
    if (changed) painter.forget();
    ImGui_ImplGlfw_NewFrame();
    if (painter.paint(session.frame(), session.selection(), view, kWidth, kHeight).drawn)
      glfwSwapBuffers(window);
    glFinish();
  };
  for (const int index : {0, 1, 8}) {
    viz::Selection at = session.selection();
    at.step = index;
    session.select(at);
    session.wait_idle();
    milliseconds_of(5, [&] { frame(true); });
    const double drawn = median(milliseconds_of(kFrames, [&] { frame(true); }));
    const double same = median(milliseconds_of(kFrames, [&] { frame(false); }));
    fmt::print("step {:2}, drawn         {:6.2f} ms, {:.2f} x empty; unchanged {:.2f} ms\n", index + 1, drawn,
               drawn / empty, same);
  }
}

void seeks(Session& session) {
  std::mt19937 random(1);
  const int steps = session.frame().num_steps;
  const std::vector<double> taken = milliseconds_of(kSeeks, [&] {
    viz::Selection at = session.selection();
    at.step = static_cast<int>(random() % static_cast<unsigned>(steps));
    at.layer = static_cast<int>(random() % 4);
    session.select(at);
    session.wait_idle();
  });
  fmt::print("seek over {} steps x 4 layers, weights included: median {:.2f} ms, slowest {:.2f} ms\n", steps,
             median(taken), taken.back());
}

}  // namespace

int main() {
  if (!glfwInit()) {
    fmt::print(stderr, "no display; use xvfb-run\n");
    return 2;
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  GLFWwindow* window = glfwCreateWindow(kWidth, kHeight, "bench", nullptr, nullptr);
  if (window == nullptr) {
    fmt::print(stderr, "no OpenGL 3.3 window\n");
    return 2;
  }
  glfwMakeContextCurrent(window);
  glfwSwapInterval(0);
  gladLoadGL(glfwGetProcAddress);
  {
    const std::string end = (assets_dir() / "lessons" / "three-prompts.json").string() + "#step=20";
    const Subject subject = open_subject(end, DeviceChoice::simt);
    Session session(subject, DeviceChoice::simt, [] {});
    go_to_link(session, subject.link);
    GlPainter painter;
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    frames(window, painter, session);
    seeks(session);
    ImGui_ImplGlfw_Shutdown();
  }
  glfwTerminate();
  return 0;
}
