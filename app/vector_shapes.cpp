#include "app/vector_shapes.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace attn::app {
namespace {

constexpr float kNear = 0.02F;  // pixels

bool near(const ImVec2& a, const Point& b) {
  return std::abs(a.x - b.x) < kNear && std::abs(a.y - b.y) < kNear;
}
Point point(const ImVec2& p) { return {p.x, p.y}; }

Box box_of(const std::vector<Point>& points) {
  constexpr float kFar = std::numeric_limits<float>::max();
  Box box{kFar, kFar, -kFar, -kFar};
  for (const Point& p : points) {
    box = {std::min(box.x0, p.x), std::min(box.y0, p.y), std::max(box.x1, p.x), std::max(box.y1, p.y)};
  }
  return box;
}

/// A glyph by its place in the font texture.
struct KnownGlyph {
  const ImFontGlyph* glyph;
  viz::FontRole font;
};

class GlyphIndex {
 public:
  GlyphIndex() {
    const ImVector<ImFont*>& fonts = ImGui::GetIO().Fonts->Fonts;
    for (int i = 0; i < fonts.Size; ++i) {
      const auto role = static_cast<viz::FontRole>(std::min(i, viz::kNumFontRoles - 1));
#if IMGUI_VERSION_NUM < 19200
      const ImFont& face = *fonts[i];
#else
      const ImFontBaked& face = *fonts[i]->GetFontBaked(fonts[i]->LegacySize);
#endif
      faces_[role] = {face.Ascent, 0.0F};
      for (const ImFontGlyph& glyph : face.Glyphs) {
        if (glyph.Codepoint == ' ') faces_[role].space = glyph.AdvanceX;
        if (glyph.Visible != 0) glyphs_[{glyph.U0, glyph.V0}] = {&glyph, role};
      }
    }
  }
  const KnownGlyph* find(const ImVec2& uv) const {
    const auto found = glyphs_.find({uv.x, uv.y});
    return found == glyphs_.end() ? nullptr : &found->second;
  }
  float ascent(viz::FontRole font) const { return faces_.at(font).ascent; }
  float space(viz::FontRole font) const { return faces_.at(font).space; }

 private:
  struct Face {
    float ascent = 0.0F;
    float space = 0.0F;
  };
  std::map<std::pair<float, float>, KnownGlyph> glyphs_;
  std::map<viz::FontRole, Face> faces_;
};

void append_utf8(std::string& text, unsigned code) {
  char buffer[5] = {};
  ImTextCharToUtf8(buffer, code);
  text += buffer;
}

/// Triangles of one draw command, walked in the order they were made.
class ShapeReader {
 public:
  ShapeReader(const GlyphIndex& glyphs, std::vector<Shape>& out) : glyphs_(glyphs), out_(out) {}

  void read(const ImDrawList& list, const ImDrawCmd& command) {
    clip_ = {command.ClipRect.x, command.ClipRect.y, command.ClipRect.z, command.ClipRect.w};
    vertices_ = list.VtxBuffer.Data + command.VtxOffset;
    const ImDrawIdx* at = list.IdxBuffer.Data + command.IdxOffset;
    const ImDrawIdx* end = at + command.ElemCount;
    const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
    pen_.reset();
    while (at + 3 <= end) {
      const ImVec2& uv = vertices_[at[0]].uv;
      if (uv.x != white.x || uv.y != white.y) {
        glyph(at);
        at += 6;
        continue;
      }
      // A convex outline comes as a fan: 0 1 2, 0 2 3, 0 3 4, ...
      std::vector<Point> points = {point(vertices_[at[0]].pos), point(vertices_[at[1]].pos),
                                   point(vertices_[at[2]].pos)};
      const ImDrawIdx* next = at + 3;
      for (; next + 3 <= end && next[0] == at[0] && next[1] == next[-1]; next += 3)
        points.push_back(point(vertices_[next[2]].pos));
      fan(std::move(points), vertices_[at[0]].col);
      at = next;
    }
  }

 private:
  /// Where the next letter of a text is expected.
  struct Pen {
    Point at;  // in the text's own axes
    bool up = false;
  };

  Shape& add(Shape::Kind kind, ImU32 color, std::vector<Point> points) {
    Shape shape;
    shape.kind = kind;
    shape.color = color;
    shape.clip = clip_;
    shape.box = box_of(points);
    shape.points = std::move(points);
    out_.push_back(std::move(shape));
    return out_.back();
  }

  void glyph(const ImDrawIdx* at);
  void fan(std::vector<Point> points, ImU32 color);
  bool line(const std::vector<Point>& p, ImU32 color);

  const GlyphIndex& glyphs_;
  std::vector<Shape>& out_;
  const ImDrawVert* vertices_ = nullptr;
  Box clip_;
  std::optional<Pen> pen_;  // of the text that out_ ends with
};

/// Letters follow each other on one line: they are put together again, with the spaces that were not drawn.
void ShapeReader::glyph(const ImDrawIdx* at) {
  const ImDrawVert& first = vertices_[at[0]];
  const ImDrawVert& right = vertices_[at[1]];
  const ImDrawVert& opposite = vertices_[at[2]];
  const KnownGlyph* known = glyphs_.find(first.uv);
  if (known == nullptr) return;
  const ImFontGlyph& g = *known->glyph;
  const bool up = std::abs(right.pos.x - first.pos.x) < kNear;
  // In the text's own axes: along the line, and down from it.
  const auto own = [up](const ImVec2& p) { return up ? Point{-p.y, p.x} : Point{p.x, p.y}; };
  const Point corner = own(first.pos), far = own(opposite.pos);
  const float scale = (far.x - corner.x) / (g.X1 - g.X0);
  const Point begin{corner.x - g.X0 * scale, corner.y - g.Y0 * scale + glyphs_.ascent(known->font) * scale};
  Shape* text = pen_ && !out_.empty() ? &out_.back() : nullptr;
  const float space = glyphs_.space(known->font) * scale;
  const float gap = pen_ ? begin.x - pen_->at.x : 0.0F;
  const bool goes_on = text != nullptr && text->color == first.col && text->font == known->font &&
                       pen_->up == up && std::abs(begin.y - pen_->at.y) < 0.5F && gap > -1.0F &&
                       gap < 3.5F * space;
  if (!goes_on) {
    text = &add(Shape::Kind::text, first.col, {begin});
    text->font = known->font;
    text->up = up;
    text->size = viz::font_pixels(known->font) * scale;
  } else {
    text->text.append(static_cast<std::size_t>(std::max(0L, std::lround(gap / space))), ' ');
  }
  append_utf8(text->text, g.Codepoint);
  const Box letter = box_of({point(first.pos), point(opposite.pos)});
  text->box = !goes_on ? letter
                       : Box{std::min(text->box.x0, letter.x0), std::min(text->box.y0, letter.y0),
                             std::max(text->box.x1, letter.x1), std::max(text->box.y1, letter.y1)};
  pen_ = {{begin.x + g.AdvanceX * scale, begin.y}, up};
}

/// A thin quad is a line from the middle of one end to the middle of the other; lines that meet are one.
bool ShapeReader::line(const std::vector<Point>& p, ImU32 color) {
  if (p.size() != 4) return false;
  const float width = std::hypot(p[0].x - p[3].x, p[0].y - p[3].y);
  const float length = std::hypot(p[1].x - p[0].x, p[1].y - p[0].y);
  const bool slanted = std::abs(p[0].x - p[1].x) > kNear && std::abs(p[0].y - p[1].y) > kNear;
  const bool straight = std::abs(p[0].x + p[2].x - p[1].x - p[3].x) < kNear &&
                        std::abs(p[0].y + p[2].y - p[1].y - p[3].y) < kNear;
  const bool follows = !out_.empty() && out_.back().kind == Shape::Kind::stroke && !pen_;
  if (!straight || width > 8.0F || (!slanted && !follows) || length < kNear) return false;
  const Point from{(p[0].x + p[3].x) * 0.5F, (p[0].y + p[3].y) * 0.5F};
  const Point to{(p[1].x + p[2].x) * 0.5F, (p[1].y + p[2].y) * 0.5F};
  if (follows) {
    Shape& last = out_.back();
    if (last.color == color && last.clip == clip_ && std::abs(last.width - width) < kNear &&
        near({from.x, from.y}, last.points.back())) {
      last.points.push_back(to);
      const Box more = box_of(p);
      last.box = {std::min(last.box.x0, more.x0), std::min(last.box.y0, more.y0),
                  std::max(last.box.x1, more.x1), std::max(last.box.y1, more.y1)};
      return true;
    }
  }
  if (!slanted) return false;  // a small rectangle
  add(Shape::Kind::stroke, color, {from, to}).width = width;
  out_.back().box = box_of(p);
  return true;
}

/// The radius of the arc in every corner of the outline; nothing when it is no such rectangle.
std::optional<float> corner_radius(const std::vector<Point>& points, const Box& box) {
  // The first straight edge begins where the first arc ends.
  float radius = 0.0F;
  for (const Point& p : points) {
    if (std::abs(p.y - box.y0) < kNear) radius = std::max(radius, std::min(p.x - box.x0, box.x1 - p.x));
  }
  const float most = std::min(box.x1 - box.x0, box.y1 - box.y0) * 0.5F + kNear;
  radius = std::min(radius, most);
  for (const Point& p : points) {
    const float dx = std::max({box.x0 + radius - p.x, p.x - box.x1 + radius, 0.0F});
    const float dy = std::max({box.y0 + radius - p.y, p.y - box.y1 + radius, 0.0F});
    if (dx > 0.0F && dy > 0.0F && std::abs(std::hypot(dx, dy) - radius) > 0.35F) return std::nullopt;
    if (dx <= 0.0F && dy <= 0.0F) return std::nullopt;  // inside: not on the outline
  }
  return radius;
}

void ShapeReader::fan(std::vector<Point> points, ImU32 color) {
  if (line(points, color)) return;
  pen_.reset();
  const Box box = box_of(points);
  const auto at_corner = [&](const Point& p) {
    return (std::abs(p.x - box.x0) < kNear || std::abs(p.x - box.x1) < kNear) &&
           (std::abs(p.y - box.y0) < kNear || std::abs(p.y - box.y1) < kNear);
  };
  if (points.size() == 4 && std::ranges::all_of(points, at_corner)) {
    add(Shape::Kind::rect, color, std::move(points));
    return;
  }
  if (points.size() >= 8) {
    const float w = box.x1 - box.x0, h = box.y1 - box.y0;
    const Point middle{(box.x0 + box.x1) * 0.5F, (box.y0 + box.y1) * 0.5F};
    const bool round = std::abs(w - h) < 0.5F && std::ranges::all_of(points, [&](const Point& p) {
                         return std::abs(std::hypot(p.x - middle.x, p.y - middle.y) - w * 0.5F) < 0.35F;
                       });
    if (round) {
      add(Shape::Kind::circle, color, std::move(points));
      return;
    }
    if (const auto radius = corner_radius(points, box)) {
      add(Shape::Kind::rect, color, std::move(points)).radius = *radius;
      return;
    }
  }
  add(Shape::Kind::polygon, color, std::move(points));
}

}  // namespace

Box overlap(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

std::vector<Shape> shapes_of(const ImDrawData& data) {
  const GlyphIndex glyphs;
  std::vector<Shape> shapes;
  ShapeReader reader(glyphs, shapes);
  for (int i = 0; i < data.CmdListsCount; ++i) {
    for (const ImDrawCmd& command : data.CmdLists[i]->CmdBuffer) {
      if (command.UserCallback == nullptr) reader.read(*data.CmdLists[i], command);
    }
  }
  std::erase_if(shapes, [](const Shape& shape) { return overlap(shape.box, shape.clip).empty(); });
  return shapes;
}

}  // namespace attn::app
