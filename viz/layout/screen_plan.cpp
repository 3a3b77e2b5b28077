#include "viz/layout/screen_plan.h"

#include <algorithm>
#include <cmath>

namespace attn::viz {
namespace {

// Everything below is in pixels at scale 1.
constexpr float kGap = 8.0F;
constexpr float kHeader = 44.0F;
constexpr float kStatus = 26.0F;
constexpr float kTabStrip = 30.0F;
constexpr float kBanner = 30.0F;
constexpr float kNumbers = 48.0F;
constexpr float kNumbersTwoRows = 86.0F;
constexpr float kNumbersFrom = 300.0F;       // a lower stage keeps its height for itself
constexpr float kNumbersOfLesson = 230.0F;   // ... but in a lesson numbers are what it is about
constexpr float kNumbersOfCompare = 400.0F;  // two pictures and what they differ by come first
constexpr float kFreeQueue = 34.0F;          // one line
constexpr float kTablesFrame = 59.0F;        // title and the line of the slot
constexpr float kTableRow = 19.0F;
constexpr int kMostTables = 8;          // more are drawn as lines where they have no room
constexpr float kPoolKeeps = 150.0F;    // of its height: forty squares with their ids
constexpr float kTall = 860.0F;         // from here on every line of a lesson has room
constexpr float kTallPresent = 640.0F;  // the same in mode present
constexpr float kShortLines = 1000.0F;  // narrower, a sentence of mode present takes more lines
constexpr float kCaptionNote = 22.0F;
constexpr float kMostCaption = 0.4F;  // of the height of a panel alone

float length_along(const Rect& rect, bool vertical_bar) { return vertical_bar ? rect.w : rect.h; }

}  // namespace

Plan::Plan(const LayoutInput& input, ScreenLayout& out)
    : input_(input), out_(out), s_(input.scale), w_(input.width / s_), h_(input.height / s_) {
  out_.gap = std::round(kGap * s_);
  inner_.gap = out_.gap;
}

void Plan::set_pages(int pages) {
  out_.pages = pages;
  out_.page = ((input_.page % pages) + pages) % pages;
}

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
  if (input_.caption) out_[PanelId::caption] = column.bottom(caption_height() * s_);
}

/// Below 1,100 px the exercise stands under the caption where the height allows it.
void Plan::lesson(Cutter& column) {
  if (!input_.lesson || h_ < 380.0F) return;
  // Two lines above what is turned; the lowest windows have room for one there.
  const float low = h_ >= 560.0F ? 92.0F : h_ >= 440.0F ? 86.0F : 56.0F;
  // What a question, a guess or a break adds to the sentences is one or two lines more.
  const float wide = h_ >= kTall ? 143.0F : 92.0F;
  const float high = w_ >= 1100.0F ? wide : 140.0F;
  out_[PanelId::lesson] = column.top((h_ >= 740.0F ? high : low) * s_);
}

/// Of mode present: two lines, four where they are short; of a lesson three and what is to be done.
float Plan::caption_height() const {
  const float note = input_.note ? kCaptionNote : 0.0F;
  if (!input_.lesson)
    return note + (h_ < 440.0F ? 46.0F : w_ < kShortLines && h_ >= kTallPresent ? 136.0F : 78.0F);
  if (h_ >= kTallPresent) return note + 158.0F;
  return note + (h_ >= 560.0F ? 134.0F : h_ >= 440.0F ? 106.0F : 94.0F);
}

void Plan::strip(Cutter& column) {
  out_[PanelId::strip] = column.top(std::clamp(h_ * 0.15F, 112.0F, 200.0F) * s_);
}

/// Numbers stand in two rows where one would be too narrow for them; mode present writes them larger.
float Plan::numbers_height(float width) const {
  const float one_row = input_.mode == ScreenMode::present ? 860.0F : 640.0F;
  return (width < one_row * s_ ? kNumbersTwoRows : kNumbers) * s_;
}

/// Whether the stage leaves them room, below its tabs. For the back row they stand with the weights alone.
bool Plan::numbers_fit(const Rect& stage) const {
  if (input_.mode == ScreenMode::present && input_.stage != StageView::weights) return false;
  const float least = input_.stage == StageView::compare ? kNumbersOfCompare
                      : input_.lesson                    ? kNumbersOfLesson
                                                         : kNumbersFrom;
  const float from = least - kNumbers;
  return stage.h >= from * s_ + numbers_height(stage.w);
}

/// In mode present the foot of the card above them.
void Plan::numbers(Cutter& column) { out_[PanelId::numbers] = foot(column, numbers_height(column.rest.w)); }

Rect Plan::foot(Cutter& column, float height) const {
  Cutter cut{column.rest, input_.mode == ScreenMode::present ? 0.0F : column.gap};
  const Rect piece = cut.bottom(height);
  column.rest = cut.rest;
  return piece;
}

void Plan::stage(Cutter column, bool with_mask) {
  out_[PanelId::stage_tabs] = tabs(column);
  if (numbers_fit(column.rest)) numbers(column);
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
        divide(column, Split::stage, column.rest.w * 0.36F, 256.0F, 300.0F, true, false, column.rest.w);
  }
  out_[PanelId::weights] = column.rest;
}

void Plan::side(Cutter column) {
  out_[PanelId::side_tabs] = tabs(column);
  out_[side_panel(input_.side)] = column.rest;
}

void Plan::pool(Cutter column) {
  if (column.rest.h >= 160.0F * s_) out_[PanelId::free_queue] = foot(column, kFreeQueue * s_);
  out_[PanelId::pool] = column.rest;
}

/// What the block tables want of a column, with rows of the lower height.
float Plan::tables_height() const {
  const auto rows = static_cast<float>(std::min(input_.tables, kMostTables));
  return std::max(kTables, kTablesFrame + kTableRow * rows);
}

/// Pool, free queue and block tables above each other. Tables of more sequences take what the pool can spare.
void Plan::memory(Cutter column) {
  const float h = column.rest.h;
  const float rest = h - (kFreeQueue + kPoolKeeps) * s_ - 2.0F * out_.gap;
  const float usual = std::clamp(h * 0.34F, std::min(kTables * s_, h * 0.5F), 340.0F * s_);
  out_[PanelId::tables] = column.bottom(std::max(usual, std::min(tables_height() * s_, rest)));
  out_[PanelId::free_queue] = column.bottom(kFreeQueue * s_);
  out_[PanelId::pool] = column.rest;
}

void Plan::maximise(Cutter column) {
  const PanelId id = input_.maximised;
  if (id == PanelId::header || id == PanelId::status || id == PanelId::caption || id == PanelId::banner ||
      id == PanelId::lesson)
    return;
  if (is_side_panel(id)) out_[PanelId::side_tabs] = tabs(column);
  out_[id] = column.rest;
}

void Plan::alone() {
  set_pages(1);
  Cutter all{{0.0F, 0.0F, std::floor(input_.width), std::floor(input_.height)}, 0.0F};
  const bool room = input_.caption_h <= kMostCaption * input_.height;
  if (input_.mode == ScreenMode::present && input_.caption && room)
    out_[PanelId::caption] = all.bottom(input_.caption_h);
  const float margin = input_.margin;
  out_[input_.maximised] = {all.rest.x + margin, all.rest.y + margin,
                            std::max(0.0F, all.rest.w - 2.0F * margin),
                            std::max(0.0F, all.rest.h - 2.0F * margin)};
}

}  // namespace attn::viz
