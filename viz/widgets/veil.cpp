#include "viz/widgets/veil.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "viz/pool_facts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {

bool before_attention(const Ui& ui) { return before_attention(ui.frame, ui.selection, ui.view.grain); }

void draw_veil(Ui& ui, const Rect& part) {
  const Rect seen = visible_part(ui, part);
  if (seen.w < 1.0F || seen.h < 1.0F) return;
  // Parts that scroll are windows of their own, drawn over what the panel draws: only another such window,
  // opened after them, lies over them.
  ImGui::SetCursorScreenPos({seen.x, seen.y});
  ImGui::BeginChild("veil", {seen.w, seen.h}, false,
                    ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground |
                        ImGuiWindowFlags_NoScrollbar);
  enter_window(ui);
  if (ui.view.scroll_parts.any()) ui.view.scroll_parts.last().drawings.push_back({ui.draw, 0});
  fill(ui, seen, ui[Color::panel], kVeil);
  ImGui::EndChild();
  enter_window(ui);
  ui.marks.add(std::string(ui.panel_name) + "/veil", seen, "not run yet");
}

namespace {

/// Where the panel stops to show what it is about: what says how much more there is to scroll to stays clear.
float end_of_content(const Ui& ui) {
  float end = ui.panel.bottom();
  for (const Mark& mark : ui.marks.all()) {
    const std::string_view name = mark.name;
    if (name.starts_with(ui.panel_name) && name.ends_with("/more")) end = std::min(end, mark.rect.y);
  }
  return end;
}

}  // namespace

void veil_before_attention(Ui& ui) {
  if (!before_attention(ui)) return;
  draw_veil(ui, {ui.panel.x, ui.body.y, ui.panel.w, end_of_content(ui) - ui.body.y});
}

}  // namespace attn::viz
