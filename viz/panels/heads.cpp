#include "viz/panels/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/trace/number_text.h"
#include "viz/layout/head_layout.h"
#include "viz/panels/head_thumbs.h"
#include "viz/panels/weights.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// Which K/V head every query head reads.
struct HeadMapping {
  std::vector<int> kv_head;  // [H]
  int num_kv = 1;
  bool measured = false;  // told by the record of the launch; else by the switch it was launched with
  int group() const { return std::max(1, static_cast<int>(kv_head.size()) / std::max(1, num_kv)); }
  int right(int head) const { return head / group(); }
  bool wrong(int head) const { return kv_head[static_cast<std::size_t>(head)] != right(head); }
  int num_wrong() const {
    int count = 0;
    for (int h = 0; h < static_cast<int>(kv_head.size()); ++h) count += wrong(h) ? 1 : 0;
    return count;
  }
};

HeadMapping mapping_of(const Frame& frame) {
  HeadMapping out;
  if (frame.manifest == nullptr) return out;
  const trace::ModelShape& model = frame.manifest->model;
  out.num_kv = std::max(1, model.num_kv_heads);
  if (frame.attention && !frame.attention->kv_head.empty()) {
    out.kv_head = frame.attention->kv_head;
    out.measured = true;
    return out;
  }
  if (model.num_heads < out.num_kv) return out;
  for (int h = 0; h < model.num_heads; ++h)
    out.kv_head.push_back(kv_head_of(frame.step->config.head_map, h, model.num_heads, out.num_kv));
  return out;
}

std::string head_text(const HeadMapping& map, int head) {
  const int kv = map.kv_head[static_cast<std::size_t>(head)];
  std::string text = fmt::format("query head {} reads K/V head {}", head, kv);
  if (map.wrong(head)) {
    text += fmt::format(", but {} / {} = {}: it belongs to K/V head {}", head, map.group(), map.right(head),
                        map.right(head));
  } else {
    text += fmt::format(" = {} / {}", head, map.group());
  }
  return text;
}

void draw_kv_tile(Ui& ui, const HeadMapping& map, int kv, const Rect& tile, float header) {
  if (tile.h < header) return;
  fill(ui, tile, ui[Color::raised], 1.0F, ui.px(5));
  outline(ui, tile, ui[Color::stroke], ui.px(1), ui.px(5));
  std::string readers;
  for (std::size_t h = 0; h < map.kv_head.size(); ++h) {
    if (map.kv_head[h] == kv) readers += (readers.empty() ? "" : ", ") + std::to_string(h);
  }
  const Rect line_box{tile.x + ui.px(10), tile.y, tile.w - ui.px(20), header};
  const float used =
      text_in(ui, FontRole::strong, line_box, ui[Color::text], fmt::format("K/V head {}", kv), Align::left);
  const float left = used + ui.px(12);
  const std::string words = fmt::format("read by {}", readers.empty() ? "nobody" : readers);
  text_in(ui, FontRole::small, {line_box.x + left, line_box.y, line_box.w - left, line_box.h},
          ui[Color::muted], first_fitting(ui, FontRole::small, line_box.w - left, {words, readers, ""}),
          Align::right);
  ui.marks.add(fmt::format("heads/kv/{}", kv), visible_part(ui, tile),
               fmt::format("K/V head {} is read by query heads {}", kv, readers),
               map.measured ? "kv_head of the attention launch" : "head_map of the engine's config");
}

/// Returns the largest weight of the map that was drawn, NaN without one.
float draw_head_tile(Ui& ui, const HeadMapping& map, const WeightsInput& in, bool weights, int head,
                     const Rect& box) {
  float largest = NAN;
  if (box.w < 6.0F || box.h < 6.0F) return largest;
  const bool wrong = map.wrong(head);
  const bool current = head == ui.selection.head;
  const bool hovered = ui.view.hover.head == head;
  fill(ui, box, wrong ? mix(ui[Color::panel], ui[Color::error], 0.28) : ui[Color::panel], 1.0F, ui.px(3));
  outline(ui, box,
          ui[current   ? Color::selection
             : hovered ? Color::accent
             : wrong   ? Color::error
                       : Color::border],
          current || hovered || wrong ? ui.px(2) : 1.0F, ui.px(3));
  const float label_h = std::min(ui.px(18), box.h);
  const Rect label{box.x + ui.px(6), box.y + ui.px(2), box.w - ui.px(12), label_h};
  const std::string name = box.w >= ui.px(70) ? fmt::format("head {}", head) : std::to_string(head);
  const float used = text_in(ui, FontRole::strong, label, ui[Color::text], name, Align::left);
  std::string home = fmt::format("belongs to {}", map.right(head));
  const float home_w = label.w - used - ui.px(10);
  if (text_width(ui, FontRole::strong, home) > home_w) home = fmt::format("\xE2\x89\xA0 {}", map.right(head));
  if (wrong && text_width(ui, FontRole::strong, home) <= home_w)
    text_in(ui, FontRole::strong, label, ui[Color::error], home, Align::right);
  std::string value = head_text(map, head);
  std::string source = map.measured ? "kv_head of the attention launch" : "head_map of the engine's config";
  if (weights) {
    WeightsInput own = in;
    own.head = head;
    const HeatMap* heat = head_map(ui, own, head);
    const Rect picture{box.x + ui.px(6), label.bottom() + ui.px(4), box.w - ui.px(12),
                       box.bottom() - label.bottom() - ui.px(10)};
    if (heat != nullptr && picture.h >= ui.px(8) && picture.w >= ui.px(16)) {
      draw_head_map(ui, *heat, in, picture);
      largest = heat->max;
      value += fmt::format("\nlargest weight {:.4f}", num(heat->max));
      source += fmt::format("; weights[{}, {}..{}, :] F32, {}", head, in.rows.q0 + in.row_from,
                            in.rows.q0 + in.row_to - 1, in.view->kernel);
    }
  }
  const Hit hit = mark(ui, fmt::format("heads/head/{}", head), box, std::move(value), std::move(source));
  if (hit.hovered) ui.view.next_hover.head = head;
  if (hit.clicked) select(ui, [&](Selection& s) { s.head = head; });
  return largest;
}

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

void draw_bytes(Ui& ui, const Rect& area) {
  const trace::ModelShape& model = ui.frame.manifest->model;
  const std::vector<Moved> rows = moved_of(*ui.frame.step, model, ui.selection.layer);
  if (rows.empty() || area.h < ui.px(44)) return;
  text_in(ui, FontRole::small, {area.x, area.y, area.w, ui.px(18)}, ui[Color::muted],
          fmt::format("K and V that layer {} moves in this step", ui.selection.layer), Align::left);
  std::uint64_t most = 1;
  for (const Moved& row : rows) most = std::max(most, row.bytes);
  const float label_w = ui.px(142);
  const float number_w = ui.px(250);
  float y = area.y + ui.px(20);
  for (const Moved& row : rows) {
    const Rect line_box{area.x, y, area.w, ui.px(20)};
    if (line_box.bottom() > area.bottom() + 1.0F) return;
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

/// How many heads are misplaced, in words, and what to do about it; `dark`: why their maps are.
void draw_verdict(Ui& ui, const HeadMapping& map, const Rect& line_box, const std::string& dark) {
  const int wrong = map.num_wrong();
  const int heads = static_cast<int>(map.kv_head.size());
  const std::string text =
      wrong == 0 ? fmt::format("kv = h / (H / Hkv) = h / ({} / {}) = h / {}", heads, map.num_kv, map.group())
                 : fmt::format("{} of {} heads read the wrong K/V head: h % {} instead of h / {}", wrong,
                               heads, map.num_kv, map.group());
  const float used =
      text_in(ui, FontRole::strong, line_box, ui[wrong == 0 ? Color::text : Color::error], text, Align::left);
  if (const float left = used + ui.px(16); line_box.w - left > text_width(ui, FontRole::small, dark))
    text_in(ui, FontRole::small, {line_box.x + left, line_box.y, line_box.w - left, line_box.h},
            ui[Color::warning], dark, Align::right);
  mark(ui, "heads/verdict", line_box, text,
       map.measured ? "kv_head of the attention launch" : "head_map of the engine's config");
}

}  // namespace

void draw_heads(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  const HeadMapping map = step == nullptr ? HeadMapping{} : mapping_of(ui.frame);
  std::string caption;
  if (!map.kv_head.empty())
    caption = fmt::format("layer {}  \xC2\xB7  {} query heads share {} K/V heads", ui.selection.layer,
                          map.kv_head.size(), map.num_kv);
  if (!begin_panel(ui, "heads", rect, "Head groups", caption)) return;
  if (map.kv_head.empty()) {
    empty_note(ui, "Which query heads share which K/V head appears here.");
    end_panel(ui);
    return;
  }
  const WeightsInput in =
      weights_input(ui.frame, ui.frame.attention, focus_seq(ui.frame, ui.selection), 0, mask_in_force(*step));
  const bool weights = weights_missing(ui.frame, in).empty();
  const Rect body = ui.body;
  const float verdict_h = ui.px(24);
  const float bytes_h = body.h >= ui.px(280) ? ui.px(92) : body.h >= ui.px(200) ? ui.px(66) : 0.0F;
  const Rect tiles{body.x, body.y + verdict_h + ui.px(4), body.w, body.h - verdict_h - ui.px(12) - bytes_h};
  const HeadLayout layout = layout_heads(map.kv_head, map.num_kv, tiles, ui.px(26), ui.px(8), ui.px(8));
  for (int kv = 0; kv < static_cast<int>(layout.kv.size()); ++kv)
    draw_kv_tile(ui, map, kv, layout.kv[static_cast<std::size_t>(kv)], layout.header);
  float largest = 0.0F;
  for (int h = 0; h < static_cast<int>(layout.head.size()); ++h)
    largest =
        std::fmax(largest, draw_head_tile(ui, map, in, weights, h, layout.head[static_cast<std::size_t>(h)]));
  draw_verdict(ui, map, {body.x, body.y, body.w, verdict_h}, dark_note(ui, largest));
  if (bytes_h > 0.0F) draw_bytes(ui, {body.x, body.bottom() - bytes_h, body.w, bytes_h});
  end_panel(ui);
}

}  // namespace attn::viz
