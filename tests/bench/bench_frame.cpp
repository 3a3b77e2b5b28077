// How long a frame takes in a 1080p window next to an empty one with the same clear, what of it is the
// program's own work (layout, lists of triangles, their hash), how long a seek takes until the weights are
// there, and how long it takes to show another variant in the comparison. On the bundled model and on 4,096
// tokens. Needs a display: xvfb-run -a -s '-screen 0 1920x1080x24' build/tests/bench/bench_frame [FILE ...]
// With files (scenarios, traces, tensor cases, with #step=..): of these instead.
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <list>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/gl_painter.h"
#include "app/opening.h"
#include "core/model/safetensors.h"
#include "core/trace/compare.h"

namespace {

using namespace attn;
using namespace attn::app;

constexpr int kWidth = 1920, kHeight = 1080, kFrames = 60, kSeeks = 200, kTokens = 4096;

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

/// A tensor case being put together.
class CaseFile {
 public:
  template <class T>
  void add(const char* name, TensorDType dtype, std::vector<std::int64_t> shape,
           const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    data_.emplace_back(bytes.begin(), bytes.end());
    tensors_[name] = {dtype, std::move(shape), data_.back()};
  }
  void add_random(const char* name, std::vector<std::int64_t> shape, std::mt19937& random) {
    std::normal_distribution<float> value(0.0F, 1.3F);
    std::vector<float> values(static_cast<std::size_t>(
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
    for (float& one : values) one = value(random);
    add(name, TensorDType::f32, std::move(shape), values);
  }
  std::string write(const std::filesystem::path& path) const {
    write_safetensors(path, tensors_, {});
    return path.string();
  }

 private:
  std::list<std::vector<std::byte>> data_;
  TensorMap tensors_;
};

/// A prefill of kTokens, and a decode over as many in blocks of 16; H 2, Hkv 1, D 16.
std::vector<std::string> write_long_cases(const std::filesystem::path& folder) {
  constexpr int kBlock = 16, kBlocks = kTokens / kBlock, kDim = 16;
  std::mt19937 random(1);
  CaseFile prefill, decode;
  for (const char* name : {"q", "k", "v"})
    prefill.add_random(name, {kTokens, name[0] == 'q' ? 2 : 1, kDim}, random);
  for (const char* name : {"cu_seqlens_q", "cu_seqlens_k"})
    prefill.add(name, TensorDType::i32, {2}, std::vector<std::int32_t>{0, kTokens});
  decode.add_random("q", {1, 2, kDim}, random);
  for (const char* name : {"k_cache", "v_cache"}) decode.add_random(name, {kBlocks, kBlock, 1, kDim}, random);
  std::vector<std::int32_t> table(kBlocks);
  std::iota(table.begin(), table.end(), 0);
  std::ranges::shuffle(table, random);
  decode.add("block_tables", TensorDType::i32, {1, kBlocks}, table);
  decode.add("context_lens", TensorDType::i32, {1}, std::vector<std::int32_t>{kTokens});
  return {prefill.write(folder / "prefill-4096.safetensors"),
          decode.write(folder / "decode-4096.safetensors")};
}

double empty_window(GLFWwindow* window) {
  return median(milliseconds_of(kFrames, [&] {
    glViewport(0, 0, kWidth, kHeight);
    glClear(GL_COLOR_BUFFER_BIT);
    glfwSwapBuffers(window);
    glFinish();
  }));
}

void frames(GLFWwindow* window, GlPainter& painter, Session& session, double empty) {
  for (const auto& [stage, name] : {std::pair{viz::StageView::weights, "weights"},
                                    {viz::StageView::tiles, "tiles"},
                                    {viz::StageView::heads, "heads"},
                                    {viz::StageView::compare, "compare"},
                                    {viz::StageView::roofline, "roofline"}}) {
    viz::ViewState view;
    view.stage = stage;
    const auto frame = [&](bool changed) {
      if (changed) painter.forget();
      ImGui_ImplGlfw_NewFrame();
      const GlPainter::Painted painted =
          painter.paint(session.frame(), session.selection(), view, kWidth, kHeight);
      if (painted.drawn) glfwSwapBuffers(window);
      glFinish();
      session.apply(painted.commands, view);
    };
    milliseconds_of(5, [&] { frame(true); });
    session.wait_idle();
    milliseconds_of(5, [&] { frame(true); });
    const double drawn = median(milliseconds_of(kFrames, [&] { frame(true); }));
    const double own = median(milliseconds_of(kFrames, [&] { frame(false); }));
    fmt::print("  {:8} own work {:5.2f} ms a frame; drawn {:6.2f} ms, {:.2f} x empty\n", name, own, drawn,
               drawn / empty);
  }
}

void seeks(Session& session) {
  const int steps = session.frame().num_steps, layers = session.frame().manifest->model.num_layers;
  if (steps < 2) return;
  std::mt19937 random(1);
  const std::vector<double> taken = milliseconds_of(kSeeks, [&] {
    viz::Selection at = session.selection();
    at.step = static_cast<int>(random() % static_cast<unsigned>(steps));
    at.layer = static_cast<int>(random() % static_cast<unsigned>(layers));
    session.select(at);
    session.wait_idle();
  });
  fmt::print("  seek over {} steps x {} layers, weights included: median {:.2f} ms, slowest {:.2f} ms\n",
             steps, layers, median(taken), taken.back());
}

/// Every variant of the step, each for the first time, then back to each: those are kept.
void switches(Session& session) {
  viz::ViewState view;
  const viz::Frame& frame = session.frame();
  const auto variants = trace::variants_of(*frame.step, frame.manifest->model, frame.traits);
  const auto show = [&](const trace::Variant& variant) {
    viz::Command command;
    command.kind = viz::Command::Kind::compare;
    command.variant_b = variant;
    session.apply(viz::Commands{command}, view);
    session.wait_idle();
    if (!session.frame().compare) fmt::print("  {}\n", session.frame().compare_note);
  };
  for (const char* when : {"first time", "again"}) {
    std::string slowest;
    double most = 0.0;
    std::vector<double> taken;
    for (const trace::Variant& variant : variants) {
      taken.push_back(milliseconds_of(1, [&] { show(variant); }).front());
      if (taken.back() <= most) continue;
      most = taken.back();
      slowest = session.frame().compare ? session.frame().compare->b.text : "";
    }
    std::ranges::sort(taken);
    fmt::print("  A/B with each of {} variants, {}: median {:.2f} ms, slowest {:.2f} ms ({})\n", taken.size(),
               when, median(taken), most, slowest);
  }
  viz::Command off;
  off.kind = viz::Command::Kind::compare_off;
  session.apply(viz::Commands{off}, view);
}

void measure(GLFWwindow* window, const std::string& link, double empty) {
  const Subject subject = open_subject(link, DeviceChoice::simt);
  Session session(subject, DeviceChoice::simt, [] {});
  go_to_link(session, subject.link);
  fmt::print("{}, step {}\n", subject.link.path.filename().string(), session.frame().step->step);
  GlPainter painter;
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  frames(window, painter, session, empty);
  switches(session);
  seeks(session);
  ImGui_ImplGlfw_Shutdown();
}

GLFWwindow* open_window() {
  if (!glfwInit()) return nullptr;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  GLFWwindow* window = glfwCreateWindow(kWidth, kHeight, "bench", nullptr, nullptr);
  if (window == nullptr) return nullptr;
  glfwMakeContextCurrent(window);
  glfwSwapInterval(0);
  gladLoadGL(glfwGetProcAddress);
  return window;
}

}  // namespace

int main(int argc, char** argv) {
  GLFWwindow* window = open_window();
  if (window == nullptr) {
    fmt::print(stderr, "no OpenGL 3.3 window; use xvfb-run\n");
    return 2;
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("attnscope-bench-{}", std::random_device{}());
  try {
    std::vector<std::string> links(argv + 1, argv + argc);
    if (links.empty()) {
      const std::string lesson = (assets_dir() / "lessons" / "three-prompts.json").string();
      std::filesystem::create_directories(folder);
      links = write_long_cases(folder);
      links.insert(links.begin(), {lesson + "#step=2", lesson + "#step=20"});
    }
    const double empty = empty_window(window);
    fmt::print("renderer {}\nempty window {:.2f} ms\n",
               reinterpret_cast<const char*>(glGetString(GL_RENDERER)), empty);
    for (const std::string& link : links) measure(window, link, empty);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  std::filesystem::remove_all(folder);
  glfwTerminate();
  return 0;
}
