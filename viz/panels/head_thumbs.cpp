#include "viz/panels/head_thumbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kThumbCells = 16;                   // per side
constexpr std::int64_t kMostWeights = 4'000'000;  // read once per step and layer; beyond that no miniatures

float label_height(const Ui& ui) { return ui.px(15); }

/// One query: bars say more than a row of colours. Their scale is that of the colours, 0 to 1 for every head.
Rect draw_head_bars(const Ui& ui, const HeatMap& map, const WeightsInput& in, const Rect& box) {
  const float step = std::max(1.0F, std::floor(box.w / static_cast<float>(map.cell_cols)));
  const bool log = ui.view.weight_scale == WeightScale::log10;
  for (int c = 0; c < map.cell_cols; ++c) {
    const float weight = map.cell(0, c);
    const Rect column{box.x + step * static_cast<float>(c), box.y, std::max(1.0F, step - 1.0F), box.h};
    if (std::isinf(weight)) fill(ui, column, ui[Color::error]);
    if (!std::isfinite(weight)) continue;
    const float t = std::clamp(weight_position(weight, log), 0.0F, 1.0F);
    const float h = std::max(1.0F, std::round(t * box.h));
    const bool pad = c * map.col_step >= in.rows.k_len;
    const Rect bar{column.x, column.bottom() - h, column.w, h};
    fill(ui, bar, pad ? ui[Color::pad] : hue_of(ui, in.rows.seq));
    if (pad) hatch(ui, bar, ui[Color::panel], ui.px(3));
  }
  const Rect used{box.x, box.y, step * static_cast<float>(map.cell_cols), box.h};
  line(ui, used.x, used.y, used.right(), used.y, ui[Color::border]);
  line(ui, used.x, used.bottom(), used.right(), used.bottom(), ui[Color::stroke]);
  return used;
}

}  // namespace

void draw_head_max(const Ui& ui, const HeatMap& map, const Rect& box) {
  if (map.bad > 0 || !std::isfinite(map.max)) return;
  const std::string number = fmt::format("{:.3f}", num(map.max));
  text_in(ui, FontRole::mono_small, box, ui[Color::muted],
          first_fitting(ui, FontRole::mono_small, box.w - ui.px(6), {"max " + number, number, ""}),
          Align::right);
}

const HeatMap* head_map(Ui& ui, const WeightsInput& in, int head) {
  const std::int64_t weights =
      static_cast<std::int64_t>(in.view->num_heads) * (in.row_to - in.row_from) * in.rows.attended;
  if (weights > kMostWeights || head < 0 || head >= in.view->num_heads) return nullptr;
  std::vector<HeatMap>& maps = ui.view.attention.head_maps;
  WeightsInput first = in;
  first.head = 0;
  const bool fresh = static_cast<int>(maps.size()) == in.view->num_heads &&
                     maps.front().matches(in.view, first.part(), kThumbCells, kThumbCells);
  if (!fresh) {
    maps.clear();
    for (first.head = 0; first.head < in.view->num_heads; ++first.head)
      maps.push_back(make_heat_map(in.view, first.part(), kThumbCells, kThumbCells));
  }
  return &maps[static_cast<std::size_t>(head)];
}

Rect draw_head_map(const Ui& ui, const HeatMap& map, const WeightsInput& in, const Rect& box) {
  if (map.cell_rows == 0) return {box.x, box.y, 0.0F, 0.0F};
  if (map.part.q_len == 1 && map.cell_rows == 1) return draw_head_bars(ui, map, in, box);
  const float w = std::floor(box.w / static_cast<float>(map.cell_cols));
  const float h = std::floor(box.h / static_cast<float>(map.cell_rows));
  GridLayout grid;
  grid.x = box.x;
  grid.y = box.y;
  grid.cells_y = map.cell_rows;
  grid.cells_x = map.cell_cols;
  grid.cell_w = w >= 1.0F ? w : box.w / static_cast<float>(map.cell_cols);
  grid.cell_h = std::min(h >= 1.0F ? h : box.h / static_cast<float>(map.cell_rows), 2.0F * grid.cell_w);
  const bool log = ui.view.weight_scale == WeightScale::log10;
  for (int r = 0; r < map.cell_rows; ++r) {
    for (int c = 0; c < map.cell_cols; ++c) {
      const float weight = map.cell(r, c);
      if (std::isnan(weight)) continue;
      fill(ui, grid.cell(r, c),
           std::isinf(weight) ? ui[Color::error]
                              : palette_color(palette_of(ui), weight_position(weight, log)));
    }
  }
  return grid.area();
}

float head_thumbs_height(const Ui& ui, const WeightsInput& in, const Rect& body) {
  const int heads = in.view->num_heads;
  const float each = body.w / static_cast<float>(std::max(1, heads));
  if (heads < 2 || each < ui.px(26) || body.h < ui.px(250)) return 0.0F;
  return label_height(ui) + std::clamp(body.h * 0.11F, ui.px(26), ui.px(64));
}

void draw_head_thumbs(Ui& ui, const WeightsInput& in, const Rect& area) {
  const int heads = in.view->num_heads;
  const float gap = ui.px(8);
  const float w = std::min((area.w + gap) / static_cast<float>(heads) - gap, ui.px(110));
  for (int h = 0; h < heads; ++h) {
    const HeatMap* map = head_map(ui, in, h);
    if (map == nullptr) return;
    const float x = std::round(area.x + static_cast<float>(h) * (w + gap));
    const bool current = h == in.head;
    const std::string label = w >= ui.px(50) ? fmt::format("head {}", h) : fmt::format("{}", h);
    const Rect line_box{x, area.y, w, label_height(ui)};
    const float label_w = text_in(ui, FontRole::mono_small, line_box,
                                  ui[current ? Color::text : Color::muted], label, Align::left);
    draw_head_max(ui, *map, {x + label_w, area.y, w - label_w, line_box.h});
    const Rect box{x + 1.0F, area.y + label_height(ui) + 1.0F, w - 2.0F, area.h - label_height(ui) - 2.0F};
    const Rect used = draw_head_map(ui, *map, in, box);
    const bool lit = ui.view.hover.head == h;
    outline(ui, {used.x - 1.0F, used.y - 1.0F, used.w + 2.0F, used.h + 2.0F},
            ui[current ? Color::selection
               : lit   ? Color::accent
                       : Color::border],
            current || lit ? ui.px(2) : 1.0F);
    const Hit hit = mark(ui, fmt::format("{}/head/{}", in.prefix, h), {x, area.y, w, area.h},
                         map->bad > 0 ? fmt::format("head {}: {} weights are NaN or infinite", h, map->bad)
                                      : fmt::format("head {}: largest weight {:.4f}", h, num(map->max)),
                         fmt::format("weights[{}, {}..{}, :] F32, {}", h, in.rows.q0 + in.row_from,
                                     in.rows.q0 + in.row_to - 1, in.view->kernel));
    if (hit.hovered) ui.view.next_hover.head = h;
    if (hit.clicked) select(ui, [&](Selection& s) { s.head = h; });
  }
}

}  // namespace attn::viz
