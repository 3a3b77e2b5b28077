// Scale, theme and splitters of the mode in use, and the style of ImGui's own widgets.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viz/fonts.h"
#include "viz/screen.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kQuestionScale = 1.6F;   // of a film's question, beside the captions of the film
constexpr float kQuestionSide = 500.0F;  // pixels that the longest question needs at scale 1

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

}  // namespace

ThemeId theme_in_use(const ViewState& view) {
  return view.mode == ScreenMode::present ? view.present_theme : view.theme;
}
ThemeId& theme_to_change(ViewState& view) {
  return view.mode == ScreenMode::present ? view.present_theme : view.theme;
}
Splits& splits_to_change(ViewState& view) {
  return view.mode == ScreenMode::present ? view.present_splits : view.splits;
}
float asked_scale(const ViewState& view) {
  const float scale = std::clamp(view.scale, 0.5F, 4.0F);
  return view.mode == ScreenMode::present ? scale * kPresentScale : scale;
}
float screen_scale(const ViewState& view) {
  const float asked = asked_scale(view);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  // A question has the picture for itself, and is read from the back row.
  if (view.picture.question && size.x > 0.0F && size.y > 0.0F)
    return std::min(asked * kQuestionScale, std::min(size.x, size.y) / kQuestionSide);
  // A panel alone is as large as somebody wanted it; before the first frame nobody knows the window.
  if (view.picture.alone || size.x <= 0.0F || size.y <= 0.0F) return asked;
  return std::min(asked, fitting_scale(view.mode, size.x, size.y));
}
std::string scale_note(const ViewState& view) {
  const float now = screen_scale(view);
  if (now >= asked_scale(view)) return {};
  const float per = view.mode == ScreenMode::present ? kPresentScale : 1.0F;
  return fmt::format("Scale {:.3g}: {:.3g} fits this window", view.scale, now / per);
}

int most_tables(const Frame& frame) {
  std::size_t most = 0;
  if (frame.history)
    for (const StepSummary& step : *frame.history) most = std::max(most, step.scheduled.size());
  return static_cast<int>(most);
}

LayoutInput layout_input(const ViewState& view, const Frame& frame, float width, float height) {
  return {.width = width,
          .height = height,
          .scale = screen_scale(view),
          .mode = view.mode,
          .stage = view.stage,
          .side = view.side,
          .page = view.page,
          .maximised = view.maximised,
          .splits = view.mode == ScreenMode::present ? view.present_splits : view.splits,
          .broken = frame.broken.has_value(),
          .lesson = frame.lesson.has_value(),
          .tables = most_tables(frame),
          .caption = !view.picture.no_caption,
          .note = view.mode == ScreenMode::present && !scale_note(view).empty(),
          .alone = view.picture.alone,
          .margin = std::round(view.picture.margin * screen_scale(view)),
          .caption_h = view.picture.alone ? caption_height_alone(view, width) : 0.0F};
}

FontRole caption_role(const ViewState& view) {
  if (view.picture.caption_px <= 0.0F) return FontRole::caption;
  const float scale = screen_scale(view);
  const auto away = [&](FontRole role) {
    return std::abs(font_size(role, scale, view.mode == ScreenMode::present) - view.picture.caption_px);
  };
  constexpr FontRole kWords[] = {FontRole::small, FontRole::caption};
  return *std::ranges::min_element(kWords, {}, away);
}

float caption_height_alone(const ViewState& view, float width) {
  constexpr float kLetters = 270.0F, kLetter = 0.54F;  // of the longest caption; em that one is wide
  constexpr float kLine = 1.3F, kAround = 0.5F;        // em
  const float size = font_size(caption_role(view), screen_scale(view), view.mode == ScreenMode::present);
  const float lines = std::ceil(kLetters * kLetter * size / std::max(1.0F, width));
  return std::round((lines * kLine + kAround) * size);
}

void show_side(ViewState& view, SideView side) {
  view.side = side;
  if (is_side_panel(view.maximised)) view.maximised = side_panel(side);
}

StyleKey style_key(const ViewState& view) { return {screen_scale(view), theme_in_use(view), view.mode}; }

void show_selected_again(ViewState& view) {
  view.tiles.listed_tile = -1;
  view.listed_stage = -1;
  view.code.shown.clear();
  view.data.pool.shown_block = -1;
  view.data.lists.tables_seq = -1;
  view.data.timeline.followed = -1;
  view.data.requests.shown_seq = -1;
}

std::string apply_style(const ViewState& view) {
  const StyleKey key = style_key(view);
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
  style.ScaleAllSizes(key.scale);
  color_widgets(theme_of(key.theme), style);
  return load_fonts(view.font_dirs, key.scale, key.mode == ScreenMode::present);
}

}  // namespace attn::viz
