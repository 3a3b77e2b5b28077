#include "viz/widgets/ui.h"

#include <algorithm>
#include <cmath>

#include "viz/layout/panel_names.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr ImGuiWindowFlags kPanelFlags =
    ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoCollapse |
    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground;

/// Four corners pointing out (to fill the window) or in (to give the others their room back).
void draw_corners(const Ui& ui, const Rect& box, Rgb color, bool inwards) {
  const float arm = std::round(box.w * 0.32F);
  const float thick = std::max(1.0F, ui.px(1.5F));
  for (const float sx : {0.0F, 1.0F}) {
    for (const float sy : {0.0F, 1.0F}) {
      const float dx = sx > 0.0F ? -1.0F : 1.0F;
      const float dy = sy > 0.0F ? -1.0F : 1.0F;
      const float x = box.x + sx * box.w + (inwards ? dx * arm : 0.0F);
      const float y = box.y + sy * box.h + (inwards ? dy * arm : 0.0F);
      const float way = inwards ? -1.0F : 1.0F;
      line(ui, x, y, x + way * dx * arm, y, color, thick);
      line(ui, x, y, x, y + way * dy * arm, color, thick);
    }
  }
}

constexpr float kMaximise = 24.0F;  // px at scale 1: kept free between title and caption

/// The title row answers to a double click; its button, behind the title, shows while the mouse is there, or
/// while maximised.
void draw_maximise(Ui& ui, const char* name, float x) {
  const PanelId id = panel_named(name);
  if (panel_title(id).empty() || ui.view.picture.still) return;
  const bool now = ui.view.maximised == id;
  const Rect title{ui.panel.x, ui.panel.y, ui.panel.w, ui.px(28)};
  const Hit hit = touch(ui, title);
  if (!hit.hovered && !now) return;
  const float side = ui.px(kMaximise);
  const Rect box{x, ui.panel.y + ui.px(4), side, side};
  if (box.right() > ui.body.right()) return;
  fill(ui, box, ui[Color::raised], 1.0F, ui.px(4));
  const float inset = ui.px(6);
  draw_corners(ui, {box.x + inset, box.y + inset, side - 2.0F * inset, side - 2.0F * inset}, ui[Color::text],
               now);
  const bool toggle = mark(ui, std::string(name) + "/maximise", box,
                           now ? "back to all panels (Esc)" : "this panel alone (double click on its title)")
                          .clicked;
  if (toggle || (hit.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)))
    ui.view.maximised = now ? PanelId::count_ : id;
}

/// "block_tables" of "block_tables[1][0] I32", "m" of "tile_m[..": the name that code and panels know.
std::string buffer_name(std::string_view source) {
  const std::size_t bracket = source.find('[');
  if (bracket == std::string_view::npos) return {};
  const std::string_view name = source.substr(0, bracket);
  if (name.find(' ') != std::string_view::npos) return {};
  if (name == "tile_o_norm") return "o";
  return std::string(name.starts_with("tile_") ? name.substr(5) : name);
}

}  // namespace

float Ui::px(float length) const { return std::round(length * scale); }

bool begin_panel(Ui& ui, const char* name, const Rect& rect, std::string_view title, std::string_view caption,
                 PanelLook look) {
  if (rect.w < 8.0F || rect.h < 8.0F) return false;
  ImGui::SetNextWindowPos({rect.x, rect.y});
  ImGui::SetNextWindowSize({rect.w, rect.h});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0.0F, 0.0F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1.0F, 1.0F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  // ImGui keeps windows that never come to the front behind all others: panels are such, overlays are not.
  const bool behind = look != PanelLook::dialog;
  ImGui::Begin(name, nullptr,
               kPanelFlags | (behind ? ImGuiWindowFlags_NoBringToFrontOnFocus : ImGuiWindowFlags_None));
  ImGui::PopStyleVar(3);
  enter_window(ui);
  ui.panel = rect;
  ui.panel_name = name;
  const float pad = ui.px(10);
  ui.body = {rect.x + pad, rect.y + ui.px(6), rect.w - 2.0F * pad, rect.h - ui.px(12)};
  if (!title.empty()) {
    const Rect line{ui.body.x, ui.body.y, ui.body.w, ui.px(20)};
    const float used = text_in(ui, FontRole::strong, line, ui[Color::text], title, Align::left);
    const bool card = look == PanelLook::card;
    const float left = used + (card ? ui.px(kMaximise) + ui.px(12) : ui.px(10));
    if (!caption.empty() && line.w > left) {
      const Rect rest{line.x + left, line.y, line.w - left, line.h};
      const std::string_view words = whole_parts(ui, FontRole::small, rest.w, caption);
      const bool readable = rest.w >= ui.px(70) || text_width(ui, FontRole::small, words) <= rest.w;
      if (readable) text_in(ui, FontRole::small, rest, ui[Color::muted], words, Align::right);
    }
    if (card) draw_maximise(ui, name, line.x + used + ui.px(6));
    const float used_h = line.h + ui.px(6);
    ui.body.y += used_h;
    ui.body.h = std::max(0.0F, ui.body.h - used_h);
  }
  if (look != PanelLook::dialog) ui.marks.add(std::string(name), rect);
  return true;
}

void end_panel(Ui& ui) {
  ImGui::End();
  ui.draw = nullptr;
}

void empty_note(Ui& ui, std::string_view text) {
  const Rect& body = ui.body;
  // Centred where it fits, else from the top in a smaller letter, at last cut with "…".
  const bool roomy = wrapped_height(ui, FontRole::text, body.w, text) <= body.h;
  const FontRole role = roomy ? FontRole::text : FontRole::small;
  const float h = wrapped_height(ui, role, body.w, text);
  const float line_h = wrapped_height(ui, role, body.w, "x");
  const float y = body.y + std::max(0.0F, std::round((body.h - h) * 0.5F));
  const int lines = std::max(1, static_cast<int>(body.h / line_h));
  text_wrapped(ui, role, {body.x, y, body.w, h}, ui[Color::muted], text, Align::center, lines);
}

Rect visible_part(const Ui& ui, const Rect& rect) {
  const ImVec2 low = ui.draw->GetClipRectMin();
  const ImVec2 high = ui.draw->GetClipRectMax();
  const float x0 = std::max({rect.x, low.x, ui.panel.x});
  const float y0 = std::max({rect.y, low.y, ui.panel.y});
  const float x1 = std::min({rect.right(), high.x, ui.panel.right()});
  const float y1 = std::min({rect.bottom(), high.y, ui.panel.bottom()});
  if (x1 <= x0 || y1 <= y0) return {rect.x, rect.y, 0.0F, 0.0F};
  return {x0, y0, x1 - x0, y1 - y0};
}

Hit touch(const Ui& ui, const Rect& rect) {
  if (!ui.mouse_here) return {};
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!visible_part(ui, rect).contains(mouse.x, mouse.y)) return {};
  return {true, ImGui::IsMouseClicked(ImGuiMouseButton_Left)};
}

bool mouse_over(const Rect& part) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows) && part.contains(mouse.x, mouse.y);
}

void tooltip(const Ui& ui, std::string_view value, std::string_view source) {
  if (value.empty() && source.empty()) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ui.px(420));
  if (!value.empty()) {
    ImGui::PushFont(font(FontRole::text));
    ImGui::TextUnformatted(value.data(), value.data() + value.size());
    ImGui::PopFont();
  }
  if (!source.empty()) {
    ImGui::PushFont(font(FontRole::mono));
    ImGui::PushStyleColor(ImGuiCol_Text, rgba(ui[Color::muted]));
    ImGui::TextUnformatted(source.data(), source.data() + source.size());
    ImGui::PopStyleColor();
    ImGui::PopFont();
  }
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

Hit mark(Ui& ui, std::string name, const Rect& rect, std::string value, std::string source) {
  keep_whole(ui, rect, name);
  const Rect shown = visible_part(ui, rect);
  if (shown.w <= 0.0F) return {};
  const Hit hit = touch(ui, shown);
  if (hit.hovered) {
    tooltip(ui, value, source);
    // A value names the buffer it was read from; other panels and the code pane light up with it.
    if (ui.view.next_hover.name.empty()) ui.view.next_hover.name = buffer_name(source);
  }
  ui.marks.add(std::move(name), shown, std::move(value), std::move(source));
  return hit;
}

void send(Ui& ui, Command::Kind kind, int a) {
  Command command;
  command.kind = kind;
  command.a = a;
  ui.commands.push_back(std::move(command));
}

bool lit(const Ui& ui, std::string_view name) { return !name.empty() && ui.view.hover.name == name; }

bool button(Ui& ui, std::string name, const Rect& rect, std::string_view label, std::string_view tip,
            bool enabled, bool lit) {
  const Hit hit = mark(ui, std::move(name), rect, std::string(tip));
  const Rgb base = lit ? ui[Color::accent] : ui[Color::raised];
  const Rgb back = enabled && hit.hovered ? mix(base, ui[Color::text], 0.12) : base;
  fill(ui, rect, back, enabled ? 1.0F : 0.5F, ui.px(4));
  outline(ui, rect, ui[enabled ? Color::stroke : Color::border], 1.0F, ui.px(4));
  const float inset = std::min(ui.px(6), rect.w * 0.12F);  // a label cut short stays off the outline
  text_in(ui, FontRole::strong, {rect.x + inset, rect.y, rect.w - 2.0F * inset, rect.h},
          lit ? ui[Color::on_accent] : ui[enabled ? Color::text : Color::muted], label, Align::center);
  return enabled && hit.clicked;
}

}  // namespace attn::viz
