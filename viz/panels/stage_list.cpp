#include "viz/panels/stage_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/cursor.h"
#include "core/trace/enum_range.h"
#include "core/trace/names.h"
#include "viz/graph_facts.h"
#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool in_view(const Ui& ui, int layer) { return layer < 0 || layer == ui.selection.layer; }

/// Name and shape in columns, then a note; what is wider than its column pushes the next one.
void draw_columns(Ui& ui, const Rect& box, const std::string& name, const std::string& dims,
                  const std::string& note) {
  const float gap = ui.px(8);
  const float name_w = std::min(box.w, std::max(box.w * 0.34F, text_width(ui, FontRole::mono, name) + gap));
  const float shape_w =
      std::clamp(text_width(ui, FontRole::mono, dims) + gap, std::min(box.w * 0.36F, box.w - name_w),
                 std::max(box.w * 0.36F, box.w - name_w));
  text_in(ui, FontRole::mono, {box.x, box.y, name_w - gap, box.h}, ui[Color::text], name, Align::left);
  text_in(ui, FontRole::mono, {box.x + name_w, box.y, shape_w, box.h}, ui[Color::text], dims, Align::left);
  text_in(ui, FontRole::small,
          {box.x + name_w + shape_w + ui.px(4), box.y, box.w - name_w - shape_w - ui.px(4), box.h},
          ui[Color::muted], note, Align::left);
}

void draw_shape(Ui& ui, const Rect& box, const trace::ShapeNote& shape, std::size_t index) {
  draw_columns(ui, box, shape.name, shape_text(shape.shape),
               shape.note.empty() ? shape.dtype : fmt::format("{}  {}", shape.dtype, shape.note));
  name_tag(ui, {box.x - ui.px(3), box.y, box.w + ui.px(6), box.h}, shape.name);
  mark(ui, fmt::format("stages/shape/{}", index), box,
       fmt::format("{} {} {}{}{}", shape.name, shape_text(shape.shape), shape.dtype,
                   shape.note.empty() ? "" : ", ", shape.note),
       fmt::format("shapes[{}], layer {}", index, shape.layer));
}

void draw_launch(Ui& ui, const Rect& box, const trace::LaunchEntry& entry, std::size_t index) {
  const LaunchRecord& launch = entry.launch;
  const std::string time = std::isnan(launch.ms) ? "not measured" : fmt::format("{:.3f} ms", launch.ms);
  const std::string bytes = bytes_text(launch.bytes), right = fmt::format("{}  {}", bytes, time);
  const std::string_view shown = first_fitting(ui, FontRole::mono_small, box.w * 0.6F, {right, bytes, ""});
  const float right_w = text_width(ui, FontRole::mono_small, shown) + ui.px(4);
  const std::string left =
      fmt::format("{}  {}\xC3\x97{}\xC3\x97{} of {}", launch.kernel, launch.grid.x, launch.grid.y,
                  launch.grid.z, launch.block.x * launch.block.y * launch.block.z);
  const Rect left_box{box.x, box.y, box.w - right_w - ui.px(4), box.h};
  text_in(ui, FontRole::mono_small, left_box, ui[Color::accent],
          first_fitting(ui, FontRole::mono_small, left_box.w, {left, launch.kernel}), Align::left);
  text_in(ui, FontRole::mono_small, {box.right() - right_w, box.y, right_w, box.h}, ui[Color::muted], shown,
          Align::right);
  mark(ui, fmt::format("stages/launch/{}", index), box,
       fmt::format("{}\ngrid {} {} {}, block {} {} {}, shared {} B\nmoves {}, {} FLOP, time {}",
                   launch.kernel, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                   launch.block.z, launch.shared_bytes, bytes, launch.flop, time),
       fmt::format("launches[{}], layer {}", index, entry.layer));
}

void draw_graph_line(Ui& ui, const Rect& box, const GraphLine& line, std::size_t index) {
  draw_columns(ui, box, line.name, line.shape, line.values);
  mark(ui, fmt::format("stages/graph/{}", index), box,
       fmt::format("{} {}: {}\n{}", line.name, line.shape, line.values, line.tip), "StepRecord.graph");
}

/// Whether the step has the stage in the selected layer, or outside of layers, though it may leave no tensor.
bool stage_runs(const Ui& ui, trace::Stage stage) {
  if (ui.frame.manifest == nullptr) return false;
  const std::vector<trace::StagePlace> places = trace::stage_places(*ui.frame.step, *ui.frame.manifest);
  return std::any_of(places.begin(), places.end(), [&](const trace::StagePlace& place) {
    return place.stage == stage && in_view(ui, place.layer);
  });
}

/// Heading of a stage that occurs; returns the y below it. Clicking selects the stage.
float draw_heading(Ui& ui, const Rect& box, trace::Stage stage, const std::string& beside) {
  const bool current = stage == ui.selection.stage;
  const std::string name(trace::name_of(stage));
  const Hit hit = touch(ui, box);
  if (current)
    fill(ui, box, ui[Color::accent], 1.0F, ui.px(3));
  else if (hit.hovered)
    fill(ui, box, ui[Color::raised], 1.0F, ui.px(3));
  const Rgb ink = current ? ui[Color::on_accent] : ui[Color::text];
  const float used = text_in(ui, FontRole::strong, {box.x + ui.px(6), box.y, box.w - ui.px(12), box.h}, ink,
                             (current ? "\xE2\x96\xB6 " : "") + name, Align::left);
  const Rect rest{box.x + ui.px(16) + used, box.y, box.w - ui.px(22) - used, box.h};
  if (text_width(ui, FontRole::small, beside) <= rest.w)
    text_in(ui, FontRole::small, rest, current ? ink : ui[Color::muted], beside, Align::right);
  mark(ui, "stages/stage/" + name, box, "stage " + name, "click to make it current");
  if (hit.clicked) select(ui, [&](Selection& s) { s.stage = stage; });
  return box.bottom() + ui.px(2);
}

float draw_stage(Ui& ui, const Rect& list, float y, trace::Stage stage) {
  const trace::StepRecord& step = *ui.frame.step;
  const float row = ui.px(18);
  const float right = list.right() - ui.px(12);
  const auto shape_here = [&](const trace::ShapeNote& s) { return s.stage == stage && in_view(ui, s.layer); };
  const auto launch_here = [&](const trace::LaunchEntry& l) {
    return l.stage == stage && in_view(ui, l.layer);
  };
  const bool noted = (stage == trace::Stage::prepare && step.graph) ||
                     std::any_of(step.shapes.begin(), step.shapes.end(), shape_here) ||
                     std::any_of(step.launches.begin(), step.launches.end(), launch_here);
  if (!noted && !stage_runs(ui, stage)) return y;
  if (stage == ui.selection.stage && ui.view.listed_stage != static_cast<int>(stage)) {  // once per change
    ImGui::SetScrollY(y - std::floor(ImGui::GetCursorScreenPos().y));
    ui.view.listed_stage = static_cast<int>(stage);
  }
  const bool per_layer = stage >= trace::Stage::qkv_rope && stage <= trace::Stage::out_mlp;
  const std::string beside = per_layer ? fmt::format("layer {}", ui.selection.layer)
                             : noted   ? ""
                                       : "bookkeeping: no tensor, no kernel";
  y = draw_heading(ui, {list.x, y, right - list.x, ui.px(22)}, stage, beside);
  const float x = list.x + ui.px(6);
  const auto place = [&] { return Rect{x, y, right - x - ui.px(6), row}; };
  if (stage == trace::Stage::prepare) {
    const std::vector<GraphLine> lines = graph_lines(step);
    for (std::size_t i = 0; i < lines.size(); ++i, y += row)
      if (row_in_sight(ui, place())) draw_graph_line(ui, place(), lines[i], i);
  }
  for (std::size_t i = 0; i < step.shapes.size(); ++i) {
    if (!shape_here(step.shapes[i])) continue;
    if (row_in_sight(ui, place())) draw_shape(ui, place(), step.shapes[i], i);
    y += row;
  }
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    if (!launch_here(step.launches[i])) continue;
    if (row_in_sight(ui, place())) draw_launch(ui, place(), step.launches[i], i);
    y += row;
  }
  return y + ui.px(6);
}

}  // namespace

void draw_stage_list(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "stages", rect, "Stages and shapes", "kernel  grid of threads  bytes  time")) return;
  const trace::StepRecord* step = ui.frame.step.get();
  if (step == nullptr || (step->shapes.empty() && step->launches.empty())) {
    empty_note(ui, "Every shape on the way through a step, and the kernels it launched, appear here.");
    end_panel(ui);
    return;
  }
  const Rect list = ui.body;
  float y = begin_scroll(ui, "stages/list", list);
  for (int s = 0; s <= static_cast<int>(trace::kLastOf<trace::Stage>); ++s)
    y = draw_stage(ui, list, y, static_cast<trace::Stage>(s));
  end_scroll(ui, y);
  end_panel(ui);
}

}  // namespace attn::viz
