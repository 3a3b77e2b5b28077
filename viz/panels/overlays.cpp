#include "viz/panels/overlays.h"

#include "viz/panels/help.h"

namespace attn::viz {

void draw_overlays(Ui& ui, const Rect& screen) {
  if (ui.view.shell.overlay == Overlay::help) draw_help(ui, screen);
}

}  // namespace attn::viz
