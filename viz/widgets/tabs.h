// A bar of tabs joined to the panel below it.
#pragma once

#include <span>

#include "viz/widgets/ui.h"

namespace attn::viz {

struct Tab {
  std::string_view name;   // last part of its mark: "stage/tab/weights"
  std::string_view label;  // what it says
  std::string_view brief;  // what it says where `label` has no room
  std::string_view tip;    // what one sees there
};

/// A quiet button at the right end, where there is room for it: "<panel>/tab/action".
struct TabsAction {
  std::string_view label;
  std::string_view tip;
};
inline constexpr int kTabsAction = -1;

/// Draws the bar into panel `panel` ("stage"); returns the tab that was clicked, kTabsAction for the
/// `action`, else `current`. `key` is told in the tooltips.
int draw_tabs(Ui& ui, const char* panel, const Rect& rect, std::span<const Tab> tabs, int current,
              std::string_view key, const TabsAction* action = nullptr);

}  // namespace attn::viz
