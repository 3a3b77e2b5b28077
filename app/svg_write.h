// Shapes as an SVG file: rectangles, lines and text that a drawing program can change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/vector_shapes.h"
#include "viz/theme.h"

namespace attn::app {

struct SvgPage {
  int width = 0;  // pixels
  int height = 0;
  std::optional<viz::Rgb> background;  // nothing: see-through
  std::string title;
  std::string description;  // where the numbers come from
};

/// A whole document, UTF-8.
std::string svg_text(const std::vector<Shape>& shapes, const SvgPage& page);

}  // namespace attn::app
