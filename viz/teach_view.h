// What a speaker does to the screen: blank it, draw on it, read notes beside it.
#pragma once

#include <string>
#include <vector>

namespace attn::viz {

struct Point {
  float x = 0.0F, y = 0.0F;  // pixels
};
/// What is drawn without lifting the pen.
using Stroke = std::vector<Point>;

struct TeachView {
  bool blank = false;
  bool pen = false;  // the mouse draws instead of pointing
  std::vector<Stroke> strokes;
  std::string drawn_at;          // the place that the strokes belong to: they are gone at another one
  bool notes = false;            // the speaker's notes are shown
  bool notes_elsewhere = false;  // ... in a window of their own
  std::string clock;             // "14:03   12 min since the first stop", "" unknown
};

}  // namespace attn::viz
