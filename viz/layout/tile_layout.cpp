#include "viz/layout/tile_layout.h"

#include <algorithm>
#include <cmath>

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

/// Cuts pieces off the top and the bottom.
struct Pile {
  Rect rest;
  float gap;

  Rect top(float h) {
    const Rect piece{rest.x, rest.y, rest.w, h};
    rest.y += h + gap;
    rest.h -= h + gap;
    return piece;
  }
  Rect bottom(float h) {
    const Rect piece{rest.x, rest.bottom() - h, rest.w, h};
    rest.h -= h + gap;
    return piece;
  }
};

TileLayout arrange(const Rect& body, float scale, bool splits, int tiles, const Lengths& lengths) {
  TileLayout out;
  const auto px = [scale](float length) { return std::round(length * scale); };
  const float gap = px(lengths.gap);
  Pile pile{body, gap};
  const float strip_h = px(lengths.strip + (splits ? lengths.brackets : 0.0F));
  if (pile.rest.h < strip_h) return out;
  if (pile.rest.h >= strip_h + px(lengths.controls + lengths.footer) + 2.0F * gap)
    out.controls = pile.top(px(lengths.controls));
  out.strip = pile.top(strip_h);
  if (pile.rest.h >= px(lengths.footer)) out.footer = pile.bottom(px(lengths.footer));
  const float table_min = px(kTileRow * (1.2F + static_cast<float>(std::clamp(tiles, 1, 3))));
  if (splits && pile.rest.h >= px(lengths.merge) + gap + table_min)
    out.merge = pile.bottom(px(lengths.merge));
  if (pile.rest.h >= px(kMinPlot) + gap + table_min) {
    // The table takes what its rows need, up to half; the picture gets the rest.
    const float wanted = px(kTileRow * (static_cast<float>(tiles) + 1.3F));
    const float table_h = std::clamp(wanted, table_min, std::max(table_min, std::floor(pile.rest.h * 0.5F)));
    Rect picture = pile.top(std::min(pile.rest.h - gap - table_h, px(340.0F)));
    if (picture.w >= px(460.0F)) {
      const float gauge_w = std::clamp(std::floor(picture.w * 0.42F), px(230.0F), px(460.0F));
      out.gauges = {picture.right() - gauge_w, picture.y, gauge_w, picture.h};
      picture.w -= gauge_w + px(16.0F);
    }
    out.plot = picture;
  }
  if (pile.rest.h >= px(2.0F * kTileRow)) out.table = pile.rest;
  return out;
}

}  // namespace

TileLayout layout_tiles(const Rect& body, float scale, bool splits, int tiles) {
  const TileLayout comfortable = arrange(body, scale, splits, tiles, kComfortable);
  if (comfortable.plot.w > 0.0F) return comfortable;
  const TileLayout tight = arrange(body, scale, splits, tiles, kTight);
  return tight.plot.w > 0.0F ? tight : comfortable;
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
