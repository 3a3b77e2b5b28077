#include "viz/panels/stage_tabs.h"

#include <array>

#include "viz/widgets/tabs.h"

namespace attn::viz {
namespace {

// In the order of StageView.
constexpr std::array<Tab, kNumStageViews> kStageTabs = {{
    {"weights", "Mask and weights", "Weights",
     "who may look at whom, and how much of the output each key is"},
    {"tiles", "Tile by tile", "Tiles", "online softmax: m, l, alpha and o after each tile of keys"},
    {"heads", "Heads", "Heads", "which query heads share which K/V head"},
    {"compare", "Compare", "A|B", "two ways to compute the same attention on the same inputs"},
    {"roofline", "Roofline", "Roof", "each level of this attention under the ceilings of this machine"},
}};

}  // namespace

void draw_stage_tabs(Ui& ui, const Rect& rect) {
  ui.view.stage = static_cast<StageView>(
      draw_tabs(ui, "stage", rect, kStageTabs, static_cast<int>(ui.view.stage), "V: next view"));
}

}  // namespace attn::viz
