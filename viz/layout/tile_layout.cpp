#include "viz/layout/tile_layout.h"

#include <algorithm>
#include <cmath>

namespace attn::viz {
namespace {

constexpr float kGap = 8.0F;
constexpr float kControls = 26.0F;
constexpr float kStrip = 44.0F;
constexpr float kBrackets = 18.0F;
constexpr float kFooter = 26.0F;
constexpr float kRow = 20.0F;
constexpr float kMinPlot = 116.0F;
constexpr float kMerge = 58.0F;

}  // namespace

TileLayout layout_tiles(const Rect& body, float scale, bool splits, int tiles) {
  TileLayout out;
  const auto px = [scale](float length) { return std::round(length * scale); };
  float top = body.y;
  float bottom = body.bottom();
  const auto cut_top = [&](float h) {
    const Rect piece{body.x, top, body.w, h};
    top += h + px(kGap);
    return piece;
  };
  const auto cut_bottom = [&](float h) {
    bottom -= h;
    const Rect piece{body.x, bottom, body.w, h};
    bottom -= px(kGap);
    return piece;
  };
  const float strip_h = px(kStrip + (splits ? kBrackets : 0.0F));
  const auto left = [&] { return bottom - top; };
  if (left() < strip_h) return out;
  if (left() >= strip_h + px(kControls + kFooter + 2.0F * kGap)) out.controls = cut_top(px(kControls));
  out.strip = cut_top(strip_h);
  if (left() >= px(kFooter)) out.footer = cut_bottom(px(kFooter));
  const float table_min = px(kRow * (1.2F + static_cast<float>(std::clamp(tiles, 1, 3))));
  if (splits && left() >= px(kMerge + kGap) + table_min) out.merge = cut_bottom(px(kMerge));
  if (left() >= px(kMinPlot + kGap) + table_min) {
    // The table takes what its rows need, up to half; the picture gets the rest.
    const float wanted = px(kRow * (static_cast<float>(tiles) + 1.3F));
    const float table_h = std::clamp(wanted, table_min, std::max(table_min, std::floor(left() * 0.5F)));
    const float plot_h = std::min(left() - px(kGap) - table_h, px(340.0F));
    Rect picture = cut_top(plot_h);
    if (picture.w >= px(460.0F)) {
      const float gauge_w = std::clamp(std::floor(picture.w * 0.42F), px(230.0F), px(460.0F));
      out.gauges = {picture.right() - gauge_w, picture.y, gauge_w, picture.h};
      picture.w -= gauge_w + px(16.0F);
    }
    out.plot = picture;
  }
  if (left() >= px(2.0F * kRow)) out.table = {body.x, top, body.w, left()};
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
