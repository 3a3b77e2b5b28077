#include "app/picture_options.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <vector>

#include "core/engine/nearest.h"
#include "kernels/common/check.h"
#include "viz/layout/panel_names.h"

namespace attn::app {
namespace {

struct Preset {
  const char* name;
  int width;
  int height;
};
constexpr std::array<Preset, 6> kPresets = {{{"720p", 1280, 720},
                                             {"1080p", 1920, 1080},
                                             {"1440p", 2560, 1440},
                                             {"4k", 3840, 2160},
                                             {"square", 1080, 1080},
                                             {"vertical", 1080, 1920}}};

}  // namespace

std::pair<int, int> parse_size(const std::string& text) {
  for (const Preset& preset : kPresets) {
    if (text == preset.name) return {preset.width, preset.height};
  }
  int width = 0, height = 0, used = 0;
  if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &used) != 2 ||
      used != static_cast<int>(text.size())) {
    throw InputError(
        fmt::format("'{}' is not a size; write --size 1920x1080 or 720p, 1080p, 1440p, 4k, "
                    "square, vertical",
                    text));
  }
  return {width, height};
}

void require_window_size(int width, int height) {
  if (width >= 160 && height >= 90 && width <= 8192 && height <= 8192) return;
  throw InputError(fmt::format("a picture of {}x{} is out of range; use 160x90 to 8192x8192", width, height));
}

viz::PanelId parse_panel(const std::string& name) {
  const viz::PanelId id = viz::panel_named(name);
  if (id == viz::PanelId::timeline || !viz::panel_title(id).empty()) return id;
  std::vector<std::string> names{std::string(viz::panel_name(viz::PanelId::timeline))};
  for (int i = 0; i < viz::kNumPanels; ++i) {
    const auto one = static_cast<viz::PanelId>(i);
    if (!viz::panel_title(one).empty()) names.emplace_back(viz::panel_name(one));
  }
  throw InputError(fmt::format("there is no panel '{}' to show alone; {}", name, suggest(name, names)));
}

}  // namespace attn::app
