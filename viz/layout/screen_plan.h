// How the screen is divided: the parts that layouts of both modes are put together from. Pure.
#pragma once

#include <span>

#include "viz/layout/cutter.h"
#include "viz/layout/screen_layout.h"

namespace attn::viz {

/// The layout being made: what is left of the window, and how to divide it. Lengths are pixels at scale 1.
class Plan {
 public:
  Plan(const LayoutInput& input, ScreenLayout& out);

  void explore();
  void present();
  void alone();

 private:
  /// What one page of a window shows that is too small for everything.
  enum class Page : unsigned char {
    stage,
    stage_and_mask,
    strip,  // and the row of numbers
    strip_and_mask,
    batch,  // strip, mask and numbers
    mask,
    memory,  // pool, free queue, tables
    pool,    // and free queue
    tables,
    side,
    requests,
    requests_and_side,
    timeline
  };

  void frame(float timeline_h, bool status);
  void timeline(float fallback);
  void set_pages(int pages);
  Rect divide(Cutter& area, Split split, float fallback, float least, float least_rest, bool vertical_bar,
              bool from_end, float whole);
  Rect tabs(Cutter& column) const;
  void banner(Cutter& column);
  void caption(Cutter& column);
  void lesson(Cutter& column);
  float caption_height() const;
  void strip(Cutter& column);
  float numbers_height(float width) const;
  bool numbers_fit(const Rect& stage) const;
  void numbers(Cutter& column);
  Rect foot(Cutter& column, float height) const;
  void stage(Cutter column, bool with_mask);
  void side(Cutter column);
  void pool(Cutter column);
  float tables_height() const;
  void memory(Cutter column);
  void maximise(Cutter column);
  void page(Page what);
  void explore_wide();
  void explore_compact();
  std::span<const Page> explore_pages() const;
  std::span<const Page> present_pages() const;
  void present_beside();
  /// Too low for a timeline below everything.
  bool low() const { return h_ < 480.0F; }

  static constexpr float kTables = 136.0F;  // height of block tables that three sequences have room in

  const LayoutInput& input_;
  ScreenLayout& out_;
  const float s_, w_, h_;
  Cutter inner_{};
};

}  // namespace attn::viz
