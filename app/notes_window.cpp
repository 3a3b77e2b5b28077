#include "app/notes_window.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <fmt/chrono.h>
#include <glad/gl.h>
#include <imgui.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "kernels/common/check.h"
#include "viz/panels/teach.h"

namespace attn::app {
namespace {

constexpr int kWidth = 640, kHeight = 520;
constexpr float kLetters = 1.25F;  // read at arm's length while standing

/// Makes another window's contexts the current ones, and the former ones again at the end.
class Elsewhere {
 public:
  Elsewhere(GLFWwindow* window, ImGuiContext* context)
      : window_(glfwGetCurrentContext()), context_(ImGui::GetCurrentContext()) {
    glfwMakeContextCurrent(window);
    ImGui::SetCurrentContext(context);
  }
  ~Elsewhere() {
    ImGui::SetCurrentContext(context_);
    glfwMakeContextCurrent(window_);
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  GLFWwindow* window_;
  ImGuiContext* context_;
};

GLFWwindow* main_of(GLFWwindow* notes) { return static_cast<GLFWwindow*>(glfwGetWindowUserPointer(notes)); }

/// Everything that decides what is drawn.
std::string content_of(const viz::Frame& frame, const viz::ViewState& view, int width, int height) {
  const viz::LessonNow& lesson = *frame.lesson;
  return fmt::format("{}x{} {} {} {}/{} {} {} {}", width, height, view.scale, static_cast<int>(view.theme),
                     lesson.stop, lesson.num_stops, lesson.caption + lesson.notes,
                     lesson.next + lesson.next_caption, view.teach.clock);
}

}  // namespace

struct NotesWindow::State {
  GLFWwindow* window = nullptr;
  ImGuiContext* context = nullptr;
  bool backend = false;
  viz::ViewState view;
  viz::StyleKey style;
  viz::Marks marks;
  std::string content;

  ~State() {
    if (window == nullptr) return;
    {
      const Elsewhere here(window, context);
      if (backend) ImGui_ImplOpenGL3_Shutdown();
    }
    if (context != nullptr) ImGui::DestroyContext(context);
    glfwDestroyWindow(window);
  }

  void restyle() {
    const viz::StyleKey now = viz::style_key(view);
    if (now == style) return;
    viz::apply_style(view);
#if IMGUI_VERSION_NUM < 19200  // later versions follow changes of the atlas by themselves
    if (style.scale != 0.0F) {
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
#endif
    style = now;
  }
};

NotesWindow::NotesWindow(GLFWwindow* main) : state_(std::make_unique<State>()) {
  glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_FALSE);  // the class's window keeps the keyboard
  state_->window = glfwCreateWindow(kWidth, kHeight, "Notes - attnscope", nullptr, nullptr);
  glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_TRUE);
  if (state_->window == nullptr) {
    const char* reason = nullptr;
    glfwGetError(&reason);
    throw DeviceError(
        fmt::format("no second window can be opened ({})", reason ? reason : "no reason given"));
  }
  glfwSetWindowUserPointer(state_->window, main);
  glfwSetKeyCallback(state_->window, [](GLFWwindow* w, int key, int scancode, int action, int modifiers) {
    ImGui_ImplGlfw_KeyCallback(main_of(w), key, scancode, action, modifiers);
  });
  glfwSetCharCallback(state_->window,
                      [](GLFWwindow* w, unsigned int c) { ImGui_ImplGlfw_CharCallback(main_of(w), c); });
  ImGuiContext* before = ImGui::GetCurrentContext();
  state_->context = ImGui::CreateContext();
  ImGui::SetCurrentContext(before);
  const Elsewhere here(state_->window, state_->context);
  glfwSwapInterval(0);  // the main window alone waits for the screen
  ImGui::GetIO().IniFilename = nullptr;
  state_->view.picture.alone = true;  // its letters depend on the monitor alone
  state_->backend = ImGui_ImplOpenGL3_Init("#version 330 core");
  if (!state_->backend) throw DeviceError("a second window has no OpenGL 3.3 here");
}

NotesWindow::~NotesWindow() = default;

bool NotesWindow::closed() const { return glfwWindowShouldClose(state_->window) != 0; }

void NotesWindow::draw(const viz::Frame& frame, const viz::Selection& selection, const viz::ViewState& main,
                       float monitor_scale) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(state_->window, &width, &height);
  viz::ViewState& view = state_->view;
  view.theme = viz::theme_in_use(main);
  view.scale = monitor_scale * kLetters;
  view.teach.clock = main.teach.clock;
  std::string content = content_of(frame, view, width, height);
  if (std::exchange(state_->content, content) == content || width <= 0 || height <= 0) return;
  const Elsewhere here(state_->window, state_->context);
  state_->restyle();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  io.DeltaTime = 1.0F / 60.0F;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  viz::draw_notes_screen(frame, selection, view, state_->marks);
  ImGui::Render();
  const ImVec4 background = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
  glViewport(0, 0, width, height);
  glClearColor(background.x, background.y, background.z, 1.0F);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(state_->window);
}

std::string time_of_day() { return fmt::format("{:%H:%M}", fmt::localtime(std::time(nullptr))); }

}  // namespace attn::app
