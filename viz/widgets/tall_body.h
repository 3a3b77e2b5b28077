// A panel whose parts need more height than it has: they keep it and scroll.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// While it lives, ui.body is at least `needed` pixels high; where that is more than there is, the panel
/// scrolls, with a bar at its right.
class TallBody {
 public:
  TallBody(Ui& ui, const char* id, float needed);
  ~TallBody();
  TallBody(const TallBody&) = delete;
  TallBody& operator=(const TallBody&) = delete;

  bool scrolls() const { return scrolls_; }
  /// Height that is on screen at once.
  float seen() const { return before_.h; }

 private:
  Ui& ui_;
  Rect before_;
  bool scrolls_;
};

}  // namespace attn::viz
