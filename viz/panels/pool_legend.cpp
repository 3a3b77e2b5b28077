#include "viz/panels/pool_legend.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "viz/panels/pool_parts.h"
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
  fill(ui, shrunk(r, std::round(ui.px(3))), ui[Color::muted]);
}
void draw_in_use(const Ui& ui, const Rect& r, bool card) {
  if (card)
    outline(ui, r, hue_of(ui, 0), ui.px(2));
  else
    fill(ui, r, hue_of(ui, 0));
}
void draw_shared(const Ui& ui, const Rect& r, bool card) {
  if (!card) return draw_shared_square(ui, r, hue_of(ui, 0), {});
  outline(ui, r, ui[Color::text], 1.0F);
  outline(ui, shrunk(r, 3.0F), ui[Color::text], 1.0F);
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
  const char* name;
  const char* brief;
  const char* meaning;
  bool on_tiles;  // small squares show it too
  void (*draw)(const Ui& ui, const Rect& icon, bool card);
};
constexpr LegendItem kItems[] = {
    {"free", "free", "in no block table, nothing to be hit", true, draw_free},
    {"cached-free", "cached", "held by nobody, but the hash is kept and can be hit", true, draw_cached_free},
    {"in use", "used", "one sequence holds it: its colour", true, draw_in_use},
    {"shared", "\xC3\x97n", "several sequences hold it: \xC3\x97 how many", true, draw_shared},
    {"partial", "partial", "slots at the end that nobody wrote yet", false, draw_partial},
    {"written", "written", "slots of it were written in this step", false, draw_written},
    {"read", "read", "attention read it in this step", false, draw_read},
    {"changed", "diff", "differs from the step before", true, draw_changed}};

/// How much is said of each item: what has the most words that the place has room for is taken.
struct Wording {
  bool brief, words;
  float gap;  // between items, at scale 1
};
constexpr Wording kWordings[] = {{false, true, kLegendGap},
                                 {false, true, 8.0F},
                                 {true, true, 8.0F},
                                 {true, true, 5.0F},
                                 {true, false, 5.0F}};
constexpr std::size_t kBriefest = std::size(kWordings) - 2;  // that has words

struct WordedItem {
  const LegendItem* item;
  std::string words;
  float w;
};

std::vector<WordedItem> entries_of(const Ui& ui, bool card, bool counts, const Wording& wording) {
  std::vector<WordedItem> entries;
  for (const LegendItem& item : kItems) {
    if (!card && !item.on_tiles) continue;
    std::string words = !wording.words ? "" : wording.brief ? item.brief : item.name;
    if (words == "shared" && counts) words += " \xC3\x97n";
    const float text_w = words.empty() ? 0.0F : ui.px(4) + text_width(ui, FontRole::small, words);
    entries.push_back({&item, std::move(words), ui.px(kLegendIcon) + text_w + 1.0F});
  }
  return entries;
}

/// Lines that the entries take.
int lines_in(const std::vector<WordedItem>& entries, float gap, float width) {
  int lines = 1;
  float x = 0.0F;
  for (const WordedItem& entry : entries) {
    if (x > 0.0F && x + entry.w > width) {
      x = 0.0F;
      ++lines;
    }
    x += entry.w + gap;
  }
  return lines;
}

}  // namespace

float pool_legend_height(const Ui& ui, float width, bool card, bool brief) {
  const Wording& wording = kWordings[brief ? kBriefest : 0];
  const int lines = lines_in(entries_of(ui, card, true, wording), ui.px(wording.gap), width);
  return ui.px(kLegendLine) * static_cast<float>(lines);
}

float pool_legend_line(const Ui& ui) { return ui.px(kLegendLine); }

void draw_pool_legend(Ui& ui, const Rect& box, const PoolLayout& layout) {
  const bool card = layout.detail != CardDetail::tile;
  const bool counts = card || !count_in_square(ui, layout.card(0), 2).empty();
  const float line_h = ui.px(kLegendLine), side = ui.px(kLegendIcon);
  std::vector<WordedItem> entries;
  float gap = 0.0F;
  int lines = 0;
  for (const Wording& wording : kWordings) {
    entries = entries_of(ui, card, counts, wording);
    gap = ui.px(wording.gap);
    lines = lines_in(entries, gap, box.w);
    if (static_cast<float>(lines) * line_h <= box.h + 0.5F) break;
  }
  // Lines of about one length: the narrowest block that needs no more of them.
  float wrap = box.w;
  while (wrap > gap && lines_in(entries, gap, wrap - gap) == lines) wrap -= gap;
  Rect place{box.x, box.y, 0.0F, line_h};
  for (const WordedItem& entry : entries) {
    place.w = entry.w;
    if (place.x > box.x && place.right() > box.x + wrap) place = {box.x, place.y + line_h, entry.w, line_h};
    const Rect icon{place.x, place.y + std::round((place.h - side) * 0.5F), side, side};
    entry.item->draw(ui, icon, card);
    text_in(ui, FontRole::small, {icon.right() + ui.px(4), place.y, place.w, place.h}, ui[Color::muted],
            entry.words, Align::left);
    mark(ui, std::string("pool/legend/") + entry.item->name, place, entry.item->meaning);
    place.x += entry.w + gap;
  }
}

}  // namespace attn::viz
