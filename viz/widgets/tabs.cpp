#include "viz/widgets/tabs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

float needed_width(const Ui& ui, std::span<const Tab> tabs, std::string_view Tab::*label) {
  float width = 0.0F;
  for (const Tab& tab : tabs) width += text_width(ui, FontRole::strong, tab.*label) + ui.px(28);
  return width;
}

/// The current tab is a piece of the panel below, told by shape (joined, with a bar on top), not only by
/// colour.
void draw_tab(Ui& ui, const Rect& box, std::string_view label, bool current, bool hovered) {
  if (current) {
    fill(ui, box, ui[Color::panel]);
    fill(ui, {box.x, box.y, box.w, ui.px(3)}, ui[Color::accent]);
  } else {
    const Rect low{box.x, box.y + ui.px(3), box.w, box.h - ui.px(3)};
    fill(ui, low, ui[Color::raised], hovered ? 1.0F : 0.55F);
    line(ui, low.right(), low.y + ui.px(5), low.right(), low.bottom() - ui.px(5), ui[Color::border]);
  }
  text_in(ui, current ? FontRole::strong : FontRole::text, {box.x, box.y + ui.px(2), box.w, box.h},
          ui[current || hovered ? Color::text : Color::muted], label, Align::center);
}

}  // namespace

int draw_tabs(Ui& ui, const char* panel, const Rect& rect, std::span<const Tab> tabs, int current,
              std::string_view key, const TabsAction* action) {
  if (!begin_panel(ui, panel, rect, {}, {}, PanelLook::bar)) return current;
  fill(ui, rect, ui[Color::window]);
  const bool brief = needed_width(ui, tabs, &Tab::label) > rect.w;
  std::string_view Tab::*const label = brief ? &Tab::brief : &Tab::label;
  const float needed = needed_width(ui, tabs, label);
  // Squeezed alike when even the short labels are too wide together.
  const float squeeze = std::min(1.0F, rect.w / std::max(1.0F, needed));
  float x = rect.x;
  int chosen = current;
  for (std::size_t i = 0; i < tabs.size(); ++i) {
    const Tab& tab = tabs[i];
    const float width = std::floor((text_width(ui, FontRole::strong, tab.*label) + ui.px(28)) * squeeze);
    const Rect box{x, rect.y, width, rect.h};
    const bool here = static_cast<int>(i) == current;
    const bool hovered = touch(ui, box).hovered;
    draw_tab(ui, box, tab.*label, here, hovered);
    if (mark(ui, fmt::format("{}/tab/{}", panel, tab.name), box, std::string(tab.tip), std::string(key))
            .clicked)
      chosen = static_cast<int>(i);
    x += width;
  }
  if (action != nullptr) {
    const float width = text_width(ui, FontRole::small, action->label) + ui.px(16);
    const Rect box{rect.right() - width, rect.y + ui.px(3), width, rect.h - ui.px(3)};
    if (box.x >= x + ui.px(4)) {
      const bool hovered = touch(ui, box).hovered;
      text_in(ui, FontRole::small, box, ui[hovered ? Color::text : Color::muted], action->label,
              Align::center);
      if (mark(ui, fmt::format("{}/tab/action", panel), box, std::string(action->tip)).clicked)
        chosen = kTabsAction;
    }
  }
  end_panel(ui);
  return chosen;
}

}  // namespace attn::viz
