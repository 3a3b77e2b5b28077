#include "viz/layout/screen_layout.h"

#include <algorithm>
#include <cmath>

#include "viz/layout/screen_plan.h"

namespace attn::viz {
namespace {

// Smallest windows, at scale 1, in which every panel can say what it has to say.
constexpr float kLeastExplore[] = {640.0F, 400.0F};
constexpr float kLeastPresent[] = {560.0F, 362.0F};
constexpr float kLimitStep = 0.05F;  // letters are baked per size: a window being dragged bakes few
constexpr float kLeastScale = 0.5F;

}  // namespace

float fitting_scale(ScreenMode mode, float width, float height) {
  const auto& least = mode == ScreenMode::present ? kLeastPresent : kLeastExplore;
  const float most = std::min(width / least[0], height / least[1]);
  return std::max(kLeastScale, kLimitStep * std::floor(most / kLimitStep + 1e-3F));
}

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

bool joined_above(const ScreenLayout& layout, PanelId id) {
  if (id != PanelId::free_queue && id != PanelId::numbers) return false;
  const Rect& low = layout[id];
  return low.w > 0.0F && std::ranges::any_of(layout.rects, [&](const Rect& high) {
           return high.w > 0.0F && high.bottom() == low.y && high.x == low.x;
         });
}

}  // namespace attn::viz
