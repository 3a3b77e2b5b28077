#include "viz/screen.h"

#include <imgui.h>

#include <algorithm>

#include "viz/fonts.h"
#include "viz/keys.h"
#include "viz/layout/screen_layout.h"
#include "viz/panels/block_pool.h"
#include "viz/panels/block_tables.h"
#include "viz/panels/free_queue.h"
#include "viz/panels/header.h"
#include "viz/panels/heads.h"
#include "viz/panels/help.h"
#include "viz/panels/mask.h"
#include "viz/panels/numbers.h"
#include "viz/panels/packed_strip.h"
#include "viz/panels/requests.h"
#include "viz/panels/side_tabs.h"
#include "viz/panels/stage_list.h"
#include "viz/panels/stage_tabs.h"
#include "viz/panels/status.h"
#include "viz/panels/timeline.h"
#include "viz/panels/weights.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

ImVec4 tone(Rgb color, float alpha = 1.0F) { return ImGui::ColorConvertU32ToFloat4(rgba(color, alpha)); }

/// ImGui's own widgets (the prompt box, tooltips, scroll bars) in the theme's colours.
void color_widgets(const Theme& theme, ImGuiStyle& style) {
  auto& c = style.Colors;
  c[ImGuiCol_Text] = tone(theme[Color::text]);
  c[ImGuiCol_TextDisabled] = tone(theme[Color::muted]);
  c[ImGuiCol_WindowBg] = tone(theme[Color::panel]);
  c[ImGuiCol_PopupBg] = tone(theme[Color::raised]);
  c[ImGuiCol_Border] = tone(theme[Color::stroke]);
  c[ImGuiCol_FrameBg] = tone(theme[Color::raised]);
  c[ImGuiCol_FrameBgHovered] = tone(mix(theme[Color::raised], theme[Color::text], 0.08));
  c[ImGuiCol_FrameBgActive] = tone(mix(theme[Color::raised], theme[Color::accent], 0.25));
  c[ImGuiCol_ScrollbarBg] = tone(theme[Color::panel], 0.0F);
  c[ImGuiCol_ScrollbarGrab] = tone(theme[Color::border]);
  c[ImGuiCol_ScrollbarGrabHovered] = tone(theme[Color::stroke]);
  c[ImGuiCol_ScrollbarGrabActive] = tone(theme[Color::stroke]);
  c[ImGuiCol_TextSelectedBg] = tone(theme[Color::accent], 0.35F);
}

/// The background is cleared to the panel colour, so only what lies between panels is painted: on a software
/// renderer, filling every panel would cost more than all the rest. Each panel paints the gap above and left
/// of itself.
void draw_gaps(const Ui& ui, const ScreenLayout& layout) {
  ImDrawList* draw = ImGui::GetBackgroundDrawList();
  const ImU32 color = rgba(ui[Color::window]);
  const float gap = layout.gap;
  const Rect& header = layout[PanelId::header];
  const Rect& status = layout[PanelId::status];
  const auto paint = [&](float x0, float y0, float x1, float y1) {
    draw->AddRectFilled({x0, y0}, {x1, y1}, color);
  };
  for (int i = 0; i < kNumPanels; ++i) {
    const auto id = static_cast<PanelId>(i);
    const Rect& r = layout[id];
    if (r.w <= 0.0F || id == PanelId::header || id == PanelId::status) continue;
    paint(r.x - gap, r.y - gap, r.right(), r.y);
    paint(r.x - gap, r.y, r.x, r.bottom());
  }
  paint(header.right() - gap, header.bottom(), header.right(), status.y);
  paint(0.0F, status.y - gap, header.right() - gap, status.y);
}

}  // namespace

std::string apply_style(const ViewState& view) {
  const float scale = std::clamp(view.scale, 0.5F, 4.0F);
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.FrameRounding = 4.0F;
  style.FrameBorderSize = 1.0F;
  style.FramePadding = {6.0F, 5.0F};
  style.PopupRounding = 4.0F;
  style.WindowPadding = {10.0F, 8.0F};
  style.ScrollbarSize = 9.0F;
  style.ScrollbarRounding = 4.0F;
  style.DisabledAlpha = 0.6F;
  style.AntiAliasedFill = true;
  style.ScaleAllSizes(scale);
  color_widgets(theme_of(view.theme), style);
  return load_fonts(view.font_dirs, scale);
}

void draw_screen(const Frame& frame, const Selection& selection, ViewState& view, Marks& marks,
                 Commands& commands) {
  marks.clear();
  view.hover = view.next_hover;
  view.next_hover = {};
  handle_keys(frame, selection, view, commands);

  Ui ui{frame,   selection, view, marks, commands, theme_of(view.theme), std::clamp(view.scale, 0.5F, 4.0F),
        nullptr, {},        {},   false};
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const ScreenLayout layout = layout_screen({.width = size.x,
                                             .height = size.y,
                                             .scale = ui.scale,
                                             .mode = view.mode,
                                             .stage = view.stage,
                                             .side = view.side,
                                             .page = view.page,
                                             .maximised = view.maximised,
                                             .splits = view.splits});
  draw_gaps(ui, layout);
  draw_header(ui, layout);
  draw_requests(ui, layout[PanelId::requests]);
  draw_packed_strip(ui, layout[PanelId::strip]);
  draw_stage_tabs(ui, layout[PanelId::stage_tabs]);
  draw_mask(ui, layout[PanelId::mask]);
  draw_weights(ui, layout[PanelId::weights]);
  draw_heads(ui, layout[PanelId::heads]);
  draw_numbers(ui, layout[PanelId::numbers]);
  draw_block_pool(ui, layout[PanelId::pool]);
  draw_free_queue(ui, layout[PanelId::free_queue]);
  draw_block_tables(ui, layout[PanelId::tables]);
  draw_side_tabs(ui, layout[PanelId::side_tabs]);
  draw_stage_list(ui, layout[PanelId::stages]);
  draw_timeline(ui, layout[PanelId::timeline]);
  draw_status(ui, layout[PanelId::status]);
  if (view.show_help) draw_help(ui, {0.0F, 0.0F, size.x, size.y});
}

}  // namespace attn::viz
