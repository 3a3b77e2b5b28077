// Options that stills and films share.
#pragma once

#include <string>
#include <utility>

#include "app/view_names.h"
#include "viz/layout/screen_layout.h"

namespace attn::app {

/// "1920x1080", or a name: 720p, 1080p, 1440p, 4k, square, vertical. Throws InputError.
std::pair<int, int> parse_size(const std::string& text);
/// A panel that can stand alone. Throws InputError with the nearest known one.
viz::PanelId parse_panel(const std::string& name);

}  // namespace attn::app
