#include "viz/panels/side_tabs.h"

#include <array>

#include "viz/widgets/tabs.h"

namespace attn::viz {
namespace {

// In the order of SideView.
constexpr std::array<Tab, 4> kTabs = {{
    {"code", "Code", "Code", "the kernel source of this stage, with the line just run and the next one"},
    {"stages", "Stages", "Stages", "every shape on the way through the step, and the kernels it launched"},
    {"costs", "Costs", "Costs", "FLOP, bytes and score dots of this step and of the run"},
    {"changes", "Changes", "Diff", "what changed since the last step, bookmarks and break points"},
}};

}  // namespace

void draw_side_tabs(Ui& ui, const Rect& rect) {
  ui.view.side = static_cast<SideView>(
      draw_tabs(ui, "side", rect, kTabs, static_cast<int>(ui.view.side), "S: next view"));
}

}  // namespace attn::viz
