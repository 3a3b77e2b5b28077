#include "viz/panels/side_tabs.h"

#include <array>

#include "viz/widgets/tabs.h"

namespace attn::viz {
namespace {

// In the order of SideView.
constexpr std::array<Tab, 4> kSideTabs = {{
    {"code", "Code", "Code", "the kernel source of this stage, with the line just run and the next one"},
    {"stages", "Stages", "Stages", "every shape on the way through the step, and the kernels it launched"},
    {"costs", "Costs", "Costs", "FLOP, bytes and score dots of this step and of the run"},
    {"changes", "Changes", "Diff", "what changed since the last step, bookmarks and break points"},
}};

}  // namespace

void draw_side_tabs(Ui& ui, const Rect& rect) {
  const bool alone = is_side_panel(ui.view.maximised);
  const TabsAction action{alone ? "Z  back" : "Z  alone",
                          alone ? "all panels again" : "this view in the whole window"};
  const int chosen =
      draw_tabs(ui, "side", rect, kSideTabs, static_cast<int>(ui.view.side), "S: next view", &action);
  if (chosen == kTabsAction)
    ui.view.maximised = alone ? PanelId::count_ : side_panel(ui.view.side);
  else
    show_side(ui.view, static_cast<SideView>(chosen));
}

}  // namespace attn::viz
