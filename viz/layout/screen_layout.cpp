#include "viz/layout/screen_layout.h"

#include <algorithm>
#include <cmath>

namespace attn::viz {
namespace {

constexpr float kGap = 6.0F;
constexpr float kTabsHeight = 30.0F;
constexpr float kNumbersHeight = 56.0F;
constexpr float kNumbersFrom = 140.0F;  // a lower stage keeps its height for itself

/// Cuts pieces off a rectangle, leaving a gap behind each.
struct Cutter {
  Rect rest;
  float gap;

  Rect top(float h) {
    h = std::min(std::floor(h), rest.h);
    const Rect piece{rest.x, rest.y, rest.w, h};
    const float used = std::min(rest.h, h + gap);
    rest.y += used;
    rest.h -= used;
    return piece;
  }
  Rect bottom(float h) {
    h = std::min(std::floor(h), rest.h);
    const Rect piece{rest.x, rest.bottom() - h, rest.w, h};
    rest.h = std::max(0.0F, rest.h - h - gap);
    return piece;
  }
  Rect left(float w) {
    w = std::min(std::floor(w), rest.w);
    const Rect piece{rest.x, rest.y, w, rest.h};
    const float used = std::min(rest.w, w + gap);
    rest.x += used;
    rest.w -= used;
    return piece;
  }
  Rect right(float w) {
    w = std::min(std::floor(w), rest.w);
    const Rect piece{rest.right() - w, rest.y, w, rest.h};
    rest.w = std::max(0.0F, rest.w - w - gap);
    return piece;
  }
};

PanelId panel_of(SideView side) {
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

/// A bar of tabs joined to what lies below it.
Rect cut_tabs(Cutter& column, float scale) {
  Cutter joined{column.rest, 0.0F};
  const Rect bar = joined.top(kTabsHeight * scale);
  column.rest = joined.rest;
  return bar;
}

void cut_side(ScreenLayout& out, Cutter column, const LayoutInput& input) {
  out[PanelId::side_tabs] = cut_tabs(column, input.scale);
  out[panel_of(input.side)] = column.rest;
}

void cut_stage(ScreenLayout& out, Cutter stage, const LayoutInput& input, bool with_mask) {
  out[PanelId::stage_tabs] = cut_tabs(stage, input.scale);
  if (stage.rest.h >= kNumbersFrom * input.scale)
    out[PanelId::numbers] = stage.bottom(kNumbersHeight * input.scale);
  switch (input.stage) {
    case StageView::tiles:
      out[PanelId::tiles] = stage.rest;
      return;
    case StageView::heads:
      out[PanelId::heads] = stage.rest;
      return;
    case StageView::compare:
      out[PanelId::compare] = stage.rest;
      return;
    case StageView::weights:
      break;
  }
  if (with_mask) out[PanelId::mask] = stage.left(stage.rest.w * 0.36F);
  out[PanelId::weights] = stage.rest;
}

void cut_pool_column(ScreenLayout& out, Cutter column, const LayoutInput& input, bool with_side) {
  const float scale = input.scale;
  if (with_side) cut_side(out, {column.bottom(column.rest.h * 0.36F), column.gap}, input);
  out[PanelId::tables] = column.bottom(std::max(172.0F * scale, column.rest.h * 0.26F));
  out[PanelId::free_queue] = column.bottom(58.0F * scale);
  out[PanelId::pool] = column.rest;
}

/// Windows too small for columns: one or two panels per page.
void cut_small_page(ScreenLayout& out, Cutter inner, const LayoutInput& input) {
  switch (out.page) {
    case 0:
      out[PanelId::strip] = inner.top(inner.rest.h * 0.32F);
      cut_stage(out, inner, input, false);
      break;
    case 1:
      out[PanelId::mask] = inner.rest;
      break;
    case 2:
      out[PanelId::tables] = inner.right(inner.rest.w * 0.42F);
      out[PanelId::free_queue] = inner.bottom(62.0F * input.scale);
      out[PanelId::pool] = inner.rest;
      break;
    case 3:
      cut_side(out, inner, input);
      break;
    default:
      out[PanelId::requests] = inner.rest;
      break;
  }
}

}  // namespace

ScreenLayout layout_screen(const LayoutInput& input) {
  ScreenLayout out;
  const float scale = input.scale;
  const float w = input.width / scale;
  const float h = input.height / scale;
  const bool wide = w >= 1360.0F && h >= 760.0F;
  const bool compact = !wide && w >= 880.0F && h >= 520.0F;
  out.pages = wide ? 1 : compact ? 2 : 5;
  out.page = ((input.page % out.pages) + out.pages) % out.pages;

  const float gap = std::round(kGap * scale);
  out.gap = gap;
  Cutter all{{0.0F, 0.0F, std::floor(input.width), std::floor(input.height)}, 0.0F};
  out[PanelId::header] = all.top(44.0F * scale);
  out[PanelId::status] = all.bottom(26.0F * scale);
  Cutter inner{{gap, all.rest.y + gap, std::max(0.0F, all.rest.w - 2.0F * gap),
                std::max(0.0F, all.rest.h - 2.0F * gap)},
               gap};
  out[PanelId::timeline] = inner.bottom((wide      ? std::clamp(h * 0.19F, 156.0F, 260.0F)
                                         : compact ? 118.0F
                                                   : 92.0F) *
                                        scale);

  if (wide) {
    out[PanelId::requests] = inner.left(std::clamp(w * 0.185F, 272.0F, 460.0F) * scale);
    cut_pool_column(out, {inner.right(std::clamp(w * 0.29F, 400.0F, 820.0F) * scale), gap}, input, true);
    out[PanelId::strip] = inner.top(std::clamp(h * 0.15F, 124.0F, 200.0F) * scale);
    cut_stage(out, inner, input, true);
    return out;
  }
  if (compact) {
    out[PanelId::requests] = inner.left(232.0F * scale);
    Cutter right{inner.right(std::clamp(w * 0.3F, 270.0F, 400.0F) * scale), gap};
    out[PanelId::strip] = inner.top(112.0F * scale);
    if (out.page == 0) {
      cut_stage(out, inner, input, false);
      cut_pool_column(out, right, input, false);
    } else {
      out[PanelId::mask] = inner.rest;
      cut_side(out, right, input);
    }
    return out;
  }
  cut_small_page(out, inner, input);
  return out;
}

}  // namespace attn::viz
