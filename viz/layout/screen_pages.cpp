// What stands where in the two modes, by the room there is; what does not fit at once goes on pages.
#include <algorithm>
#include <span>

#include "viz/layout/screen_plan.h"

namespace attn::viz {
namespace {

constexpr float kLowTimeline = 92.0F;
constexpr float kLeastTimeline = 150.0F;  // with the stages of the current step and the pool
constexpr float kWholeTimeline = 172.0F;  // ... and with what its signs mean
constexpr float kWholeFrom = 700.0F;
constexpr float kBatchPage = 430.0F;  // lower: packed batch and mask have a page each
constexpr float kMemory = 240.0F;     // pool with cards that can be read, and free queue; tables besides

}  // namespace

void Plan::page(Page what) {
  Cutter area = inner_;
  switch (what) {
    case Page::stage:
      return stage(area, false);
    case Page::stage_and_mask:
      return stage(area, true);
    case Page::batch:
      numbers(area);
      [[fallthrough]];
    case Page::strip_and_mask:
      strip(area);
      [[fallthrough]];
    case Page::mask:
      out_[PanelId::mask] = area.rest;
      return;
    case Page::strip:
      numbers(area);
      out_[PanelId::strip] = area.rest;
      return;
    case Page::memory:
      out_[PanelId::tables] = area.right(area.rest.w * 0.42F);
      return pool(area);
    case Page::pool:
      return pool(area);
    case Page::tables:
      out_[PanelId::tables] = area.rest;
      return;
    case Page::side:
      return side(area);
    case Page::requests_and_side:
      out_[PanelId::requests] = area.left(280.0F * s_);
      return side(area);
    case Page::requests:
      out_[PanelId::requests] = area.rest;
      return;
    case Page::timeline:
      out_[PanelId::timeline] = area.rest;
      return;
  }
}

void Plan::explore_wide() {
  Cutter window = inner_;
  const float whole = inner_.rest.w;
  out_[PanelId::requests] = divide(window, Split::left, std::clamp(w_ * 0.185F, 272.0F, 460.0F) * s_, 220.0F,
                                   900.0F, true, false, whole);
  Cutter right{divide(window, Split::right, std::clamp(w_ * 0.29F, 400.0F, 820.0F) * s_, 300.0F, 520.0F, true,
                      true, whole),
               out_.gap};
  // A banner or a lesson costs the list below its height before it costs the pool its cards.
  const float column = right.rest.h / s_;
  const float side_h =
      std::min(column * 0.465F, std::max(column - kMemory - tables_height(), column * 0.32F));
  side({divide(right, Split::side, side_h * s_, 140.0F, 330.0F, false, true, right.rest.h), out_.gap});
  memory(right);
  strip(window);
  stage(window, true);
}

/// Two pages: stage and memory; batch, mask and the lower right.
void Plan::explore_compact() {
  const float whole = inner_.rest.w;
  out_[PanelId::requests] = divide(inner_, Split::left, 228.0F * s_, 200.0F, 620.0F, true, false, whole);
  Cutter right{divide(inner_, Split::right, std::clamp(w_ * 0.27F, 270.0F, 400.0F) * s_, 240.0F, 360.0F, true,
                      true, whole),
               out_.gap};
  if (out_.page == 0) {
    if (input_.stage == StageView::weights && h_ >= 700.0F) strip(inner_);
    stage(inner_, false);
    memory(right);
    return;
  }
  // The numbers stand where the stage has no room for them.
  ScreenLayout first;
  LayoutInput of_first = input_;
  of_first.page = 0;
  Plan(of_first, first).explore();
  if (!first.shows(PanelId::numbers)) numbers(inner_);
  page(Page::strip_and_mask);
  side(right);
}

/// Which pages a window needs that has no room for two columns beside the stage.
std::span<const Plan::Page> Plan::explore_pages() const {
  static constexpr Page kBroad[] = {Page::stage_and_mask, Page::strip, Page::memory, Page::requests_and_side,
                                    Page::timeline};
  static constexpr Page kNarrow[] = {Page::stage, Page::strip,    Page::mask,    Page::memory,
                                     Page::side,  Page::requests, Page::timeline};
  static constexpr Page kLow[] = {Page::stage,  Page::strip, Page::mask,     Page::pool,
                                  Page::tables, Page::side,  Page::requests, Page::timeline};
  if (low()) return kLow;
  return w_ >= 900.0F ? std::span<const Page>(kBroad) : std::span<const Page>(kNarrow);
}

void Plan::explore() {
  const bool wide = w_ >= 1360.0F && h_ >= 740.0F;
  const bool compact = !wide && w_ >= 1000.0F && h_ >= 600.0F;
  const auto pages = explore_pages();
  set_pages(wide ? 1 : compact ? 2 : static_cast<int>(pages.size()));
  const Page shown = pages[static_cast<std::size_t>(out_.page) % pages.size()];
  const bool one = input_.maximised != PanelId::count_;
  const bool timeline_alone =
      one ? input_.maximised == PanelId::timeline : !wide && !compact && shown == Page::timeline;
  const bool below = !timeline_alone && (wide || compact || !low());
  frame(!below    ? 0.0F
        : wide    ? std::clamp(h_ * 0.19F, kLeastTimeline, 260.0F)
        : compact ? h_ >= kWholeFrom ? kWholeTimeline : kLeastTimeline
                  : kLowTimeline,
        true);
  lesson(inner_);  // above the banner, which comes and goes: what one turns in the lesson stays in place
  banner(inner_);
  if (one) return maximise(inner_);
  if (wide) return explore_wide();
  if (compact) return explore_compact();
  page(shown);
}

/// The stage and one panel beside it, which pages; packed batch and mask, which are wide, have a page, and
/// all the numbers, which the stage may be too narrow for.
void Plan::present_beside() {
  const Cutter whole = inner_;
  Cutter right{divide(inner_, Split::right, std::clamp(w_ * 0.354F, 290.0F, 620.0F) * s_, 260.0F, 420.0F,
                      true, true, inner_.rest.w),
               out_.gap};
  const bool weights = input_.stage == StageView::weights;
  const bool together = inner_.rest.h >= kBatchPage * s_;
  set_pages(!weights ? 3 : together ? 4 : 5);
  const bool one = input_.maximised != PanelId::count_;
  if (one || out_.page >= 3) {
    out_.splitters[static_cast<std::size_t>(Split::right)] = {};
    inner_ = whole;
    if (one) return maximise(inner_);
    return page(together ? Page::batch : out_.page == 3 ? Page::mask : Page::strip);
  }
  if (out_.page == 0) {
    pool(right);
  } else if (out_.page == 1) {
    out_[PanelId::tables] = right.rest;
  } else {
    side(right);
  }
  stage(inner_, false);
}

/// Strip and mask belong to the weights.
std::span<const Plan::Page> Plan::present_pages() const {
  static constexpr Page kOthers[] = {Page::stage, Page::pool, Page::tables, Page::side, Page::timeline};
  static constexpr Page kWeights[] = {Page::stage, Page::pool,  Page::tables,  Page::side,
                                      Page::mask,  Page::strip, Page::timeline};
  return input_.stage == StageView::weights ? std::span<const Page>(kWeights)
                                            : std::span<const Page>(kOthers);
}

void Plan::present() {
  const bool beside = w_ >= 800.0F && h_ >= 440.0F;
  const auto pages = present_pages();
  set_pages(static_cast<int>(pages.size()));
  const Page shown = beside ? Page::stage : pages[static_cast<std::size_t>(out_.page)];
  const bool one = input_.maximised != PanelId::count_;
  const bool timeline_alone = one ? input_.maximised == PanelId::timeline : shown == Page::timeline;
  // Three sequences with letters for the back row, their legend below; in low windows the stage comes first.
  const float timeline_h = std::clamp(96.0F + (h_ - 480.0F) * 0.45F, 96.0F, 150.0F);
  frame(!timeline_alone && h_ >= 440.0F ? timeline_h : 0.0F, false);
  caption(inner_);
  banner(inner_);
  if (beside) return present_beside();
  if (one) return maximise(inner_);
  page(shown);
}

}  // namespace attn::viz
