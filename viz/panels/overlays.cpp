#include "viz/panels/overlays.h"

#include "viz/panels/entry_box.h"
#include "viz/panels/film_dialog.h"
#include "viz/panels/gallery.h"
#include "viz/panels/help.h"
#include "viz/panels/menus.h"
#include "viz/panels/open_dialog.h"
#include "viz/panels/palette_search.h"

namespace attn::viz {

void draw_overlays(Ui& ui, const Rect& screen) {
  switch (ui.view.shell.overlay) {
    case Overlay::none:
      return;
    case Overlay::help:
      return draw_help(ui, screen);
    case Overlay::menu:
      return draw_menu(ui, screen);
    case Overlay::palette:
    case Overlay::find:
      return draw_palette(ui, screen);
    case Overlay::entry:
      return draw_entry_box(ui, screen);
    case Overlay::open:
      return draw_open_dialog(ui, screen);
    case Overlay::lessons:
      return draw_gallery(ui, screen);
    case Overlay::film:
      return draw_film_dialog(ui, screen);
  }
}

}  // namespace attn::viz
