// What the window remembers from one start to the next. Damaged settings never keep it from opening.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/lesson_list.h"
#include "viz/screen.h"

namespace attn::app {

/// `scale` is the user's, without the monitor's.
struct Settings : viz::ViewSettings {
  int width = 1600;  // of the window, in screen coordinates
  int height = 900;
  std::vector<std::string> recent_files;  // newest first
  LessonsProgress lessons;
  bool operator==(const Settings&) const = default;
};

/// $XDG_CONFIG_HOME/attnscope/settings.json, or under ~/.config; "" when there is neither.
std::filesystem::path settings_path();

struct LoadedSettings {
  Settings settings;
  std::string note;  // "" or one sentence: what of the file was not understood
};
/// Values that are missing, of a wrong type or out of range are the defaults.
LoadedSettings load_settings(const std::filesystem::path& path);
/// Atomically, making the folder when it is not there. Throws InputError.
void save_settings(const std::filesystem::path& path, const Settings& settings);

/// Puts what is remembered into the view, and back. `monitor_scale` is in view.scale and not in settings.
void apply_settings(const Settings& settings, viz::ViewState& view);
void take_settings(const viz::ViewState& view, float monitor_scale, Settings& settings);

}  // namespace attn::app
