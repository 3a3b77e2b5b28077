#include "app/window.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "app/files.h"
#include "app/gl_painter.h"
#include "app/glfw_window.h"
#include "app/image_write.h"
#include "app/key_queue.h"
#include "app/notes_window.h"
#include "app/settings.h"
#include "app/stop_clock.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
const Clock::time_point kProgramStart = Clock::now();

/// ImGui's GLFW backend for the lifetime of the painter.
struct GlfwBackend {
  explicit GlfwBackend(GLFWwindow* window) { ImGui_ImplGlfw_InitForOpenGL(window, true); }
  ~GlfwBackend() { ImGui_ImplGlfw_Shutdown(); }
  GlfwBackend(const GlfwBackend&) = delete;
  GlfwBackend& operator=(const GlfwBackend&) = delete;
};

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

/// A second late rather than early: a clock must not be redrawn with the old minute.
double seconds_to_next_minute() { return 61.0 - static_cast<double>(std::time(nullptr) % 60); }

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Window {
 public:
  Window(const WindowOptions& options,
         const std::function<std::unique_ptr<Session>(std::function<void()> changed)>& make);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  void run();

 private:
  viz::Commands draw();
  bool carry_out(const viz::Commands& commands);
  void open_dropped(const std::string& path, viz::Commands& commands);
  void write_still();
  void toggle_full_screen();
  void follow_monitor();
  void show_title();
  void show_notes();
  void keep_settings(bool at_once);
  void note_start();
  double longest_sleep() const;
  static Window& of(GLFWwindow* window) { return *static_cast<Window*>(glfwGetWindowUserPointer(window)); }

  const WindowOptions options_;
  LoadedSettings loaded_;
  Settings settings_;  // as they are in the file
  const Glfw glfw_;
  const WindowPointer window_;
  GlPainter painter_;
  const GlfwBackend backend_;
  KeyQueue keys_;
  std::unique_ptr<Session> session_;
  viz::ViewState view_;
  float monitor_scale_ = 1.0F;
  std::vector<std::string> dropped_;
  std::optional<std::string> still_;  // wanted of the next picture: its path, "" = a name of its own
  std::string title_;
  std::unique_ptr<NotesWindow> notes_;
  bool notes_refused_ = false;  // this platform has no second window
  StopClock clock_;
  std::array<int, 4> windowed_{};  // place and size before full screen
  Clock::time_point settings_kept_ = Clock::now();
  bool first_drawn_ = false;
  Clock::time_point chosen_ = kProgramStart;  // when what is open was asked for
  bool lesson_drawn_ = false;                 // its words are in the picture
  bool lesson_noted_ = false;                 // that was said
};

Window::Window(const WindowOptions& options,
               const std::function<std::unique_ptr<Session>(std::function<void()> changed)>& make)
    : options_(options),
      loaded_(load_settings(options.settings)),
      settings_(loaded_.settings),
      window_(open_window(settings_.width, settings_.height)),
      backend_(window_.get()) {
  glfwSetWindowUserPointer(window_.get(), this);
  glfwSetKeyCallback(window_.get(), [](GLFWwindow* w, int key, int scancode, int action, int modifiers) {
    of(w).keys_.push({key, scancode, action, modifiers});
  });
  glfwSetWindowRefreshCallback(window_.get(), [](GLFWwindow* w) { of(w).painter_.forget(); });
  glfwSetDropCallback(window_.get(), [](GLFWwindow* w, int count, const char** paths) {
    of(w).dropped_.assign(paths, paths + count);
  });
  session_ = make([] { glfwPostEmptyEvent(); });
  session_->set_recent_files(settings_.recent_files);
  session_->remember_open_file();
  session_->watch_file();
  if (!loaded_.note.empty()) session_->say(loaded_.note);
  apply_settings(settings_, view_);
  if (options_.theme) viz::theme_to_change(view_) = *options_.theme;  // of the mode it opens in
  if (options_.inside_step) view_.grain = trace::Grain::stage;
  if (!options_.note.empty()) session_->say(options_.note);
  session_->tell_scripts(settings_.lessons);
  if (options_.gallery) view_.shell.open(viz::Overlay::lessons);
}

Window::~Window() { keep_settings(true); }

/// Longest sleep without an event, in seconds; 0 = until there is one.
double Window::longest_sleep() const {
  constexpr double kMoving = 0.05, kBlinkingCursor = 0.2, kClock = 1.0;
  if (view_.playing || session_->working()) return kMoving;
  if (ImGui::GetIO().WantTextInput) return kBlinkingCursor;
  if (options_.seconds > 0.0) return kMoving;
  if (view_.teach.notes) return kClock;
  return view_.mode == viz::ScreenMode::present ? seconds_to_next_minute() : 0.0;  // its header has a clock
}

/// The monitor's scale, kept in the view when the window moves to another monitor.
void Window::follow_monitor() {
  float now = 1.0F;
  glfwGetWindowContentScale(window_.get(), &now, nullptr);
  if (now <= 0.0F || now == monitor_scale_) return;
  view_.scale *= now / monitor_scale_;
  monitor_scale_ = now;
}

viz::Commands Window::draw() {
  for (const KeyQueue::Event& event : keys_.take())
    ImGui_ImplGlfw_KeyCallback(window_.get(), event.key, event.scancode, event.action, event.modifiers);
  ImGui_ImplGlfw_NewFrame();
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  if (still_) painter_.forget();
  const viz::Frame& frame = session_->frame();
  lesson_drawn_ = frame.lesson && !frame.lesson->caption.empty();
  GlPainter::Painted painted = painter_.paint(frame, session_->selection(), view_, width, height);
  if (still_) write_still();
  if (painted.drawn) glfwSwapBuffers(window_.get());
  return std::move(painted.commands);
}

/// PRECOND: the picture is drawn and not swapped yet.
void Window::write_still() {
  const std::string wanted = *std::exchange(still_, std::nullopt);
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  try {
    const fs::path path = output_path(wanted, still_stem(session_->frame()), ".png");
    write_png(read_picture(width, height), path);
    session_->say("picture: " + fs::absolute(path).string());
  } catch (const InputError& error) {
    session_->complain(error.what());
  }
}

void Window::toggle_full_screen() {
  GLFWwindow* window = window_.get();
  if (glfwGetWindowMonitor(window) != nullptr) {
    glfwSetWindowMonitor(window, nullptr, windowed_[0], windowed_[1], windowed_[2], windowed_[3],
                         GLFW_DONT_CARE);
    return;
  }
  glfwGetWindowPos(window, &windowed_[0], &windowed_[1]);
  glfwGetWindowSize(window, &windowed_[2], &windowed_[3]);
  GLFWmonitor* monitor = monitor_of(window);
  const GLFWvidmode* mode = monitor != nullptr ? glfwGetVideoMode(monitor) : nullptr;
  if (mode == nullptr) return session_->say("this display has no full screen");
  glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

bool Window::carry_out(const viz::Commands& commands) {
  using Kind = viz::Command::Kind;
  if (!session_->apply(commands, view_)) return false;
  for (const viz::Command& command : commands) {
    if (command.kind == Kind::copy_state) {
      ImGui::SetClipboardText(viz::describe_screen(session_->frame(), session_->selection()).c_str());
      session_->say("the state is in the clipboard as text");
    } else if (command.kind == Kind::open_file) {
      chosen_ = Clock::now();
      lesson_noted_ = false;
    } else if (command.kind == Kind::copy_text) {
      ImGui::SetClipboardText(command.text.c_str());
      session_->say("the text is in the clipboard");
    } else if (command.kind == Kind::still) {
      still_ = command.text;
    } else if (command.kind == Kind::toggle_full_screen) {
      toggle_full_screen();
    }
  }
  return true;
}

/// The notes in a window of their own, or, where there can be no second one, as a card in this one.
void Window::show_notes() {
  viz::TeachView& teach = view_.teach;
  if (notes_ && notes_->closed()) teach.notes = false;
  const bool wanted = teach.notes && session_->frame().lesson;
  if (!wanted) {
    notes_.reset();
    teach.notes_elsewhere = false;
    return;
  }
  if (!notes_ && !notes_refused_) {
    try {
      notes_ = std::make_unique<NotesWindow>(window_.get());
    } catch (const DeviceError& error) {
      notes_refused_ = true;
      session_->say(fmt::format("the notes are shown here: {}", error.what()));
    }
  }
  teach.notes_elsewhere = notes_ != nullptr;
  if (notes_) notes_->draw(session_->frame(), session_->selection(), view_, monitor_scale_);
}

void Window::show_title() {
  const std::string title = window_title(session_->frame());
  if (std::exchange(title_, title) != title) glfwSetWindowTitle(window_.get(), title.c_str());
}

/// Not at every change: a splitter that is being dragged changes them with every picture.
void Window::keep_settings(bool at_once) {
  constexpr std::chrono::seconds kPause{2};
  if (options_.settings.empty() || (!at_once && Clock::now() - settings_kept_ < kPause)) return;
  settings_kept_ = Clock::now();
  Settings now = settings_;
  take_settings(view_, monitor_scale_, now);
  if (options_.theme) {  // what --theme said is not remembered
    if (view_.theme == *options_.theme) now.theme = settings_.theme;
    if (view_.present_theme == *options_.theme) now.present_theme = settings_.present_theme;
  }
  if (session_) now.recent_files = session_->recent_files();
  if (session_) now.lessons = session_->lessons_progress();
  if (glfwGetWindowMonitor(window_.get()) == nullptr)
    glfwGetWindowSize(window_.get(), &now.width, &now.height);
  if (now == settings_) return;
  settings_ = now;
  try {
    save_settings(options_.settings, now);
  } catch (const InputError& error) {
    if (session_) session_->complain(error.what());
  }
}

/// PRECOND: a picture was drawn. For --print-start: how long one waited for it, and for a lesson with its
/// words.
void Window::note_start() {
  if (!std::exchange(first_drawn_, true)) {
    if (options_.print_start)
      fmt::print(stderr, "first frame after {:.3f} s\n", seconds_since(kProgramStart));
    if (!painter_.font_note().empty()) fmt::print(stderr, "attnscope: {}\n", painter_.font_note());
  }
  if (!options_.print_start || lesson_noted_ || !lesson_drawn_) return;
  lesson_noted_ = true;
  fmt::print(stderr, "lesson on screen {:.3f} s after {}\n", seconds_since(chosen_),
             chosen_ == kProgramStart ? "the start" : "it was chosen");
}

/// Whatever lies over the screen (the gallery at the start) goes: what was dropped is to be seen.
void Window::open_dropped(const std::string& path, viz::Commands& commands) {
  view_.shell.close();
  viz::Command& open = commands.emplace_back();
  open.kind = viz::Command::Kind::open_file;
  open.text = path;
}

void Window::run() {
  const Clock::time_point opened = Clock::now();
  constexpr int kFramesAfterEvent = 3;  // ImGui needs a few after an event until hover and layout are right
  int to_draw = kFramesAfterEvent;
  while (!glfwWindowShouldClose(window_.get())) {
    const bool settled = to_draw <= 0 && session_->complete();
    if (handle_events(settled, longest_sleep()) || !keys_.empty()) to_draw = kFramesAfterEvent;
    follow_monitor();
    session_->tick(view_, Clock::now());
    clock_.follow(session_->lesson() == nullptr ? nullptr : &session_->lesson()->now(),
                  session_->lessons_told(), seconds_since(kProgramStart));
    view_.teach.clock = clock_.text(time_of_day(), seconds_since(kProgramStart));
    viz::Commands commands = draw();
    --to_draw;
    const std::vector<std::string> dropped = std::exchange(dropped_, {});
    if (!dropped.empty()) open_dropped(dropped.front(), commands);
    if (!commands.empty()) to_draw = kFramesAfterEvent;
    if (!carry_out(commands)) break;
    if (dropped.size() > 1) {
      session_->say(fmt::format("one file at a time: {} is opened, {} more {} not",
                                fs::path(dropped.front()).filename().string(), dropped.size() - 1,
                                dropped.size() == 2 ? "is" : "are"));
    }
    show_title();
    show_notes();
    keep_settings(false);
    note_start();
    if (options_.seconds > 0.0 && seconds_since(opened) > options_.seconds) break;
  }
}

}  // namespace

bool display_available() {
  return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

void show_window(const WindowOptions& options,
                 const std::function<std::unique_ptr<Session>(std::function<void()> changed)>& make) {
  Window(options, make).run();
}

}  // namespace attn::app
