#include "viz/layout/tile_layout.h"

#include <algorithm>
#include <cmath>

#include "viz/layout/cutter.h"

namespace attn::viz {
namespace {

/// Pixels at scale 1. Where the comfortable lengths leave no room for the picture, the tight ones may.
struct Lengths {
  float gap, controls, strip, brackets, footer, merge;
};
constexpr Lengths kComfortable{8.0F, 26.0F, 44.0F, 18.0F, 26.0F, 58.0F};
constexpr Lengths kTight{6.0F, 24.0F, 36.0F, 18.0F, 24.0F, 20.0F};

constexpr float kTileRow = 20.0F;
constexpr float kMinPlot = 112.0F;
constexpr float kMinGauges = 112.0F;
constexpr float kLowPlot = 80.0F;
constexpr float kLowStrip = 32.0F;
constexpr float kBesideFrom = 460.0F;  // narrower: the gauges stand below the scores
constexpr float kNumberLine = 18.0F;   // of the gauges without their bars
constexpr float kTwoColumnsFrom = 640.0F;

struct Heights {
  float gap, controls, strip, footer, merge, picture, table;
  float all() const {
    return controls + strip + footer + picture + table + (merge > 0.0F ? merge + gap : 0.0F) + 4.0F * gap;
  }
};

Heights heights_of(const TileNeeds& needs, const Lengths& lengths) {
  const auto px = [&](float length) { return std::round(length * needs.scale); };
  Heights out;
  out.gap = px(lengths.gap);
  const auto lines = static_cast<float>(std::max(1, needs.control_lines));
  out.controls = px(lengths.controls) * lines + px(4.0F) * (lines - 1.0F);
  out.strip = px(lengths.strip + (needs.splits ? lengths.brackets : 0.0F));
  out.footer = px(lengths.footer);
  out.merge = needs.splits ? px(lengths.merge) : 0.0F;
  out.picture = px(kMinPlot);
  if (needs.width < px(kBesideFrom)) out.picture += px(kMinGauges) + out.gap;
  out.table = px(kTileRow * (1.3F + static_cast<float>(std::clamp(needs.tiles, 1, 3))));
  return out;
}

/// Scores and gauges, beside each other where there is the width.
void place_picture(TileLayout& out, const Rect& picture, const TileNeeds& needs, float gap) {
  const auto px = [&](float length) { return std::round(length * needs.scale); };
  Cutter area{picture, px(16.0F)};
  if (needs.width >= px(kBesideFrom)) {
    out.gauges = area.right(std::clamp(std::floor(picture.w * 0.42F), px(230.0F), px(460.0F)));
  } else {
    area.gap = gap;
    out.gauges = area.bottom(std::max(px(kMinGauges), std::floor((picture.h - gap) * 0.5F)));
  }
  out.plot = area.rest;
}

/// Of a part that shows no more at once than some of it.
struct LowHeights : Heights {
  float numbers = 0.0F, plot = 0.0F;
  bool strip_first = false;
  float low_all() const { return all() - picture + numbers + plot + gap; }
};

LowHeights low_heights_of(const TileNeeds& needs) {
  const auto px = [&](float length) { return std::round(length * needs.scale); };
  LowHeights out{heights_of(needs, kTight)};
  out.numbers = px(kNumberLine) * (needs.width >= px(kTwoColumnsFrom) ? 2.0F : 4.0F);
  out.strip -= px(kTight.strip) - px(kLowStrip);
  const float first = out.controls + out.numbers + out.footer + 2.0F * out.gap + needs.note;
  out.strip_first = first + out.strip + out.gap <= needs.seen;
  out.plot = std::min(px(kMinPlot), std::max(px(kLowPlot), needs.seen - needs.note));
  return out;
}

TileLayout layout_low(const Rect& body, const LowHeights& h) {
  TileLayout out;
  Cutter pile{body, h.gap};
  out.controls = pile.top(h.controls);
  if (h.strip_first) out.strip = pile.top(h.strip);
  out.gauges = pile.top(h.numbers);
  out.footer = pile.top(h.footer);
  if (!h.strip_first) out.strip = pile.top(h.strip);
  out.table = pile.top(h.table);
  if (h.merge > 0.0F) out.merge = pile.top(h.merge);
  out.plot = pile.rest;
  return out;
}

}  // namespace

float least_tiles_height(const TileNeeds& needs) {
  const float all = heights_of(needs, kTight).all();
  return all <= needs.seen ? all : low_heights_of(needs).low_all();
}

TileLayout layout_tiles(const Rect& body, const TileNeeds& needs) {
  if (heights_of(needs, kTight).all() > needs.seen) return layout_low(body, low_heights_of(needs));
  Heights h = heights_of(needs, kComfortable);
  if (h.all() > body.h) h = heights_of(needs, kTight);
  TileLayout out;
  Cutter pile{body, h.gap};
  out.controls = pile.top(h.controls);
  out.strip = pile.top(h.strip);
  out.footer = pile.bottom(h.footer);
  if (h.merge > 0.0F) out.merge = pile.bottom(h.merge);
  // The table takes what its rows need, up to half; the picture gets the rest.
  const float wanted = std::round(kTileRow * (static_cast<float>(needs.tiles) + 1.3F) * needs.scale);
  const float most_table = std::min(std::floor(pile.rest.h * 0.5F), pile.rest.h - h.gap - h.picture);
  const float table = std::clamp(wanted, h.table, std::max(h.table, most_table));
  const float most = std::max(h.picture, std::round(340.0F * needs.scale));
  place_picture(out, pile.top(std::min(pile.rest.h - h.gap - table, most)), needs, h.gap);
  out.table = pile.rest;
  return out;
}

float TileStrip::key_x(int key) const {
  return area.x + std::round(key_w * static_cast<float>(key - first * k_tile));
}

Rect TileStrip::tile(int index) const {
  const float x0 = key_x(index * k_tile);
  const float x1 = key_x(std::min(num_keys, (index + 1) * k_tile));
  return {x0, area.y, std::max(1.0F, x1 - x0 - std::clamp(std::floor((x1 - x0) * 0.08F), 1.0F, 5.0F)),
          area.h};
}

TileStrip layout_tile_strip(const Rect& area, int num_keys, int k_tile, int cursor, float min_tile_w) {
  TileStrip out;
  out.area = area;
  out.k_tile = std::max(1, k_tile);
  out.num_keys = num_keys;
  out.tiles = (num_keys + out.k_tile - 1) / out.k_tile;
  const int fit = std::max(1, static_cast<int>(area.w / std::max(1.0F, min_tile_w)));
  out.count = std::min(out.tiles, fit);
  if (out.count == 0) return out;
  // Whole pages, so that the strip stands still while the cursor walks through one.
  out.first = std::clamp(cursor / out.count * out.count, 0, out.tiles - out.count);
  const int keys = std::min(num_keys, (out.first + out.count) * out.k_tile) - out.first * out.k_tile;
  out.key_w = std::min(area.w / static_cast<float>(std::max(1, keys)), area.w * 0.12F);
  return out;
}

}  // namespace attn::viz
