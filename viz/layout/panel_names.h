// The panels' names: of their marks and windows, and as people read them.
#pragma once

#include <string_view>

#include "viz/layout/screen_layout.h"

namespace attn::viz {

/// "pool": of its window and the first part of its marks.
std::string_view panel_name(PanelId id);
/// "Block pool"; "" for those that cannot be shown alone (header, tabs, ...).
std::string_view panel_title(PanelId id);
/// count_ when no panel has that name.
PanelId panel_named(std::string_view name);

}  // namespace attn::viz
