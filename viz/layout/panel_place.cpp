#include "viz/layout/panel_place.h"

namespace attn::viz {
namespace {

/// w = 0: no page has it.
Rect place_on_a_page(LayoutInput input, PanelId id) {
  int pages = 1;
  for (input.page = 0; input.page < pages; ++input.page) {
    const ScreenLayout layout = layout_screen(input);
    if (layout.shows(id)) return layout[id];
    pages = layout.pages;
  }
  return {};
}

}  // namespace

StageView stage_that_shows(PanelId id, StageView otherwise) {
  switch (id) {
    case PanelId::mask:
    case PanelId::weights:
    case PanelId::strip:  // mode present has it beside no other view
      return StageView::weights;
    case PanelId::tiles:
      return StageView::tiles;
    case PanelId::heads:
      return StageView::heads;
    case PanelId::compare:
      return StageView::compare;
    case PanelId::roofline:
      return StageView::roofline;
    default:
      return otherwise;
  }
}

SideView side_that_shows(PanelId id, SideView otherwise) {
  for (int i = 0; i < kNumSideViews; ++i) {
    const auto side = static_cast<SideView>(i);
    if (side_panel(side) == id) return side;
  }
  return otherwise;
}

int page_with(LayoutInput input, PanelId id) {
  const int from = input.page;
  for (int pages = layout_screen(input).pages; input.page < from + pages; ++input.page) {
    if (const ScreenLayout layout = layout_screen(input); layout.shows(id)) return layout.page;
  }
  return from;
}

Rect panel_place(LayoutInput input, PanelId id) {
  input.stage = stage_that_shows(id, input.stage);
  input.side = side_that_shows(id, input.side);
  input.maximised = PanelId::count_;
  input.alone = false;
  const Rect place = place_on_a_page(input, id);
  if (place.w > 0.0F) return place;
  input.mode = input.mode == ScreenMode::present ? ScreenMode::explore : ScreenMode::present;
  return place_on_a_page(input, id);
}

}  // namespace attn::viz
