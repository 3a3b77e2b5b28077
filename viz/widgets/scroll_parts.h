// What the parts that scroll keep while a frame is drawn: which lines of text and which boxes are where, so
// that the fold comes to lie between two of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct ImDrawList;

namespace attn::viz {

/// From begin_scroll to end_scroll.
struct ScrollPart {
  struct Line {
    float top = 0.0F, bottom = 0.0F;  // pixels on screen
  };
  /// Its own drawing, or that of a part inside it, from a command on.
  struct Drawing {
    ImDrawList* list = nullptr;
    int first_command = 0;
  };
  std::string name;
  std::vector<Line> lines;  // of text
  std::vector<Line> boxes;  // cards, badges, plots: anything that would look broken when cut
  float height = 0.0F;      // that is on screen at once
  std::vector<Drawing> drawings;
  std::size_t first_mark = 0;
  std::size_t first_text = 0;  // of the frame's TextLog
  std::size_t first_box = 0;
  bool mouse_on_fold = false;  // the mouse is where the fold hides what lies there
};

/// Those that are open, outermost first; closed ones keep their memory.
struct ScrollParts {
  std::vector<ScrollPart> parts;
  int open = 0;

  bool any() const { return open > 0; }
  ScrollPart& last() { return parts[static_cast<std::size_t>(open) - 1]; }
};

}  // namespace attn::viz
