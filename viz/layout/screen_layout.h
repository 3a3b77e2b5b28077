// Where every panel goes: a pure function of window size, scale and page, so that it can be tested without
// drawing and so that panels never move when the step changes.
#pragma once

#include <array>

#include "viz/marks.h"

namespace attn::viz {

enum class PanelId : unsigned char {
  header,
  requests,
  strip,
  mask,
  weights,
  pool,
  free_queue,
  tables,
  stages,
  timeline,
  status,
  count_
};
inline constexpr int kNumPanels = static_cast<int>(PanelId::count_);

struct ScreenLayout {
  std::array<Rect, kNumPanels> rects{};  // w = 0: not on this page
  float gap = 0.0F;                      // between panels, pixels
  int pages = 1;                         // how many pages the window needs to show everything
  int page = 0;                          // the one laid out, within pages

  const Rect& operator[](PanelId id) const { return rects[static_cast<std::size_t>(id)]; }
  Rect& operator[](PanelId id) { return rects[static_cast<std::size_t>(id)]; }
  bool shows(PanelId id) const { return (*this)[id].w > 0.0F; }
};

/// width and height in pixels. Three tiers by size / scale: everything at once (from 1360 x 760), two pages
/// (from 880 x 520: mask and stages make room for weights and pool), five pages below that. Pages wrap.
ScreenLayout layout_screen(float width, float height, float scale, int page = 0);

}  // namespace attn::viz
