#include "app/svg_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace attn::app {
namespace {

/// At most two digits behind the point, no zeros at the end.
std::string number(float value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// attribute="#rrggbb", and its opacity when it is not 1.
std::string paint(const char* attribute, std::uint32_t color) {
  const std::uint32_t r = color & 0xFFU, g = color >> 8U & 0xFFU, b = color >> 16U & 0xFFU, a = color >> 24U;
  std::string text = fmt::format(" {}=\"#{:02x}{:02x}{:02x}\"", attribute, r, g, b);
  if (a != 0xFFU)
    text += fmt::format(" {}-opacity=\"{}\"", attribute, number(static_cast<float>(a) / 255.0F));
  return text;
}

std::string points_text(const std::vector<Point>& points, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("{}{},{}", i == 0 ? "" : " ", number(points[i].x), number(points[i].y));
  return text;
}

std::string rect_text(const Box& box, float radius) {
  std::string text = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(box.x0),
                                 number(box.y0), number(box.x1 - box.x0), number(box.y1 - box.y0));
  if (radius > 0.0F) text += fmt::format(" rx=\"{}\"", number(radius));
  return text;
}

std::string stroke_text(const Shape& shape) {
  const std::string look = fmt::format(" fill=\"none\"{} stroke-width=\"{}\"/>", paint("stroke", shape.color),
                                       number(shape.width));
  const std::vector<Point>& p = shape.points;
  if (p.size() == 2) {
    return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", number(p[0].x), number(p[0].y),
                       number(p[1].x), number(p[1].y)) +
           look;
  }
  const bool closed = std::hypot(p.front().x - p.back().x, p.front().y - p.back().y) < 0.1F;
  return fmt::format("<{} points=\"{}\"", closed ? "polygon" : "polyline",
                     points_text(p, closed ? p.size() - 1 : p.size())) +
         look;
}

std::string text_element(const Shape& shape) {
  const Point at = shape.points[0];
  const viz::FontFace face = viz::font_face(shape.font);
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}>{}</text>", face.css_class,
                     number(at.x), number(at.y), number(shape.size / face.line),
                     shape.up ? " transform=\"rotate(-90)\"" : "", paint("fill", shape.color),
                     escaped(shape.text));
}

std::string element(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::rect:
      return rect_text(shape.radius > 0.0F ? shape.box : overlap(shape.box, shape.clip), shape.radius) +
             paint("fill", shape.color) + "/>";
    case Shape::Kind::circle: {
      const Box& box = shape.box;
      return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", number((box.x0 + box.x1) * 0.5F),
                         number((box.y0 + box.y1) * 0.5F), number((box.x1 - box.x0) * 0.5F)) +
             paint("fill", shape.color) + "/>";
    }
    case Shape::Kind::polygon:
      return fmt::format("<polygon points=\"{}\"", points_text(shape.points, shape.points.size())) +
             paint("fill", shape.color) + "/>";
    case Shape::Kind::stroke:
      return stroke_text(shape);
    case Shape::Kind::text:
      break;
  }
  return text_element(shape);
}

/// A plain rectangle is cut where its clip cuts it; others need a clip path when something of them is
/// outside.
bool needs_clip(const Shape& shape) {
  const bool plain = shape.kind == Shape::Kind::rect && shape.radius == 0.0F;
  return !plain && !shape.clip.holds(shape.box);
}

/// Clip paths by their box, numbered as they are met.
class Clips {
 public:
  int number_of(const Box& box) {
    const auto [found, fresh] =
        numbers_.try_emplace({box.x0, box.y0, box.x1, box.y1}, static_cast<int>(boxes_.size()));
    if (fresh) boxes_.push_back(box);
    return found->second;
  }
  std::string definitions() const {
    std::string text;
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      text += fmt::format("<clipPath id=\"clip{}\">{}/></clipPath>\n", i, rect_text(boxes_[i], 0.0F));
    return text;
  }

 private:
  std::map<std::tuple<float, float, float, float>, int> numbers_;
  std::vector<Box> boxes_;
};

std::string styles() {
  std::map<std::string, std::string> classes;
  for (int i = 0; i < viz::kNumFontRoles; ++i) {
    const viz::FontFace face = viz::font_face(static_cast<viz::FontRole>(i));
    classes[face.css_class] = fmt::format("font-family: {}; font-weight: {}", face.families, face.weight);
  }
  std::string text = "<style>text { white-space: pre; font-kerning: none; font-variant-ligatures: none }";
  for (const auto& [name, look] : classes) text += fmt::format(" .{} {{ {} }}", name, look);
  return text + "</style>\n";
}

}  // namespace

std::string svg_text(const std::vector<Shape>& shapes, const SvgPage& page) {
  Clips clips;
  std::string body;
  int open = -1;  // clip of the group that is open
  for (const Shape& shape : shapes) {
    const int clip = needs_clip(shape) ? clips.number_of(shape.clip) : -1;
    if (clip != open) {
      if (open >= 0) body += "</g>\n";
      if (clip >= 0) body += fmt::format("<g clip-path=\"url(#clip{})\">\n", clip);
      open = clip;
    }
    body += element(shape) + "\n";
  }
  if (open >= 0) body += "</g>\n";
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "xml:space=\"preserve\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n",
      page.width, page.height, escaped(page.title), escaped(page.description));
  out += styles();
  if (const std::string defined = clips.definitions(); !defined.empty())
    out += "<defs>\n" + defined + "</defs>\n";
  if (page.background)
    out += fmt::format("<rect width=\"100%\" height=\"100%\" fill=\"#{:06x}\"/>\n", *page.background);
  return out + body + "</svg>\n";
}

}  // namespace attn::app
