#include "viz/widgets/splitters.h"

#include <algorithm>
#include <array>

#include "viz/layout/panel_names.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

// Shares stay above zero, which means "default".
constexpr float kSmallestShare = 0.001F;

void place(Splits& splits, const Splitter& splitter, Split split, float at) {
  const float start = splitter.vertical ? splitter.whole.x : splitter.whole.y;
  const float length = std::max(1.0F, splitter.vertical ? splitter.whole.w : splitter.whole.h);
  const float share = splitter.from_end ? (start + length - at) / length : (at - start) / length;
  share_of(splits, split) = std::clamp(share, kSmallestShare, 1.0F);
}

/// The bar in the gap, with a grip that says it can be dragged.
void draw_grip(const Ui& ui, const Splitter& splitter, bool held) {
  ImDrawList* draw = ImGui::GetForegroundDrawList();
  const Rect& r = splitter.handle;
  const ImU32 color = rgba(ui[held ? Color::accent : Color::stroke]);
  const float half = ui.px(18);
  const float thick = std::max(2.0F, ui.px(3));
  const float cx = r.x + r.w * 0.5F;
  const float cy = r.y + r.h * 0.5F;
  if (splitter.vertical) {
    draw->AddRectFilled({cx - thick * 0.5F, cy - half}, {cx + thick * 0.5F, cy + half}, color, thick);
  } else {
    draw->AddRectFilled({cx - half, cy - thick * 0.5F}, {cx + half, cy + thick * 0.5F}, color, thick);
  }
}

}  // namespace

void drag_splitters(Ui& ui, const ScreenLayout& layout) {
  ShellView& shell = ui.view.shell;
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) shell.dragged = Split::count_;
  const bool free = shell.overlay == Overlay::none;
  for (int i = 0; i < kNumSplits; ++i) {
    const auto split = static_cast<Split>(i);
    const Splitter& splitter = layout[split];
    if (splitter.handle.w <= 0.0F) continue;
    const bool held = shell.dragged == split;
    const bool over =
        free && shell.dragged == Split::count_ && splitter.handle.contains(io.MousePos.x, io.MousePos.y);
    if (!held && !over) continue;
    ImGui::SetMouseCursor(splitter.vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    draw_grip(ui, splitter, held);
    if (over && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      share_of(splits_to_change(ui.view), split) = 0.0F;
    } else if (over && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      shell.dragged = split;
    } else if (held && (io.MouseDelta.x != 0.0F || io.MouseDelta.y != 0.0F)) {
      place(splits_to_change(ui.view), splitter, split, splitter.vertical ? io.MousePos.x : io.MousePos.y);
    }
  }
}

void move_splitter(ViewState& view, const ScreenLayout& layout, Split split, float by) {
  const Splitter& splitter = layout[split];
  if (splitter.handle.w <= 0.0F) return;
  const float edge = splitter.vertical ? splitter.handle.x : splitter.handle.y;
  const float at = splitter.from_end ? edge + layout.gap : edge;
  place(splits_to_change(view), splitter, split, at + by * screen_scale(view));
}

void draw_focus(Ui& ui, const ScreenLayout& layout) {
  const PanelId id = ui.view.shell.focused;
  if (id == PanelId::count_ || !layout.shows(id) || ui.view.shell.overlay != Overlay::none) return;
  const Rect& r = layout[id];
  ImGui::GetForegroundDrawList()->AddRect({r.x - 1.0F, r.y - 1.0F}, {r.right() + 1.0F, r.bottom() + 1.0F},
                                          rgba(ui[Color::accent]), ui.px(2), 0, std::max(2.0F, ui.px(2)));
}

PanelId next_panel(const ScreenLayout& layout, PanelId panel, int by) {
  constexpr int kNone = kNumPanels;  // one more place: no panel
  int at = static_cast<int>(panel);
  for (int i = 0; i <= kNumPanels; ++i) {
    at = (at + by + kNone + 1) % (kNone + 1);
    const auto id = static_cast<PanelId>(at);
    if (at == kNone || (layout.shows(id) && !panel_title(id).empty())) return id;
  }
  return PanelId::count_;
}

}  // namespace attn::viz
