// Options that stills and films share.
#pragma once

#include <string>
#include <utility>

#include "app/view_names.h"
#include "viz/layout/screen_layout.h"

namespace attn::app {

/// "1920x1080", or a name: 720p, 1080p, 1440p, 4k, square, vertical. Throws InputError.
std::pair<int, int> parse_size(const std::string& text);
/// Throws InputError where no whole window could be drawn in so few pixels, or none so large.
void require_window_size(int width, int height);
/// A panel that can stand alone. Throws InputError with the nearest known one.
viz::PanelId parse_panel(const std::string& name);

}  // namespace attn::app
