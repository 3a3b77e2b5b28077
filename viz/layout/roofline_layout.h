// Geometry of the roofline: chart and list, logarithmic axes, and labels that keep off each other. Pure, in
// pixels.
#pragma once

#include <initializer_list>
#include <vector>

#include "viz/marks.h"

namespace attn::viz {

/// Letter sizes and widths that the parts must have room for.
struct RooflineText {
  float line = 0.0F;     // height of a line of small text
  float y_label = 0.0F;  // widest number at the left axis
  float list = 0.0F;     // widest row of the list
};

struct RooflineLayout {
  Rect note;  // above the chart; h = 0: none
  Rect chart;
  Rect plot;  // of the chart, within its axes
  Rect list;
};
/// Height from which chart and list have room. Where that scrolls, the chart with what is said above it is no
/// higher than `seen`, what is on screen at once.
float least_roofline_height(float width, float scale, const RooflineText& text, float note_h, float seen);
/// The list stands beside the chart where that has the width, else below it. `note_h` is the height of what
/// is said above the chart, 0: nothing. PRECOND: body.h >= least_roofline_height(..).
RooflineLayout layout_roofline(const Rect& body, float scale, const RooflineText& text, float note_h);

/// Powers of ten from `low` to `high` over the pixels from `from` to `to` (which may be the smaller one).
struct LogAxis {
  int low = 0, high = 1;  // exponents
  float from = 0.0F, to = 1.0F;
  float at(double value) const;  // clamped to the axis
  bool holds(double value) const;
  /// Exponents that get a tick label when labels need `needed` pixels.
  std::vector<int> ticks(float needed) const;
};
/// From the power of ten below `smallest` to the one above `largest`. PRECOND: 0 < smallest <= largest.
LogAxis log_axis(double smallest, double largest, float from, float to);

/// What part of an area is taken: a label goes to the first of its places that is inside and free.
class LabelRoom {
 public:
  explicit LabelRoom(const Rect& area) : area_(area) {}
  void take(const Rect& box) { taken_.push_back(box); }
  struct Corner {
    float x, y;  // upper left
  };
  /// Moves `box` to a place and takes it; false when none is free.
  bool place(Rect& box, std::initializer_list<Corner> places);

 private:
  Rect area_;
  std::vector<Rect> taken_;
};

}  // namespace attn::viz
