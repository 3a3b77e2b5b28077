#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/panels/decode_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// Cut to `room` with an ellipsis, whole characters only.
std::string shortened(const Ui& ui, std::string label, float room) {
  if (text_width(ui, FontRole::mono_small, label) <= room) return label;
  while (!label.empty() && text_width(ui, FontRole::mono_small, label + "\xE2\x80\xA6") > room) {
    while (label.size() > 1 && (static_cast<unsigned char>(label.back()) & 0xC0U) == 0x80U) label.pop_back();
    label.pop_back();
  }
  return label + "\xE2\x80\xA6";
}

}  // namespace

void draw_decode_token(Ui& ui, const DecodeStrip& strip, int index, float y, float h) {
  const int k = strip.first_key(index);
  const Rect column = strip.bars.column(index, strip.plot);
  const bool known = k < strip.in.rows.k_len && static_cast<std::size_t>(k) < strip.seq.token_ids.size();
  if (strip.bars.keys_per_bar > 1 || !known || column.w < font_pixels(FontRole::mono_small)) return;
  const std::string label =
      shortened(ui, token_label(ui.frame, strip.seq.token_ids[static_cast<std::size_t>(k)]), h - ui.px(2));
  const float line_h = font_pixels(FontRole::mono_small);
  text_up(ui, FontRole::mono_small, column.x + (column.w - line_h) * 0.5F,
          y + text_width(ui, FontRole::mono_small, label), ui[Color::text], label);
}

float decode_tokens_height(const Ui& ui, const DecodeStrip& strip, float most) {
  float longest = 0.0F;
  for (int k = strip.keys.from; k < std::min(strip.keys.to, strip.in.rows.k_len); ++k) {
    if (static_cast<std::size_t>(k) < strip.seq.token_ids.size())
      longest = std::max(longest,
                         text_width(ui, FontRole::mono_small,
                                    token_label(ui.frame, strip.seq.token_ids[static_cast<std::size_t>(k)])));
  }
  return std::min(most, longest + ui.px(6));
}

void draw_decode_group(Ui& ui, const DecodeStrip& strip, const BarGroup& group, float y) {
  const Rect first = strip.bars.column(group.first_bar, strip.plot);
  const Rect last = strip.bars.column(group.end_bar - 1, strip.plot);
  const Rect box{first.x, y, last.right() - first.x, ui.px(18)};
  const bool pad = group.block < 0;
  const std::string& prefix = strip.in.prefix;
  line(ui, box.x, y, box.right(), y, pad ? ui[Color::pad] : ui[Color::stroke], ui.px(2));
  const bool lit = !pad && (group.block == ui.selection.block || group.block == ui.view.hover.block);
  if (lit)
    outline(ui, box, ui[group.block == ui.selection.block ? Color::selection : Color::accent], ui.px(1));
  if (pad) {
    const Hit hit =
        mark(ui, prefix + "/pads", box,
             fmt::format("{} zero pads after context_len {}", strip.in.rows.pads(), strip.in.rows.k_len),
             "gather_kv pads with zeros up to max context_len");
    if (hit.hovered) ui.view.next_hover.name = "context_lens";
    return;
  }
  const int logical = strip.first_key(group.first_bar) / strip.block_size;
  const Hit hit = mark(ui, fmt::format("{}/block/{}", prefix, logical), box,
                       fmt::format("logical block {} of {} is physical block {}", logical,
                                   seq_letter(strip.in.rows.seq), group.block),
                       fmt::format("block_tables[{}][{}] I32", strip.in.rows.batch, logical));
  if (hit.hovered) {
    ui.view.next_hover.block = group.block;
    ui.view.next_hover.name = "block_tables";
  }
  if (hit.clicked) select(ui, [&](Selection& s) { s.block = group.block; });
}

void draw_block_ids(Ui& ui, const DecodeStrip& strip, float y) {
  const std::vector<BarGroup>& groups = strip.bars.groups;
  std::vector<Span> taken;  // pixels of the line
  const auto place = [&](const BarGroup& group) {
    const float x0 = strip.bars.column(group.first_bar, strip.plot).x;
    const float box_w = strip.bars.column(group.end_bar - 1, strip.plot).right() - x0;
    const bool pad = group.block < 0;
    const std::string whole = pad ? "PAD" : fmt::format("block {}", group.block);
    const bool roomy = text_width(ui, FontRole::small, whole) <= box_w;
    if (pad && !roomy) return;  // the hatch says so too
    const std::string text = roomy ? whole : std::to_string(group.block);
    const float w = text_width(ui, FontRole::small, text);
    const float x =
        std::clamp(x0 + (box_w - w) * 0.5F, strip.plot.x, std::max(strip.plot.x, strip.plot.right() - w));
    const int from = static_cast<int>(x), to = static_cast<int>(std::ceil(x + w + ui.px(5)));
    if (std::ranges::any_of(taken, [&](const Span& t) { return from < t.to && t.from < to; })) return;
    taken.push_back({from, to});
    const Rect box{x, y, w + 1.0F, ui.px(18)};
    text_in(ui, FontRole::small, box, pad ? ui[Color::pad] : ui[Color::text], text, Align::left);
    const Rect seen = visible_part(ui, box);
    if (!pad && seen.w > 0.0F)
      ui.marks.add(fmt::format("{}/block_id/{}", strip.in.prefix, group.block), seen, text,
                   fmt::format("block_tables[{}][{}] I32", strip.in.rows.batch,
                               strip.first_key(group.first_bar) / strip.block_size));
  };
  for (const BarGroup& group : groups)
    if (group.block >= 0 && group.block == ui.selection.block) place(group);
  if (!groups.empty()) place(groups.back());
  for (const BarGroup& group : groups) place(group);
}

void draw_decode_top(Ui& ui, const DecodeStrip& strip, const Rect& line_box) {
  Rect rest = line_box;
  const bool large = strip.bars.keys_per_bar > 1 || !strip.view.keys.whole();
  const ZoomAxes axes{&strip.view.keys, nullptr, std::min(1.0, 8.0 / std::max(1, strip.in.rows.attended)),
                      1.0};
  if (large) rest.w -= zoom_buttons(ui, strip.in.prefix, rest, axes);
  const WeightScale scale = ui.view.weight_scale;
  const char* label = scale == WeightScale::log10 ? "log10" : scale == WeightScale::rank ? "rank" : "linear";
  const float w = ui.px(58);
  if (rest.w > w + ui.px(80) && !ui.view.picture.still) {
    if (button(ui, strip.in.prefix + "/scale", {rest.right() - w, rest.y, w, std::min(rest.h, ui.px(24))},
               label, "height of the bars: linear, log10 (floor 1e-6), rank (L)"))
      ui.view.weight_scale = next_scale(scale);
    rest.w -= w + ui.px(8);
  }
  std::string text = fmt::format("{} keys", strip.in.rows.k_len);
  if (strip.in.rows.pads() > 0) text += fmt::format(" + {} pads", strip.in.rows.pads());
  if (large) {
    text = fmt::format("keys {} to {}, of 0 to {}", strip.keys.from, strip.keys.to - 1,
                       strip.in.rows.attended - 1);
    if (strip.bars.keys_per_bar > 1)
      text += fmt::format("  \xC2\xB7  a bar is the largest of {} weights", strip.bars.keys_per_bar);
  }
  const Rect box{rest.x, rest.y, rest.w, ui.px(24)};
  text_in(ui, FontRole::small, box, ui[lit(ui, "context_lens") ? Color::accent : Color::muted],
          whole_parts(ui, FontRole::small, box.w, text), Align::left);
  if (touch(ui, box).hovered) ui.view.next_hover.name = "context_lens";
}

}  // namespace attn::viz
