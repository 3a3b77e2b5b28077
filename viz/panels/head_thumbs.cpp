#include "viz/panels/head_thumbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/layout/grid_layout.h"
#include "viz/palette.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kThumbCells = 16;                   // per side
constexpr std::int64_t kMostWeights = 4'000'000;  // read once per step and layer; beyond that no miniatures

const std::vector<HeatMap>& maps_of(Ui& ui, const BatchRows& rows, int cols) {
  std::vector<HeatMap>& maps = ui.view.attention.head_maps;
  const int heads = ui.frame.attention->num_heads;
  const bool fresh = static_cast<int>(maps.size()) == heads &&
                     maps.front().matches(ui.frame.attention, 0, rows.q0, rows.q_len, cols);
  if (fresh) return maps;
  maps.clear();
  for (int h = 0; h < heads; ++h)
    maps.push_back(make_heat_map(ui.frame.attention, h, rows.q0, rows.q_len, cols, kThumbCells));
  return maps;
}

void draw_cells(const Ui& ui, const GridLayout& grid, const HeatMap& map) {
  for (int r = 0; r < map.cell_rows; ++r) {
    for (int c = 0; c < map.cell_cols; ++c) {
      const float weight = map.cell(r, c);
      if (!std::isnan(weight))
        fill(ui, grid.cell(r, c),
             cividis(weight_position(weight, (ui.view.weight_scale == WeightScale::log10))));
    }
  }
}

}  // namespace

void draw_head_thumbs(Ui& ui, const Rect& area, const BatchRows& rows) {
  const trace::AttentionView& view = *ui.frame.attention;
  const int cols = std::min(rows.attended, view.max_k);
  const std::int64_t weights = static_cast<std::int64_t>(view.num_heads) * rows.q_len * cols;
  const float title_h = ui.px(20);
  const float label_h = ui.px(15);
  const float gap = ui.px(10);
  if (view.num_heads < 2 || weights > kMostWeights || area.h < title_h + label_h + ui.px(30)) return;
  // The largest cells with which all heads fit, in as few lines as that allows.
  const auto per_line = [&](float s) { return std::max(1, static_cast<int>((area.w + gap) / (s + gap))); };
  const auto lines = [&](float s) { return (view.num_heads + per_line(s) - 1) / per_line(s); };
  const auto grid_of = [&](float s) { return layout_grid({0, 0, s, s}, rows.q_len, cols, s, kThumbCells); };
  float side = ui.px(30);
  for (float s = side; s <= ui.px(150); s += ui.px(2)) {
    const float pitch = grid_of(s).area().h + label_h + gap;
    const bool better = grid_of(s).cell_w > grid_of(side).cell_w || lines(s) < lines(side);
    if (better && static_cast<float>(lines(s)) * pitch <= area.h - title_h) side = s;
  }
  const float pitch_y = grid_of(side).area().h + label_h + gap;
  text_in(ui, FontRole::small, {area.x, area.y, area.w, ui.px(16)}, ui[Color::muted],
          fmt::format("all {} heads of layer {}", view.num_heads, view.layer), Align::left);
  const int columns = per_line(side);
  const std::vector<HeatMap>& maps = maps_of(ui, rows, cols);
  for (int h = 0; h < view.num_heads; ++h) {
    const float x = area.x + static_cast<float>(h % columns) * (side + gap);
    const float y = area.y + title_h + static_cast<float>(h / columns) * pitch_y;
    if (y + pitch_y - gap > area.bottom()) return;
    const GridLayout grid = layout_grid({x, y + label_h, side, side}, rows.q_len, cols, side, kThumbCells);
    const bool current = h == ui.selection.head;
    text_in(ui, FontRole::mono_small, {x, y, side, label_h}, ui[current ? Color::text : Color::muted],
            fmt::format("head {}", h), Align::left);
    draw_cells(ui, grid, maps[static_cast<std::size_t>(h)]);
    outline(ui, grid.area(), ui[current ? Color::selection : Color::border], current ? ui.px(2) : 1.0F);
    const Hit hit = mark(
        ui, fmt::format("weights/head/{}", h),
        {x, y, std::max(ui.px(44), grid.area().w), label_h + grid.area().h},
        fmt::format("head {}: largest weight {:.4f}", h, maps[static_cast<std::size_t>(h)].max),
        fmt::format("weights[{}, {}..{}, :] F32, {}", h, rows.q0, rows.q0 + rows.q_len - 1, view.kernel));
    if (hit.clicked) select(ui, [&](Selection& s) { s.head = h; });
  }
}

}  // namespace attn::viz
