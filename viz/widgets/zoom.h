// Looking closer at something long: the wheel zooms at the mouse, a drag moves, a double click shows all;
// buttons do the same for those who do not use a wheel.
#pragma once

#include <string_view>

#include "viz/attention_views.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Items [from, to) that a range shows of `count`, at least one when there is one.
struct Span {
  int from = 0;
  int to = 0;
  int size() const { return to - from; }
  bool operator==(const Span&) const = default;
};
Span shown_span(const ZoomRange& range, int count);

/// Keeps `centre` (a share of what is shown) in its place; `factor` < 1 looks closer, down to a share
/// `least` of the whole.
ZoomRange zoomed(const ZoomRange& range, double centre, double factor, double least);
/// By a share of what is shown, kept inside the whole.
ZoomRange moved(const ZoomRange& range, double by);

/// One or two axes of a picture; null: that axis does not zoom. `least_x`, `least_y`: smallest shares.
struct ZoomAxes {
  ZoomRange* x = nullptr;
  ZoomRange* y = nullptr;
  double least_x = 1.0;
  double least_y = 1.0;
  bool whole() const { return (x == nullptr || x->whole()) && (y == nullptr || y->whole()); }
};
/// The mouse over `rect`. True while a drag moves the picture: then it selects nothing.
bool zoom_by_mouse(Ui& ui, const Rect& rect, const ZoomAxes& axes);
/// [+] [-] [all], right-aligned in `line`; marks "<prefix>/zoom_in", "/zoom_out", "/zoom_all". Returns the
/// width used.
float zoom_buttons(Ui& ui, std::string_view prefix, const Rect& line, const ZoomAxes& axes);

}  // namespace attn::viz
