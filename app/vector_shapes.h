// What Dear ImGui drew, taken apart again into the shapes it was made of: its draw lists hold nothing but
// triangles, but every call leaves them in a pattern of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/fonts.h"

struct ImDrawData;

namespace attn::app {

struct Point {
  float x = 0.0F;  // pixels, from the upper left
  float y = 0.0F;
  bool operator==(const Point&) const = default;
};

/// Left, top, right, bottom.
struct Box {
  float x0 = 0.0F, y0 = 0.0F, x1 = 0.0F, y1 = 0.0F;
  bool operator==(const Box&) const = default;
  bool empty() const { return x1 <= x0 || y1 <= y0; }
  bool holds(const Box& other) const {
    return other.x0 >= x0 && other.y0 >= y0 && other.x1 <= x1 && other.y1 <= y1;
  }
};
Box overlap(const Box& a, const Box& b);

struct Shape {
  enum class Kind : unsigned char {
    rect,     // `box`, corners rounded by `radius`
    circle,   // in `box`
    polygon,  // `points`, filled
    stroke,   // along `points`, `width` wide; closed when the last point is the first
    text      // `text`, its baseline beginning at points[0]; `up`: turned to read upwards
  };
  Kind kind = Kind::rect;
  std::uint32_t color = 0;  // as ImGui has it: alpha, blue, green, red from the highest byte
  Box clip;                 // what is drawn of it
  Box box;                  // that it fills, for all kinds
  std::vector<Point> points;
  float radius = 0.0F;
  float width = 0.0F;
  std::string text;
  viz::FontRole font = viz::FontRole::text;
  float size = 0.0F;  // of the text, pixels
  bool up = false;
};

/// In the order drawn. PRECOND: drawn without anti-aliasing (which ImGui does by more triangles), with the
/// fonts of viz/fonts.h, no callbacks; the context it was drawn with is current.
std::vector<Shape> shapes_of(const ImDrawData& data);

}  // namespace attn::app
