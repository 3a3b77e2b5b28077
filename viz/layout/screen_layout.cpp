#include "viz/layout/screen_layout.h"

#include <algorithm>
#include <cmath>

#include "viz/layout/cutter.h"

namespace attn::viz {
namespace {

// Everything below is in pixels at scale 1.
constexpr float kGap = 8.0F;
constexpr float kHeader = 44.0F;
constexpr float kStatus = 26.0F;
constexpr float kTabStrip = 30.0F;
constexpr float kBanner = 30.0F;
constexpr float kNumbers = 48.0F;
constexpr float kNumbersFrom = 300.0F;      // a lower stage keeps its height for itself
constexpr float kNumbersOfLesson = 230.0F;  // ... but in a lesson numbers are what it is about
constexpr float kFreeQueue = 34.0F;         // one line

float length_along(const Rect& rect, bool vertical_bar) { return vertical_bar ? rect.w : rect.h; }

/// The layout being made: what is left of the window, and how to divide it.
class Plan {
 public:
  Plan(const LayoutInput& input, ScreenLayout& out)
      : input_(input), out_(out), s_(input.scale), w_(input.width / s_), h_(input.height / s_) {
    out_.gap = std::round(kGap * s_);
    inner_.gap = out_.gap;
  }

  void explore();
  void present();
  void alone();

 private:
  void frame(float timeline_h, bool status);
  void timeline(float fallback);
  void set_pages(int pages) {
    out_.pages = pages;
    out_.page = ((input_.page % pages) + pages) % pages;
  }
  Rect divide(Cutter& area, Split split, float fallback, float least, float least_rest, bool vertical_bar,
              bool from_end, float whole);
  Rect tabs(Cutter& column) const;
  void banner(Cutter& column);
  void caption(Cutter& column);
  void lesson(Cutter& column);
  float caption_height() const;
  void strip(Cutter& column);
  void stage(Cutter column, bool with_mask, bool with_numbers = true);
  void side(Cutter column);
  void memory(Cutter column);
  void explore_wide();
  void explore_compact();
  void explore_small();
  void explore_tiny();
  void maximise(Cutter column);

  const LayoutInput& input_;
  ScreenLayout& out_;
  const float s_, w_, h_;
  Cutter inner_{};
};

/// Cuts the piece a splitter bounds: the dragged share, or `fallback` pixels, within what both parts need.
/// `whole` is the length that the share is of.
Rect Plan::divide(Cutter& area, Split split, float fallback, float least, float least_rest, bool vertical_bar,
                  bool from_end, float whole) {
  Splits splits = input_.splits;
  const float share = share_of(splits, split);
  const float total = length_along(area.rest, vertical_bar);
  const float low = std::min(least * s_, total * 0.5F);
  const float high = std::max(low, total - out_.gap - least_rest * s_);
  const float size = std::floor(std::clamp(share > 0.0F ? share * whole : fallback, low, high));
  Splitter& splitter = out_.splitters[static_cast<std::size_t>(split)];
  splitter.vertical = vertical_bar;
  splitter.from_end = from_end;
  splitter.share = size / std::max(1.0F, whole);
  const Rect before = area.rest;
  const Rect piece = vertical_bar ? (from_end ? area.right(size) : area.left(size))
                                  : (from_end ? area.bottom(size) : area.top(size));
  const float gap = out_.gap;
  if (vertical_bar) {
    splitter.whole = {from_end ? before.right() - whole : before.x, before.y, whole, before.h};
    splitter.handle = {from_end ? piece.x - gap : piece.right(), before.y, gap, before.h};
  } else {
    splitter.whole = {before.x, from_end ? before.bottom() - whole : before.y, before.w, whole};
    splitter.handle = {before.x, from_end ? piece.y - gap : piece.bottom(), before.w, gap};
  }
  return piece;
}

/// Header above, status below, a gap around the rest, the timeline at its foot.
void Plan::frame(float timeline_h, bool status) {
  Cutter all{{0.0F, 0.0F, std::floor(input_.width), std::floor(input_.height)}, 0.0F};
  out_[PanelId::header] = all.top(kHeader * s_);
  if (status) out_[PanelId::status] = all.bottom(kStatus * s_);
  const float gap = out_.gap;
  inner_.rest = {gap, all.rest.y + gap, std::max(0.0F, all.rest.w - 2.0F * gap),
                 std::max(0.0F, all.rest.h - 2.0F * gap)};
  if (timeline_h > 0.0F) timeline(timeline_h);
}

void Plan::timeline(float fallback) {
  out_[PanelId::timeline] = divide(inner_, Split::bottom, fallback * s_, std::min(92.0F, fallback),
                                   h_ * 0.62F, false, true, input_.height);
}

/// A bar of tabs joined to what lies below it.
Rect Plan::tabs(Cutter& column) const {
  Cutter joined{column.rest, 0.0F};
  const Rect bar = joined.top(kTabStrip * s_);
  column.rest = joined.rest;
  return bar;
}

void Plan::banner(Cutter& column) {
  if (input_.broken) out_[PanelId::banner] = column.top(kBanner * s_);
}

void Plan::caption(Cutter& column) {
  if (input_.caption && h_ >= 340.0F) out_[PanelId::caption] = column.bottom(caption_height() * s_);
}

/// Below 1,100 px the exercise stands under the caption where the height allows it.
void Plan::lesson(Cutter& column) {
  if (!input_.lesson || h_ < 460.0F) return;
  const float low = h_ >= 560.0F ? 68.0F : 44.0F;
  const float high = w_ >= 1100.0F ? 92.0F : 140.0F;
  out_[PanelId::lesson] = column.top((h_ >= 740.0F ? high : low) * s_);
}

/// Of mode present: two lines, of a lesson three and what is to be done.
float Plan::caption_height() const {
  if (h_ < 440.0F) return 46.0F;
  return input_.lesson && h_ >= 560.0F ? 134.0F : 78.0F;
}

void Plan::strip(Cutter& column) {
  out_[PanelId::strip] = column.top(std::clamp(h_ * 0.15F, 112.0F, 200.0F) * s_);
}

void Plan::stage(Cutter column, bool with_mask, bool with_numbers) {
  out_[PanelId::stage_tabs] = tabs(column);
  if (with_numbers && column.rest.h >= (input_.lesson ? kNumbersOfLesson : kNumbersFrom) * s_)
    out_[PanelId::numbers] = column.bottom(kNumbers * s_);
  switch (input_.stage) {
    case StageView::tiles:
      out_[PanelId::tiles] = column.rest;
      return;
    case StageView::heads:
      out_[PanelId::heads] = column.rest;
      return;
    case StageView::compare:
      out_[PanelId::compare] = column.rest;
      return;
    case StageView::roofline:
      out_[PanelId::roofline] = column.rest;
      return;
    case StageView::weights:
      break;
  }
  if (with_mask) {
    out_[PanelId::mask] =
        divide(column, Split::stage, column.rest.w * 0.36F, 190.0F, 260.0F, true, false, column.rest.w);
  }
  out_[PanelId::weights] = column.rest;
}

void Plan::side(Cutter column) {
  out_[PanelId::side_tabs] = tabs(column);
  out_[side_panel(input_.side)] = column.rest;
}

/// Pool, free queue and block tables above each other.
void Plan::memory(Cutter column) {
  out_[PanelId::tables] = column.bottom(
      std::clamp(column.rest.h * 0.34F, std::min(136.0F * s_, column.rest.h * 0.5F), 340.0F * s_));
  out_[PanelId::free_queue] = column.bottom(kFreeQueue * s_);
  out_[PanelId::pool] = column.rest;
}

void Plan::maximise(Cutter column) {
  const PanelId id = input_.maximised;
  if (id == PanelId::timeline || id == PanelId::header || id == PanelId::status || id == PanelId::caption ||
      id == PanelId::banner || id == PanelId::lesson)
    return;
  if (is_side_panel(id)) out_[PanelId::side_tabs] = tabs(column);
  out_[id] = column.rest;
}

void Plan::explore_wide() {
  Cutter window = inner_;
  const float whole = inner_.rest.w;
  out_[PanelId::requests] = divide(window, Split::left, std::clamp(w_ * 0.185F, 272.0F, 460.0F) * s_, 220.0F,
                                   900.0F, true, false, whole);
  Cutter right{divide(window, Split::right, std::clamp(w_ * 0.29F, 400.0F, 820.0F) * s_, 300.0F, 520.0F, true,
                      true, whole),
               out_.gap};
  side({divide(right, Split::side, right.rest.h * 0.465F, 140.0F, 330.0F, false, true, right.rest.h),
        out_.gap});
  memory(right);
  strip(window);
  stage(window, true);
}

void Plan::explore_compact() {
  out_[PanelId::requests] =
      divide(inner_, Split::left, 232.0F * s_, 200.0F, 620.0F, true, false, inner_.rest.w);
  Cutter right{divide(inner_, Split::right, std::clamp(w_ * 0.3F, 270.0F, 400.0F) * s_, 240.0F, 360.0F, true,
                      true, inner_.rest.w),
               out_.gap};
  strip(inner_);
  if (out_.page == 0) {
    stage(inner_, false);
    memory(right);
  } else {
    out_[PanelId::numbers] = inner_.bottom(kNumbers * s_);
    out_[PanelId::mask] = inner_.rest;
    side(right);
  }
}

/// One or two panels per page.
void Plan::explore_small() {
  switch (out_.page) {
    case 0:
      out_[PanelId::strip] = inner_.top(std::max(104.0F * s_, inner_.rest.h * 0.3F));
      stage(inner_, false);
      break;
    case 1:
      out_[PanelId::numbers] = inner_.bottom(kNumbers * s_);
      out_[PanelId::mask] = inner_.rest;
      break;
    case 2:
      out_[PanelId::tables] = inner_.right(inner_.rest.w * 0.42F);
      out_[PanelId::free_queue] = inner_.bottom(kFreeQueue * s_);
      out_[PanelId::pool] = inner_.rest;
      break;
    case 3:
      side(inner_);
      break;
    default:
      out_[PanelId::requests] = inner_.rest;
      break;
  }
}

void Plan::explore_tiny() {
  switch (out_.page) {
    case 0:
      stage(inner_, false);
      break;
    case 1:
      out_[PanelId::numbers] = inner_.bottom(kNumbers * s_);
      out_[PanelId::strip] = inner_.rest;
      break;
    case 2:
      out_[PanelId::mask] = inner_.rest;
      break;
    case 3:
      out_[PanelId::free_queue] = inner_.bottom(kFreeQueue * s_);
      out_[PanelId::pool] = inner_.rest;
      break;
    case 4:
      out_[PanelId::tables] = inner_.rest;
      break;
    case 5:
      side(inner_);
      break;
    case 6:
      out_[PanelId::requests] = inner_.rest;
      break;
    default:
      out_[PanelId::timeline] = inner_.rest;
      break;
  }
}

void Plan::explore() {
  const bool wide = w_ >= 1360.0F && h_ >= 740.0F;
  const bool compact = !wide && w_ >= 880.0F && h_ >= 500.0F;
  const bool tiny = h_ < 420.0F;
  set_pages(wide ? 1 : compact ? 2 : tiny ? 8 : 5);
  frame(wide ? std::clamp(h_ * 0.18F, 150.0F, 260.0F) : compact ? 118.0F : tiny ? 0.0F : 92.0F, true);
  banner(inner_);
  lesson(inner_);
  if (input_.maximised != PanelId::count_) return maximise(inner_);
  if (wide) return explore_wide();
  if (compact) return explore_compact();
  return tiny ? explore_tiny() : explore_small();
}

void Plan::present() {
  const bool beside = w_ >= 800.0F && h_ >= 440.0F;
  set_pages(beside ? 3 : 4);
  frame(h_ >= 440.0F ? 96.0F : 0.0F, false);
  caption(inner_);
  banner(inner_);
  if (input_.maximised != PanelId::count_) return maximise(inner_);
  if (beside) {
    Cutter right{divide(inner_, Split::right, std::clamp(w_ * 0.354F, 290.0F, 620.0F) * s_, 260.0F, 420.0F,
                        true, true, inner_.rest.w),
                 out_.gap};
    if (out_.page == 0) {
      if (right.rest.h >= 300.0F * s_) out_[PanelId::free_queue] = right.bottom(kFreeQueue * s_);
      out_[PanelId::pool] = right.rest;
    } else if (out_.page == 1) {
      out_[PanelId::tables] = right.rest;
    } else {
      side(right);
    }
  }
  if (!beside && out_.page == 1) {
    out_[PanelId::free_queue] = inner_.bottom(kFreeQueue * s_);
    out_[PanelId::pool] = inner_.rest;
    return;
  }
  if (!beside && out_.page == 2) {
    out_[PanelId::tables] = inner_.rest;
    return;
  }
  if (!beside && out_.page == 3) return side(inner_);
  const bool strip_fits = input_.stage == StageView::weights && inner_.rest.h >= 330.0F * s_;
  if (strip_fits) strip(inner_);
  stage(inner_, inner_.rest.w >= 560.0F * s_);
}

void Plan::alone() {
  set_pages(1);
  Cutter all{{0.0F, 0.0F, std::floor(input_.width), std::floor(input_.height)}, 0.0F};
  if (input_.mode == ScreenMode::present) caption(all);
  out_[input_.maximised] = all.rest;
}

}  // namespace

PanelId side_panel(SideView side) {
  switch (side) {
    case SideView::code:
      return PanelId::code;
    case SideView::costs:
      return PanelId::costs;
    case SideView::changes:
      return PanelId::changes;
    case SideView::stages:
      break;
  }
  return PanelId::stages;
}

bool is_side_panel(PanelId id) {
  return id == PanelId::code || id == PanelId::stages || id == PanelId::costs || id == PanelId::changes;
}

float& share_of(Splits& splits, Split split) {
  switch (split) {
    case Split::right:
      return splits.right;
    case Split::bottom:
      return splits.bottom;
    case Split::stage:
      return splits.stage;
    case Split::side:
      return splits.side;
    case Split::left:
    case Split::count_:
      break;
  }
  return splits.left;
}

ScreenLayout layout_screen(const LayoutInput& input) {
  ScreenLayout out;
  Plan plan(input, out);
  if (input.alone && input.maximised != PanelId::count_) {
    plan.alone();
  } else if (input.mode == ScreenMode::present) {
    plan.present();
  } else {
    plan.explore();
  }
  return out;
}

}  // namespace attn::viz
