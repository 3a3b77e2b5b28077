#include "viz/widgets/paint.h"

#include <algorithm>
#include <cmath>

#include "viz/lookup.h"

namespace attn::viz {

ImU32 rgba(Rgb color, float alpha) {
  const auto a = static_cast<ImU32>(std::lround(std::clamp(alpha, 0.0F, 1.0F) * 255.0F));
  return IM_COL32((color >> 16) & 255U, (color >> 8) & 255U, color & 255U, a);
}

void fill(const Ui& ui, const Rect& rect, Rgb color, float alpha, float rounding) {
  if (rect.w <= 0.0F || rect.h <= 0.0F) return;
  ui.draw->AddRectFilled({rect.x, rect.y}, {rect.right(), rect.bottom()}, rgba(color, alpha), rounding);
}

void outline(const Ui& ui, const Rect& rect, Rgb color, float thickness, float rounding) {
  if (rect.w <= 0.0F || rect.h <= 0.0F) return;
  const ImU32 c = rgba(color);
  if (rounding > 0.0F) {
    const float in = thickness * 0.5F;
    ui.draw->PathRect({rect.x + in, rect.y + in}, {rect.right() - in, rect.bottom() - in}, rounding);
    ui.draw->PathStroke(c, ImDrawFlags_Closed, thickness);
    return;
  }
  const float t = std::min({thickness, rect.w, rect.h});
  ui.draw->AddRectFilled({rect.x, rect.y}, {rect.right(), rect.y + t}, c);
  ui.draw->AddRectFilled({rect.x, rect.bottom() - t}, {rect.right(), rect.bottom()}, c);
  ui.draw->AddRectFilled({rect.x, rect.y + t}, {rect.x + t, rect.bottom() - t}, c);
  ui.draw->AddRectFilled({rect.right() - t, rect.y + t}, {rect.right(), rect.bottom() - t}, c);
}

void dotted(const Ui& ui, const Rect& rect, Rgb color) {
  // At most a few dots per side, longer ones on long sides: dozens of boxes are dotted in one frame, and
  // every dot is two triangles.
  constexpr float kDotsPerSide = 9.0F;
  if (rect.w <= 0.0F || rect.h <= 0.0F) return;
  const ImU32 c = rgba(color);
  const auto steps = [&](float length) {
    const float step = std::max({3.0F, ui.px(4), std::round(length / kDotsPerSide)});
    return std::max(1.0F, std::round(length / step));
  };
  const float across = steps(rect.w);
  for (float i = 0.0F; i < across; ++i) {
    const float x0 = std::round(rect.x + rect.w * i / across);
    const float x1 = x0 + std::max(1.0F, std::round(rect.w / across * 0.4F));
    ui.draw->AddRectFilled({x0, rect.y}, {x1, rect.y + 1.0F}, c);
    ui.draw->AddRectFilled({x0, rect.bottom() - 1.0F}, {x1, rect.bottom()}, c);
  }
  const float down = steps(rect.h);
  for (float i = 1.0F; i < down; ++i) {
    const float y0 = std::round(rect.y + rect.h * i / down);
    const float y1 = y0 + std::max(1.0F, std::round(rect.h / down * 0.4F));
    ui.draw->AddRectFilled({rect.x, y0}, {rect.x + 1.0F, y1}, c);
    ui.draw->AddRectFilled({rect.right() - 1.0F, y0}, {rect.right(), y1}, c);
  }
}

void dashed(const Ui& ui, const Rect& rect, Rgb color, float thickness) {
  if (rect.w <= 0.0F || rect.h <= 0.0F) return;
  const ImU32 c = rgba(color);
  // Each side begins and ends with a dash, so that corners are closed.
  const auto dashes = [&](float length) {
    return 2.0F * std::max(1.0F, std::round(length / ui.px(11))) + 1.0F;
  };
  const auto at = [](float begin, float length, float i, float count) {
    return std::round(begin + length * i / count);
  };
  const float across = dashes(rect.w), down = dashes(rect.h);
  for (float i = 0.0F; i < across; i += 2.0F) {
    const float x0 = at(rect.x, rect.w, i, across), x1 = at(rect.x, rect.w, i + 1.0F, across);
    ui.draw->AddRectFilled({x0, rect.y}, {x1, rect.y + thickness}, c);
    ui.draw->AddRectFilled({x0, rect.bottom() - thickness}, {x1, rect.bottom()}, c);
  }
  for (float i = 0.0F; i < down; i += 2.0F) {
    const float y0 = at(rect.y, rect.h, i, down), y1 = at(rect.y, rect.h, i + 1.0F, down);
    ui.draw->AddRectFilled({rect.x, y0}, {rect.x + thickness, y1}, c);
    ui.draw->AddRectFilled({rect.right() - thickness, y0}, {rect.right(), y1}, c);
  }
}

void change_dot(const Ui& ui, float x, float y) {
  const float r = ui.px(3);
  const ImVec2 low{std::round(x - r), std::round(y - r)};
  const ImVec2 high{low.x + 2.0F * r, low.y + 2.0F * r};
  ui.draw->AddRectFilled({low.x - 1.0F, low.y - 1.0F}, {high.x + 1.0F, high.y + 1.0F}, rgba(ui[Color::panel]),
                         r + 1.0F);
  ui.draw->AddRectFilled(low, high, rgba(ui[Color::warning]), r);
}

void line(const Ui& ui, float x0, float y0, float x1, float y1, Rgb color, float thickness) {
  const ImU32 c = rgba(color);
  const float half = thickness * 0.5F;
  if (x0 == x1) {
    const float x = std::floor(x0 - half + 0.5F);
    ui.draw->AddRectFilled({x, std::min(y0, y1)}, {x + thickness, std::max(y0, y1)}, c);
  } else if (y0 == y1) {
    const float y = std::floor(y0 - half + 0.5F);
    ui.draw->AddRectFilled({std::min(x0, x1), y}, {std::max(x0, x1), y + thickness}, c);
  } else {
    ui.draw->AddLine({x0, y0}, {x1, y1}, c, thickness);
  }
}

void hatch(const Ui& ui, const Rect& rect, Rgb color, float spacing) {
  if (rect.w <= 1.0F || rect.h <= 1.0F) return;
  const ImU32 c = rgba(color);
  // Lines x + y = s through the box, phased by the screen so that neighbouring boxes join.
  const float first = std::ceil((rect.x + rect.y) / spacing) * spacing;
  for (float s = first; s < rect.right() + rect.bottom(); s += spacing) {
    const float x0 = std::max(rect.x, s - rect.bottom());
    const float x1 = std::min(rect.right(), s - rect.y);
    if (x1 > x0) ui.draw->AddLine({x0, s - x0}, {x1, s - x1}, c, 1.0F);
  }
}

void cross_hatch(const Ui& ui, const Rect& rect, Rgb color, float spacing) {
  if (rect.w <= 0.0F || rect.h <= 0.0F) return;
  hatch(ui, rect, color, spacing);
  const ImU32 c = rgba(color);
  const float first = std::ceil((rect.x - rect.bottom()) / spacing) * spacing;
  for (float s = first; s < rect.right() - rect.y; s += spacing) {
    const float x0 = std::max(rect.x, s + rect.y);
    const float x1 = std::min(rect.right(), s + rect.bottom());
    if (x1 > x0) ui.draw->AddLine({x0, x0 - s}, {x1, x1 - s}, c, 1.0F);
  }
  outline(ui, rect, color, std::max(1.0F, ui.px(1)));
}

void triangle_down(const Ui& ui, float x, float y, float size, Rgb color) {
  ui.draw->AddTriangleFilled({x, y}, {x + size, y}, {x + size * 0.5F, y + size * 0.85F}, rgba(color));
}

void triangle_up(const Ui& ui, float x, float y, float size, Rgb color) {
  ui.draw->AddTriangle({x, y + size * 0.85F}, {x + size, y + size * 0.85F}, {x + size * 0.5F, y}, rgba(color),
                       std::max(1.0F, ui.scale));
}

float text_width(const Ui& /*ui*/, FontRole role, std::string_view text) {
  return font(role)
      ->CalcTextSizeA(font_pixels(role), FLT_MAX, 0.0F, text.data(), text.data() + text.size())
      .x;
}

namespace {

/// Whether an edge of what is drawn on would cut the line above or below; parts that scroll see to that at
/// their end.
bool cut_by_edge(const Ui& ui, const Rect& line) {
  if (ui.view.scroll_parts.any()) return false;
  const float spare = std::round(line.h * 0.15F) + 1.0F;  // no glyph reaches the ends of its line
  return line.y + spare < ui.draw->GetClipRectMin().y || line.bottom() - spare > ui.draw->GetClipRectMax().y;
}

void log_text(const Ui& ui, std::string_view text, const Rect& rect, bool shortened, bool left_out = false) {
  if (ui.view.scroll_parts.any()) ui.view.scroll_parts.last().lines.push_back({rect.y, rect.bottom()});
  if (ui.view.text_log == nullptr) return;
  const ImVec2 low = ui.draw->GetClipRectMin();
  const ImVec2 high = ui.draw->GetClipRectMax();
  ui.view.text_log->entries.push_back({std::string(ui.panel_name),
                                       std::string(text),
                                       rect,
                                       {low.x, low.y, high.x - low.x, high.y - low.y},
                                       ui.view.scroll_parts.any(),
                                       shortened,
                                       left_out});
}

float write(const Ui& ui, FontRole role, float x, float y, Rgb color, std::string_view text, bool shortened) {
  const Rect line{std::round(x), std::round(y), text_width(ui, role, text), font_pixels(role)};
  const bool left_out = cut_by_edge(ui, line);
  log_text(ui, text, line, shortened, left_out);
  if (left_out) return 0.0F;
  ui.draw->AddText(font(role), font_pixels(role), {std::round(x), std::round(y)}, rgba(color), text.data(),
                   text.data() + text.size());
  return line.w;
}

}  // namespace

float text_at(const Ui& ui, FontRole role, float x, float y, Rgb color, std::string_view text) {
  return text.empty() ? 0.0F : write(ui, role, x, y, color, text, false);
}

float text_in(const Ui& ui, FontRole role, const Rect& rect, Rgb color, std::string_view text, Align align) {
  if (text.empty() || rect.w <= 0.0F) return 0.0F;
  ImFont* face = font(role);
  const float size = font_pixels(role);
  const float y = rect.y + std::round((rect.h - size) * 0.5F);
  float width = text_width(ui, role, text);
  if (width <= rect.w) {
    const float spare = rect.w - width;
    const float x = rect.x + (align == Align::left ? 0.0F : align == Align::right ? spare : spare * 0.5F);
    return text_at(ui, role, x, y, color, text);
  }
  static constexpr std::string_view kDots = "\xE2\x80\xA6";
  const float dots = text_width(ui, role, kDots);
  if (dots > rect.w) return 0.0F;
  const char* rest = nullptr;
  width = face->CalcTextSizeA(size, rect.w - dots, 0.0F, text.data(), text.data() + text.size(), &rest).x;
  const std::string cut = std::string(text.substr(0, static_cast<std::size_t>(rest - text.data()))) += kDots;
  return write(ui, role, rect.x, y, color, cut, true);
}

void text_shrunk(const Ui& ui, FontRole role, const Rect& rect, Rgb color, std::string_view text,
                 Align align) {
  const float width = text_width(ui, role, text);
  const float share = std::min(1.0F, rect.w / width);
  if (text.empty() || share < kLeastShrunk) return;
  const float size = font_pixels(role) * share;
  const float spare = align == Align::left ? 0.0F : (rect.w - width * share) * 0.5F;
  const Rect line{std::round(rect.x + spare), std::round(rect.y + (rect.h - size) * 0.5F), width * share,
                  size};
  const bool left_out = cut_by_edge(ui, line);
  log_text(ui, text, line, false, left_out);
  if (!left_out)
    ui.draw->AddText(font(role), size, {line.x, line.y}, rgba(color), text.data(), text.data() + text.size());
}

std::string_view first_fitting(const Ui& ui, FontRole role, float width,
                               std::initializer_list<std::string_view> variants) {
  for (const std::string_view text : variants) {
    if (text_width(ui, role, text) <= width) return text;
  }
  return *(variants.end() - 1);
}

std::string_view whole_parts(const Ui& ui, FontRole role, float width, std::string_view text) {
  constexpr std::string_view kBetween = "  \xC2\xB7  ";
  while (text_width(ui, role, text) > width) {
    const std::size_t last = text.rfind(kBetween);
    if (last == std::string_view::npos || last == 0) break;
    text = text.substr(0, last);
  }
  return text;
}

namespace {

/// Where the line that starts at `start` ends: the longest run of whole words that fits; a word wider than
/// the box is a line of its own.
std::size_t line_end(const Ui& ui, FontRole role, float width, std::string_view text, std::size_t start) {
  std::size_t stop = std::min(text.find(' ', start), text.size());
  while (stop < text.size()) {
    const std::size_t next = std::min(text.find(' ', stop + 1), text.size());
    if (text_width(ui, role, text.substr(start, next - start)) > width) break;
    stop = next;
  }
  return stop;
}

}  // namespace

float text_wrapped(const Ui& ui, FontRole role, const Rect& rect, Rgb color, std::string_view text,
                   Align align, int max_lines) {
  const float step = line_step(role);
  float y = rect.y;
  for (std::size_t start = 0; start < text.size(); y += step) {
    const std::size_t stop = --max_lines <= 0 ? text.size() : line_end(ui, role, rect.w, text, start);
    text_in(ui, role, {rect.x, y, rect.w + 1.0F, step}, color, text.substr(start, stop - start), align);
    start = stop + 1;
  }
  return y - rect.y;
}

float wrapped_height(const Ui& ui, FontRole role, float width, std::string_view text) {
  float height = 0.0F;
  for (std::size_t start = 0; start < text.size(); height += line_step(role))
    start = line_end(ui, role, width, text, start) + 1;
  return height;
}

void text_up(const Ui& ui, FontRole role, float x, float y, Rgb color, std::string_view text) {
  // Drawn flat in the corner of the clip rectangle, where ImGui culls no glyph, then turned and moved:
  // (dx, dy) -> (dy, -dx).
  const int first = ui.draw->VtxBuffer.Size;
  const ImVec2 corner = ui.draw->GetClipRectMin();
  ui.draw->AddText(font(role), font_pixels(role), corner, rgba(color), text.data(),
                   text.data() + text.size());
  const float ox = std::round(x);
  const float oy = std::round(y);
  const float width = text_width(ui, role, text);
  log_text(ui, text, {ox, oy - width, font_pixels(role), width}, false);
  for (int i = first; i < ui.draw->VtxBuffer.Size; ++i) {
    ImVec2& p = ui.draw->VtxBuffer[i].pos;
    p = {ox + (p.y - corner.y), oy - (p.x - corner.x)};
  }
}

void name_tag(Ui& ui, const Rect& rect, std::string_view name) {
  if (touch(ui, rect).hovered) ui.view.next_hover.name = std::string(name);
  if (lit(ui, name)) outline(ui, rect, ui[Color::accent], ui.px(1), ui.px(2));
}

Rgb hue_of(const Ui& ui, int seq) {
  return ui.theme.hue[static_cast<std::size_t>(seq < 0 ? 0 : seq % kNumHues)];
}
Rgb tint_of(const Ui& ui, int seq) {
  return ui.theme.tint[static_cast<std::size_t>(seq < 0 ? 0 : seq % kNumHues)];
}
Rgb on_hue_of(const Ui& ui, int seq) {
  return ui.theme.on_hue[static_cast<std::size_t>(seq < 0 ? 0 : seq % kNumHues)];
}

int notch_teeth(int seq) { return 1 + (seq < 0 ? 0 : seq % kNumHues); }

void notch(const Ui& ui, const Rect& rect, int seq) {
  const int teeth = notch_teeth(seq);
  const float w = std::min(rect.w, ui.px(3));
  const float h = rect.h / static_cast<float>(2 * teeth + 1);
  if (h < 1.0F) return;
  for (int i = 0; i < teeth; ++i) {
    fill(ui,
         {rect.x, std::round(rect.y + h * static_cast<float>(2 * i + 1)), w, std::max(1.0F, std::round(h))},
         ui[Color::panel]);
  }
}

void letter_chip(const Ui& ui, const Rect& rect, int seq) {
  keep_whole(ui, rect, "letter");
  fill(ui, rect, hue_of(ui, seq), 1.0F, ui.px(3));
  text_in(ui, FontRole::strong, rect, on_hue_of(ui, seq), seq_letter(seq), Align::center);
}

}  // namespace attn::viz
