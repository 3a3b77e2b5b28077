// The sub-lane of the timeline: what happens inside the current step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/names.h"
#include "core/trace/number_text.h"
#include "viz/lookup.h"
#include "viz/panels/timeline_lanes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

using trace::Stage;

struct Part {
  Stage stage = Stage::schedule;
  int layer = -1;      // -1: not in a layer
  bool whole = false;  // a layer that is not looked at, as one part
  float weight = 1.0F;
};

bool in_layers(Stage stage) { return stage >= Stage::qkv_rope && stage <= Stage::out_mlp; }

/// The stages that the step ran; a layer that is not looked at is one part.
std::vector<Part> parts_of(const Ui& ui) {
  std::vector<Part> parts;
  const float rest = std::min(1.0F, 5.0F / static_cast<float>(std::max(1, num_layers(ui.frame) - 1)));
  for (const trace::StagePlace& place : trace::stage_places(*ui.frame.step, *ui.frame.manifest)) {
    if (place.layer < 0 || place.layer == ui.selection.layer) {
      const float weight = place.layer < 0 ? 1.0F : place.stage == Stage::attention ? 3.0F : 1.3F;
      parts.push_back({place.stage, place.layer, false, weight});
    } else if (parts.empty() || parts.back().layer != place.layer) {
      parts.push_back({Stage::qkv_rope, place.layer, true, rest});
    }
  }
  return parts;
}

/// -1 behind the cursor, 0 at it, +1 still to come.
int order(const Ui& ui, const Part& part) {
  const Stage now = ui.selection.stage;
  if (in_layers(part.stage) && in_layers(now) && part.layer != ui.selection.layer)
    return part.layer < ui.selection.layer ? -1 : 1;
  if (part.stage == now && !part.whole) return 0;
  return part.stage < now ? -1 : 1;
}

/// The key tiles of the selected row at the lower edge; a tile that rescaled what came before it is marked.
void draw_tiles_of(Ui& ui, const Rect& box) {
  const trace::AttentionView* view = ui.frame.attention.get();
  if (view == nullptr || view->num_tiles <= 1 || view->layer != ui.selection.layer) return;
  const float w = box.w / static_cast<float>(view->num_tiles);
  if (w < 2.0F) return;
  const BatchRows rows = batch_rows(ui.frame, focus_seq(ui.frame, ui.selection));
  const int row = rows.q0 + (ui.selection.q_row >= 0 && ui.selection.q_row < rows.q_len ? ui.selection.q_row
                                                                                        : rows.q_len - 1);
  const std::size_t size = static_cast<std::size_t>(view->num_heads) * view->num_q * view->num_tiles;
  const bool state = rows.batch >= 0 && view->has_row(row) && ui.selection.head >= 0 &&
                     ui.selection.head < view->num_heads && view->tile_alpha.size() >= size;
  const float h = ui.px(6);
  name_tag(ui, {box.x, box.bottom() - h, box.w, h}, "alpha");
  for (int tile = 0; tile < view->num_tiles; ++tile) {
    const float x0 = std::round(box.x + w * static_cast<float>(tile));
    const float x1 = std::round(box.x + w * static_cast<float>(tile + 1));
    const Rect cell{x0, box.bottom() - h, std::max(1.0F, x1 - x0 - 1.0F), h};
    const float alpha = state ? view->tile_alpha[view->tile_at(ui.selection.head, row, tile)] : NAN;
    const bool visited = state && !std::isnan(alpha);
    const bool rescaled = visited && tile > 0 && alpha < 1.0F;
    const bool current = ui.selection.tile == tile;
    if (current || visited)
      fill(ui, cell, ui[current ? Color::selection : rescaled ? Color::warning : Color::stroke]);
    else
      outline(ui, cell, ui[Color::border]);
    if (rescaled && cell.w >= ui.px(9) && box.h >= ui.px(24))
      text_at(ui, FontRole::mono_small, cell.x, box.y, ui[Color::warning], "\xE2\x86\xBB");
    const Hit hit = touch(ui, cell);
    ui.marks.add(fmt::format("timeline/tile/{}", tile), visible_part(ui, cell), fmt::format("tile {}", tile),
                 view->kernel);
    if (hit.hovered)
      tooltip(
          ui,
          fmt::format("tile {}: {}", tile,
                      !state     ? std::string("its state was not kept")
                      : !visited ? std::string("the row sees nothing here")
                                 : fmt::format("alpha {:.6f}{}", num(alpha), rescaled ? ", rescales" : "")),
          fmt::format("tile_alpha[{}, {}, {}] F32, {}", ui.selection.head, row, tile, view->kernel));
    if (hit.clicked) {
      select(ui, [&](Selection& s) {
        s.stage = Stage::attention;
        s.tile = tile;
      });
    }
  }
}

void draw_part(Ui& ui, const Rect& box, const Part& part) {
  const int when = order(ui, part);
  const std::string name =
      part.whole ? fmt::format("L{}", part.layer) : std::string(trace::name_of(part.stage));
  if (when == 0)
    fill(ui, box, ui[Color::accent]);
  else if (when < 0)
    fill(ui, box, ui[Color::raised]);
  else
    outline(ui, box, ui[Color::border]);
  const bool tiles_here = part.stage == Stage::attention && !part.whole;
  const Rect upper{box.x, box.y, box.w, tiles_here ? box.h - ui.px(6) : box.h};
  const Rgb ink = when == 0 ? ui[Color::on_accent] : ui[when < 0 ? Color::text : Color::muted];
  const bool room =
      text_width(ui, FontRole::small, name) + ui.px(4) <= box.w || (!part.whole && box.w >= ui.px(44));
  if (room)
    text_in(ui, FontRole::small, {upper.x + ui.px(2), upper.y, upper.w - ui.px(4), upper.h}, ink, name,
            Align::center);
  const std::string mark_name = part.whole ? fmt::format("timeline/layer/{}", part.layer)
                                           : fmt::format("timeline/stage/{}", trace::name_of(part.stage));
  const Hit hit = mark(ui, mark_name, upper,
                       part.whole        ? fmt::format("layer {}: click to open it", part.layer)
                       : part.layer >= 0 ? fmt::format("stage {} of layer {}", name, part.layer)
                                         : fmt::format("stage {}", name),
                       fmt::format("shapes and launches of step {}", ui.frame.step->step));
  if (hit.clicked) {
    select(ui, [&](Selection& s) {
      if (part.layer >= 0) s.layer = part.layer;
      if (!part.whole) s.stage = part.stage;
    });
  }
  if (tiles_here) draw_tiles_of(ui, box);
}

}  // namespace

void draw_stage_lane(Ui& ui, const TimelineLanes& lanes) {
  if (!ui.frame.step || !ui.frame.manifest || lanes.stages.h <= 0.0F) return;
  const float open = ui.px(6);
  const Rect lane{lanes.stages.x, lanes.stages.y + open, lanes.stages.w, lanes.stages.h - open};
  lane_label(ui, lanes, lane, "stages", ui[Color::muted]);
  const int now = ui.frame.index;
  if (now >= lanes.layout.first && now < lanes.layout.end) {
    // From the step's column to the whole width: the lane is what is inside it.
    ui.draw->AddQuadFilled({lanes.layout.left(now), lanes.stages.y},
                           {lanes.layout.right(now), lanes.stages.y}, {lane.right(), lane.y - 1.0F},
                           {lane.x, lane.y - 1.0F}, rgba(ui[Color::accent], 0.25F));
  }
  const std::vector<Part> parts = parts_of(ui);
  float total = 0.0F;
  for (const Part& part : parts) total += part.weight;
  float at = 0.0F;
  for (const Part& part : parts) {
    const float x0 = std::round(lane.x + lane.w * at / total);
    at += part.weight;
    const float x1 = std::round(lane.x + lane.w * at / total);
    draw_part(ui, {x0, lane.y, std::max(1.0F, x1 - x0 - 2.0F), lane.h}, part);
  }
}

}  // namespace attn::viz
