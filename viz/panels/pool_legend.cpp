#include "viz/panels/pool_legend.h"

#include <cmath>
#include <string>
#include <vector>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kLegendLine = 19.0F;  // px at scale 1
constexpr float kLegendIcon = 11.0F;
constexpr float kLegendGap = 12.0F;

Rect shrunk(const Rect& r, float by) { return {r.x + by, r.y + by, r.w - 2.0F * by, r.h - 2.0F * by}; }

void draw_free(const Ui& ui, const Rect& r, bool /*card*/) { dotted(ui, r, ui[Color::unwritten]); }
void draw_cached_free(const Ui& ui, const Rect& r, bool /*card*/) {
  dotted(ui, r, ui[Color::text]);
  fill(ui, shrunk(r, 3.0F), ui[Color::muted]);
}
void draw_in_use(const Ui& ui, const Rect& r, bool card) {
  if (card)
    outline(ui, r, hue_of(ui, 0), ui.px(2));
  else
    fill(ui, r, hue_of(ui, 0));
}
void draw_shared(const Ui& ui, const Rect& r, bool card) {
  if (!card) fill(ui, r, hue_of(ui, 0));
  outline(ui, r, ui[Color::text], 1.0F);
  outline(ui, shrunk(r, 3.0F), ui[card ? Color::text : Color::panel], 1.0F);
}
/// A filled slot and one that nobody wrote.
void draw_partial(const Ui& ui, const Rect& r, bool /*card*/) {
  const float half = std::floor(r.w * 0.5F);
  fill(ui, {r.x, r.y, half, r.h}, tint_of(ui, 0));
  dotted(ui, {r.x + half, r.y, r.w - half, r.h}, ui[Color::unwritten]);
}
void draw_written(const Ui& ui, const Rect& r, bool /*card*/) {
  triangle_down(ui, r.x + 1, r.y + 2, ui.px(8), ui[Color::warning]);
}
void draw_read(const Ui& ui, const Rect& r, bool /*card*/) {
  triangle_up(ui, r.x + 1, r.y + 2, ui.px(8), ui[Color::accent]);
}
void draw_changed(const Ui& ui, const Rect& r, bool card) {
  if (card)
    change_dot(ui, r.x + r.w * 0.5F, r.y + r.h * 0.5F);
  else
    fill(ui, {r.x, r.y, std::round(r.w * 0.45F), std::round(r.h * 0.45F)}, ui[Color::warning]);
}

struct LegendItem {
  const char* words;
  const char* meaning;
  bool on_tiles;  // small squares show it too
  void (*draw)(const Ui& ui, const Rect& icon, bool card);
};
constexpr LegendItem kItems[] = {
    {"free", "in no block table, nothing to be hit", true, draw_free},
    {"cached-free", "held by nobody, but the hash is kept and can be hit", true, draw_cached_free},
    {"in use", "one sequence holds it: its colour", true, draw_in_use},
    {"shared", "several sequences hold it: \xC3\x97 how many", true, draw_shared},
    {"partial", "slots at the end that nobody wrote yet", false, draw_partial},
    {"written", "slots of it were written in this step", false, draw_written},
    {"read", "attention read it in this step", false, draw_read},
    {"changed", "differs from the step before", true, draw_changed}};

float item_width(const Ui& ui, const LegendItem& item) {
  return ui.px(kLegendIcon) + ui.px(4) + text_width(ui, FontRole::small, item.words) + 1.0F;
}

std::vector<const LegendItem*> legend_items(bool card) {
  std::vector<const LegendItem*> items;
  for (const LegendItem& item : kItems)
    if (card || item.on_tiles) items.push_back(&item);
  return items;
}

/// Lines that items of those widths take.
int lines_in(const std::vector<float>& widths, float gap, float width) {
  int lines = 1;
  float x = 0.0F;
  for (const float w : widths) {
    if (x > 0.0F && x + w > width) {
      x = 0.0F;
      ++lines;
    }
    x += w + gap;
  }
  return lines;
}

std::vector<float> item_widths(const Ui& ui, const std::vector<const LegendItem*>& items) {
  std::vector<float> widths;
  for (const LegendItem* item : items) widths.push_back(item_width(ui, *item));
  return widths;
}

}  // namespace

float pool_legend_height(const Ui& ui, float width) {
  const int lines = lines_in(item_widths(ui, legend_items(true)), ui.px(kLegendGap), width);
  return ui.px(kLegendLine) * static_cast<float>(lines);
}

void draw_pool_legend(Ui& ui, const Rect& box, CardDetail detail) {
  const bool card = detail != CardDetail::tile;
  const std::vector<const LegendItem*> items = legend_items(card);
  const std::vector<float> widths = item_widths(ui, items);
  const float gap = ui.px(kLegendGap), line_h = ui.px(kLegendLine), side = ui.px(kLegendIcon);
  // Lines of about one length: the narrowest block that needs no more of them.
  const int lines = lines_in(widths, gap, box.w);
  float wrap = box.w;
  while (wrap > gap && lines_in(widths, gap, wrap - gap) == lines) wrap -= gap;
  Rect place{box.x, box.y, 0.0F, line_h};
  for (std::size_t i = 0; i < items.size(); ++i) {
    place.w = widths[i];
    if (place.x > box.x && place.right() > box.x + wrap) place = {box.x, place.y + line_h, widths[i], line_h};
    const Rect icon{place.x, place.y + std::round((place.h - side) * 0.5F), side, side};
    items[i]->draw(ui, icon, card);
    text_in(ui, FontRole::small, {icon.right() + ui.px(4), place.y, place.w, place.h}, ui[Color::muted],
            items[i]->words, Align::left);
    mark(ui, std::string("pool/legend/") + items[i]->words, place, items[i]->meaning);
    place.x += widths[i] + gap;
  }
}

}  // namespace attn::viz
