// K and V that a step moves for its query heads, shared or repeated.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/trace/number_text.h"
#include "viz/lookup.h"
#include "viz/panels/heads.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// One bar of the comparison of bytes.
struct Moved {
  const char* name;
  std::string label;
  std::uint64_t bytes = 0;
  std::string source;
};

/// K and V that attention of one layer reads: Hkv heads of every key, or H after repeat_interleave, which
/// also has to write them first.
std::vector<Moved> moved_of(const trace::StepRecord& step, const trace::ModelShape& model, int layer) {
  std::vector<Moved> out;
  if (step.cu_seqlens_k.empty()) return out;
  const auto keys = static_cast<std::uint64_t>(step.cu_seqlens_k.back());
  const std::uint64_t row = 2ULL * static_cast<std::uint64_t>(model.head_dim) * dtype_size(model.dtype);
  const std::uint64_t shared = keys * row * static_cast<std::uint64_t>(model.num_kv_heads);
  const std::uint64_t repeated = keys * row * static_cast<std::uint64_t>(model.num_heads);
  out.push_back({"grouped", "grouped", shared,
                 fmt::format("by formula: {} keys x {} K/V heads x {} x 2 x {} B", keys, model.num_kv_heads,
                             model.head_dim, dtype_size(model.dtype))});
  out.push_back(
      {"repeated", "repeat_interleave", shared + 2 * repeated,
       fmt::format("by formula: read {} B, write {} keys x {} heads x {} x 2 x {} B, read them again", shared,
                   keys, model.num_heads, model.head_dim, dtype_size(model.dtype))});
  std::uint64_t launched = 0;
  std::string kernels;
  for (const trace::LaunchEntry& entry : step.launches) {
    if (entry.stage != trace::Stage::repeat || entry.layer != layer) continue;
    launched += entry.launch.bytes;
    kernels = entry.launch.kernel;
  }
  if (launched > 0)
    out.push_back({"launched", "repeat in this step", launched, "launch records: " + kernels});
  return out;
}

}  // namespace

float head_bytes_height(const Ui& ui) {
  const std::vector<Moved> rows = moved_of(*ui.frame.step, ui.frame.manifest->model, ui.selection.layer);
  return rows.empty() ? 0.0F : ui.px(22) * static_cast<float>(rows.size() + 1);
}

void draw_head_bytes(Ui& ui, const Rect& area) {
  const trace::ModelShape& model = ui.frame.manifest->model;
  const std::vector<Moved> rows = moved_of(*ui.frame.step, model, ui.selection.layer);
  if (rows.empty()) return;
  text_in(ui, FontRole::small, {area.x, area.y, area.w, ui.px(18)}, ui[Color::muted],
          fmt::format("K and V that layer {} moves in this step", ui.selection.layer), Align::left);
  std::uint64_t most = 1;
  for (const Moved& row : rows) most = std::max(most, row.bytes);
  const float label_w = ui.px(142);
  const float number_w = ui.px(250);
  float y = area.y + ui.px(20);
  for (const Moved& row : rows) {
    const Rect line_box{area.x, y, area.w, ui.px(20)};
    text_in(ui, FontRole::small, {area.x, y, label_w, line_box.h}, ui[Color::text], row.label, Align::left);
    const float room = std::max(1.0F, area.w - label_w - number_w);
    const float w = std::max(2.0F, room * static_cast<float>(row.bytes) / static_cast<float>(most));
    fill(ui, {area.x + label_w, y + ui.px(4), w, line_box.h - ui.px(8)}, ui[Color::allowed]);
    const bool formula = row.source.starts_with("by formula");
    std::string number = bytes_text(row.bytes);
    if (&row != &rows.front() && rows.front().bytes > 0 && std::string_view(row.name) == "repeated")
      number += fmt::format("  \xC3\x97 {:.1f}",
                            static_cast<double>(row.bytes) / static_cast<double>(rows.front().bytes));
    const Rect right{area.x + label_w + w + ui.px(8), y, number_w - ui.px(8), line_box.h};
    const float used = text_in(ui, FontRole::mono, right, ui[Color::text], number, Align::left) + ui.px(10);
    text_in(ui, FontRole::small, {right.x + used, y, std::max(0.0F, right.w - used), line_box.h},
            ui[Color::muted], formula ? "by formula" : "launch records", Align::left);
    mark(ui, fmt::format("heads/bytes/{}", row.name), line_box,
         fmt::format("{}: {} B of K and V", row.label, row.bytes), row.source);
    y += ui.px(22);
  }
}

}  // namespace attn::viz
