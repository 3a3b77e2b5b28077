// What was written where, kept only when a test asks: that no text is cut by a panel's edge or lies on
// another.
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
  std::vector<Entry> entries;
};

}  // namespace attn::viz
