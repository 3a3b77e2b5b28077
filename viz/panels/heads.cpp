#include "viz/panels/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/trace/number_text.h"
#include "viz/layout/head_layout.h"
#include "viz/panels/head_thumbs.h"
#include "viz/panels/weights.h"
#include "viz/pool_facts.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/tall_body.h"
#include "viz/widgets/veil.h"

namespace attn::viz {
namespace {

constexpr float kLeastGroups = 140.0F;  // px at scale 1
constexpr float kLowGroups = 84.0F;     // in a part that shows no more at once

/// Which K/V head every query head reads.
struct HeadMapping {
  std::vector<int> kv_head;  // [H]
  int num_kv = 1;
  bool measured = false;  // told by the record of the launch; else by the switch it was launched with
  bool preview = false;   // another map than the step's, by formula
  int group() const { return std::max(1, static_cast<int>(kv_head.size()) / std::max(1, num_kv)); }
  int right(int head) const { return head / group(); }
  bool wrong(int head) const { return kv_head[static_cast<std::size_t>(head)] != right(head); }
  int num_wrong() const {
    int count = 0;
    for (int h = 0; h < static_cast<int>(kv_head.size()); ++h) count += wrong(h) ? 1 : 0;
    return count;
  }
};

HeadMapping mapping_of(const Frame& frame, std::optional<HeadMap> wanted) {
  HeadMapping out;
  if (frame.manifest == nullptr) return out;
  const trace::ModelShape& model = frame.manifest->model;
  out.num_kv = std::max(1, model.num_kv_heads);
  out.preview = wanted.has_value() && *wanted != frame.step->config.head_map;
  if (!out.preview && frame.attention && !frame.attention->kv_head.empty()) {
    out.kv_head = frame.attention->kv_head;
    out.measured = true;
    return out;
  }
  if (model.num_heads < out.num_kv) return out;
  for (int h = 0; h < model.num_heads; ++h)
    out.kv_head.push_back(
        kv_head_of(wanted.value_or(frame.step->config.head_map), h, model.num_heads, out.num_kv));
  return out;
}

std::string source_of(const HeadMapping& map) {
  if (map.preview) return "by formula: kv_head_of, nothing was launched with it";
  return map.measured ? "kv_head of the attention launch" : "head_map of the engine's config";
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
  keep_whole(ui, tile, "heads/kv");
  ui.marks.add(fmt::format("heads/kv/{}", kv), visible_part(ui, tile),
               fmt::format("K/V head {} is read by query heads {}", kv, readers), source_of(map));
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
  std::string source = source_of(map);
  if (weights) {
    WeightsInput own = in;
    own.head = head;
    const HeatMap* heat = head_map(ui, own, head);
    const Rect picture{box.x + ui.px(6), label.bottom() + ui.px(4), box.w - ui.px(12),
                       box.bottom() - label.bottom() - ui.px(10)};
    if (heat != nullptr && picture.h >= ui.px(8) && picture.w >= ui.px(16)) {
      if (!wrong) draw_head_max(ui, *heat, {label.x + used, label.y, label.w - used, label.h});
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

/// Buttons for the two maps; another than the step's is a preview. Returns the width used.
float draw_map_toggle(Ui& ui, const HeadMapping& map, const Rect& line_box) {
  const int heads = static_cast<int>(map.kv_head.size());
  if (map.num_kv <= 1 || map.num_kv >= heads || ui.view.picture.still) return 0.0F;
  const HeadMap engine = ui.frame.step->config.head_map;
  const HeadMap shown = map.preview ? *ui.view.attention.head_preview : engine;
  float right = line_box.right();
  for (const HeadMap choice : {HeadMap::modulo, HeadMap::grouped}) {
    const bool modulo = choice == HeadMap::modulo;
    const std::string label = modulo ? fmt::format("h % {}", map.num_kv) : fmt::format("h / {}", map.group());
    const float w = text_width(ui, FontRole::strong, label) + ui.px(16);
    if (right - w < line_box.x) break;
    right -= w;
    if (button(ui, modulo ? "heads/map/modulo" : "heads/map/grouped", {right, line_box.y, w, line_box.h},
               label,
               choice == engine ? "the map of this step" : "preview: which heads this map would misplace",
               true, choice == shown)) {
      ui.view.attention.head_preview.reset();
      if (choice != engine) ui.view.attention.head_preview = choice;
    }
    right -= ui.px(4);
  }
  return line_box.right() - right;
}

/// How many heads are misplaced, in words, and what to do about it; `dark`: why their maps are.
void draw_verdict(Ui& ui, const HeadMapping& map, Rect line_box, const std::string& dark) {
  line_box.w -= draw_map_toggle(ui, map, line_box);
  const int wrong = map.num_wrong();
  const int heads = static_cast<int>(map.kv_head.size());
  const std::string rule =
      fmt::format("kv = h / (H / Hkv) = h / ({} / {}) = h / {}", heads, map.num_kv, map.group());
  const std::string_view verb = map.preview ? "would read" : "read";
  const std::string text = wrong == 0
                               ? rule
                               : fmt::format("{} of {} heads {} the wrong K/V head: h % {} instead of h / {}",
                                             wrong, heads, verb, map.num_kv, map.group());
  const std::string brief = wrong == 0 ? fmt::format("kv = h / {}", map.group())
                                       : fmt::format("{} of {} heads wrong", wrong, heads);
  const float used = text_in(ui, FontRole::strong, line_box, ui[wrong == 0 ? Color::text : Color::error],
                             first_fitting(ui, FontRole::strong, line_box.w, {text, brief}), Align::left);
  const std::string_view note = map.preview ? "preview, by formula" : std::string_view(dark);
  if (const float left = used + ui.px(16); line_box.w - left > text_width(ui, FontRole::small, note))
    text_in(ui, FontRole::small, {line_box.x + left, line_box.y, line_box.w - left, line_box.h},
            ui[Color::warning], note, Align::right);
  mark(ui, "heads/verdict", line_box, text, source_of(map));
}

/// Groups, what is wrong with them, and the bytes that they move.
void draw_head_parts(Ui& ui, const HeadMapping& map) {
  const WeightsInput in = weights_input(ui.frame, ui.frame.attention, focus_seq(ui.frame, ui.selection), 0,
                                        mask_in_force(*ui.frame.step));
  const bool weights = !map.preview && weights_missing(ui.frame, in).empty();  // of what ran
  const float verdict_h = ui.px(24);
  const float bytes_h = head_bytes_height(ui);
  const float first = verdict_h + ui.px(12);
  const float groups_h =
      std::clamp(ui.body.h - first - fold_note_height(ui), ui.px(kLowGroups), ui.px(kLeastGroups));
  const TallBody tall(ui, "heads/parts", first + groups_h + bytes_h);
  const Rect body = ui.body;
  const Rect tiles{body.x, body.y + verdict_h + ui.px(4), body.w, body.h - verdict_h - ui.px(12) - bytes_h};
  const HeadLayout layout = layout_heads(map.kv_head, map.num_kv, tiles, ui.px(26), ui.px(8), ui.px(8));
  for (int kv = 0; kv < static_cast<int>(layout.kv.size()); ++kv)
    draw_kv_tile(ui, map, kv, layout.kv[static_cast<std::size_t>(kv)], layout.header);
  float largest = 0.0F;
  for (int h = 0; h < static_cast<int>(layout.head.size()); ++h)
    largest =
        std::fmax(largest, draw_head_tile(ui, map, in, weights, h, layout.head[static_cast<std::size_t>(h)]));
  draw_verdict(ui, map, {body.x, body.y, body.w, verdict_h}, dark_note(ui, largest));
  if (bytes_h > 0.0F) draw_head_bytes(ui, {body.x, body.bottom() - bytes_h, body.w, bytes_h});
}

}  // namespace

void draw_heads(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  const HeadMapping map =
      step == nullptr ? HeadMapping{} : mapping_of(ui.frame, ui.view.attention.head_preview);
  std::string caption;
  if (!map.kv_head.empty())
    caption = with_moment_note(ui.frame, ui.selection, ui.view.grain,
                               fmt::format("layer {}  \xC2\xB7  {} query heads share {} K/V heads",
                                           ui.selection.layer, map.kv_head.size(), map.num_kv));
  if (!begin_panel(ui, "heads", rect, "Head groups", caption)) return;
  if (map.kv_head.empty()) {
    empty_note(ui, "Which query heads share which K/V head appears here.");
    end_panel(ui);
    return;
  }
  draw_head_parts(ui, map);
  veil_before_attention(ui);
  end_panel(ui);
}

}  // namespace attn::viz
