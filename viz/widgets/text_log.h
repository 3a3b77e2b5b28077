// What was written and drawn where, kept only when a test asks: that no text and no box is cut by the edge of
// its panel or by a fold, and that no text lies on another or under a line.
#pragma once

#include <string>
#include <vector>

#include "viz/marks.h"

namespace attn::viz {

struct TextLog {
  struct Entry {
    std::string panel;
    std::string text;
    Rect rect;               // its line: advance width, font height
    Rect clip;               // what of the screen it may be drawn on
    bool scrolled = false;   // in a part that scrolls: may be out of sight
    bool shortened = false;  // ends with "…" because its box had no room
    bool left_out = false;   // not drawn: an edge would have cut it
  };
  /// A mark, or something else that may be seen whole or not at all.
  struct Box {
    std::string panel;
    std::string name;
    Rect rect;            // all of it
    Rect clip;            // what of the screen it may be drawn on
    float part_h = 0.0F;  // of the part that scrolls with it, 0: none
  };
  /// A piece of a line that runs across panels.
  struct Stroke {
    std::string name;
    Rect rect;
  };
  std::vector<Entry> entries;
  std::vector<Box> boxes;
  std::vector<Stroke> strokes;
};

}  // namespace attn::viz
