// K and V that a step moves for its query heads, shared or repeated.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/trace/costs.h"
#include "core/trace/number_text.h"
#include "kernels/common/check.h"
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

/// What attention of the step costs in rows of K and V for one KV head, by the way that it may be done. A
/// decode step has to gather its keys, with pads up to the longest sequence, before it can repeat them; in
/// prefill the packed rows are repeated as they are.
struct MovedRows {
  std::uint64_t shared = 0;    // each key read once, through the tables
  std::uint64_t gathered = 0;  // read, written with pads, read with pads; 0: not in prefill
  std::uint64_t repeated = 0;  // ... and read, written for every query head of the group, read
};

MovedRows moved_rows(const trace::StepRecord& step, const trace::ModelShape& model) {
  const auto keys = static_cast<std::uint64_t>(step.cu_seqlens_k.back());
  const auto group = static_cast<std::uint64_t>(model.num_heads / model.num_kv_heads);
  if (step.kind != trace::StepKind::decode) return {keys, 0, keys + 2 * group * keys};
  const std::uint64_t padded = (step.cu_seqlens_k.size() - 1) * static_cast<std::uint64_t>(step.max_seqlen_k);
  return {keys, keys + 2 * padded, keys + 2 * padded + 2 * group * padded};
}

std::vector<Moved> moved_of(const trace::StepRecord& step, const trace::ModelShape& model, int layer) {
  std::vector<Moved> out;
  if (step.cu_seqlens_k.empty() || step.cu_seqlens_k.back() == 0) return out;
  const MovedRows rows = moved_rows(step, model);
  const std::uint64_t row = trace::kv_bytes(1, model.num_kv_heads, model.head_dim, model.dtype);
  const auto formula = [&](std::uint64_t count, std::string_view how) {
    return fmt::format("by formula: {} rows of {} K/V heads x {} x 2 x {} B, {}", count, model.num_kv_heads,
                       model.head_dim, dtype_size(model.dtype), how);
  };
  out.push_back({"grouped", "grouped", rows.shared * row, formula(rows.shared, "each key read once")});
  if (rows.gathered > 0)
    out.push_back({"gathered", "gathered", rows.gathered * row,
                   formula(rows.gathered, "read, written with pads up to the longest, read again")});
  out.push_back({"repeated", rows.gathered > 0 ? "gathered, repeated" : "repeated", rows.repeated * row,
                 formula(rows.repeated,
                         "all of that, and repeat_interleave reads it and writes it for every "
                         "query head of the group, which attention reads")});
  try {
    out.push_back({"launched", "this step", trace::k_rows_moved(step.launches, layer, step, model) * row,
                   "launch records of gather, repeat and attention, without q and o"});
  } catch (const InputError&) {
    // Launches that move other things beside K and V, or none: then there is no number to show.
  }
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
  const float label_w = ui.px(150);
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
    if (&row != &rows.front())
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
