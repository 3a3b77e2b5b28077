// The window: GLFW, OpenGL 3.3 and the session's picture. Draws when something changed, sleeps otherwise.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/session.h"

namespace attn::app {

struct WindowOptions {
  double seconds = 0.0;               // close by itself after that long, 0 = when the user does (tests)
  bool print_start = false;           // time from program start to the first frame, to stderr
  std::optional<viz::ThemeId> theme;  // instead of the remembered one
  bool inside_step = false;           // what is opened stands at a stage: the arrow keys go by stages
  bool gallery = false;               // begin with the cards of the lessons
  std::string note;                   // said on the status line at the start
  std::filesystem::path settings;     // where they are kept; "" = nowhere
};

/// True when there is an X or Wayland display to open a window on.
bool display_available();

/// Shows a session made by `make` (which gets the callback that wakes the window) until it is closed. Throws
/// DeviceError when no window or no OpenGL 3.3 context can be made.
void show_window(const WindowOptions& options,
                 const std::function<std::unique_ptr<Session>(std::function<void()> changed)>& make);

}  // namespace attn::app
