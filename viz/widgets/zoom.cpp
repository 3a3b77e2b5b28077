#include "viz/widgets/zoom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr double kStep = 0.5;  // of one press of a button

void zoom_both(const ZoomAxes& axes, double centre_x, double centre_y, double factor) {
  if (axes.x != nullptr) *axes.x = zoomed(*axes.x, centre_x, factor, axes.least_x);
  if (axes.y != nullptr) *axes.y = zoomed(*axes.y, centre_y, factor, axes.least_y);
}

void show_all(const ZoomAxes& axes) {
  if (axes.x != nullptr) *axes.x = {};
  if (axes.y != nullptr) *axes.y = {};
}

}  // namespace

Span shown_span(const ZoomRange& range, int count) {
  if (count <= 0) return {};
  const int from = std::clamp(static_cast<int>(std::floor(range.from * count + 1e-6)), 0, count - 1);
  const int to = std::clamp(static_cast<int>(std::ceil(range.to * count - 1e-6)), from + 1, count);
  return {from, to};
}

ZoomRange zoomed(const ZoomRange& range, double centre, double factor, double least) {
  const double size = range.to - range.from;
  const double wanted = std::clamp(size * factor, std::clamp(least, 1e-9, 1.0), 1.0);
  const double from = std::clamp(range.from + centre * (size - wanted), 0.0, 1.0 - wanted);
  return {from, wanted >= 1.0 ? 1.0 : from + wanted};
}

ZoomRange moved(const ZoomRange& range, double by) {
  const double size = range.to - range.from;
  const double from = std::clamp(range.from + by * size, 0.0, 1.0 - size);
  return {from, size >= 1.0 ? 1.0 : from + size};
}

bool zoom_by_mouse(Ui& ui, const Rect& rect, const ZoomAxes& axes) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool over = touch(ui, rect).hovered;
  // In a panel that scrolls the wheel scrolls, and zooms with Ctrl.
  if (over && io.MouseWheel != 0.0F && io.KeyCtrl == ui.view.scroll_parts.any()) {
    const double x = (io.MousePos.x - rect.x) / std::max(1.0F, rect.w);
    const double y = (io.MousePos.y - rect.y) / std::max(1.0F, rect.h);
    zoom_both(axes, x, y, std::pow(0.8, static_cast<double>(io.MouseWheel)));
  }
  if (over && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) show_all(axes);
  const ImVec2 pressed = io.MouseClickedPos[ImGuiMouseButton_Left];
  const bool dragged = ImGui::IsMouseDragging(ImGuiMouseButton_Left) && rect.contains(pressed.x, pressed.y) &&
                       ui.panel.contains(pressed.x, pressed.y) && !axes.whole();
  if (!dragged) return false;
  if (axes.x != nullptr) *axes.x = moved(*axes.x, -static_cast<double>(io.MouseDelta.x / rect.w));
  if (axes.y != nullptr) *axes.y = moved(*axes.y, -static_cast<double>(io.MouseDelta.y / rect.h));
  return true;
}

float zoom_buttons(Ui& ui, std::string_view prefix, const Rect& line, const ZoomAxes& axes) {
  const float side = std::min(line.h, ui.px(24));
  const float gap = ui.px(4);
  const float all_w = text_width(ui, FontRole::strong, "all") + ui.px(14);
  const float used = 2.0F * (side + gap) + all_w;
  if (used > line.w || ui.view.picture.still) return 0.0F;
  float x = line.right() - used;
  const float y = line.y + std::floor((line.h - side) * 0.5F);
  const auto press = [&](const char* name, const char* label, const char* tip, float w, bool enabled) {
    const bool hit = button(ui, fmt::format("{}/{}", prefix, name), {x, y, w, side}, label, tip, enabled);
    x += w + gap;
    return hit;
  };
  if (press("zoom_in", "+", "look closer (wheel; drag moves)", side, true)) zoom_both(axes, 0.5, 0.5, kStep);
  if (press("zoom_out", "\xE2\x88\x92", "see more (wheel)", side, !axes.whole()))
    zoom_both(axes, 0.5, 0.5, 1.0 / kStep);
  if (press("zoom_all", "all", "see everything (double click)", all_w, !axes.whole())) show_all(axes);
  return used + gap;
}

}  // namespace attn::viz
