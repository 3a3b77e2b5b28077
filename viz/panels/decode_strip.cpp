#include "viz/panels/decode_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/layout/bar_layout.h"
#include "viz/palette.h"
#include "viz/panels/mass_bars.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

struct Strip {
  const BatchRows& rows;
  const trace::SeqState& seq;
  BarLayout bars;
  Rect plot;  // bars
  float axis_max = 1.0F;
  int block_size = 1;
};

/// 1, 2 or 5 times a power of ten, at least `value`: the axis changes rarely while stepping.
float axis_ceiling(float value) {
  if (!(value > 0.0F)) return 1.0F;
  const float power = std::pow(10.0F, std::floor(std::log10(value)));
  for (const float factor : {1.0F, 2.0F, 5.0F}) {
    if (value <= power * factor) return std::min(1.0F, power * factor);
  }
  return std::min(1.0F, power * 10.0F);
}

float largest(const trace::AttentionView& view, int head, int row, int from, int to) {
  float out = NAN;
  for (int k = from; k < to; ++k) {
    const float weight = view.weight(head, row, k);
    if (!std::isnan(weight) && !(out >= weight)) out = weight;
  }
  return out;
}

float height_of(const Ui& ui, const Strip& strip, float weight) {
  const float t =
      (ui.view.weight_scale == WeightScale::log10) ? weight_position(weight, true) : weight / strip.axis_max;
  return std::round(std::clamp(t, 0.0F, 1.0F) * strip.plot.h);
}

void draw_axis(Ui& ui, const Strip& strip) {
  for (int i = 0; i <= 2; ++i) {
    const float t = static_cast<float>(i) * 0.5F;
    const float y = strip.plot.bottom() - strip.plot.h * t;
    line(ui, strip.plot.x, y, strip.plot.right(), y, ui[i == 0 ? Color::stroke : Color::border]);
    const std::string text = (ui.view.weight_scale == WeightScale::log10)
                                 ? (i == 0   ? "1e-6"
                                    : i == 1 ? "1e-3"
                                             : "1")
                                 : fmt::format("{:.3g}", strip.axis_max * t);
    text_in(ui, FontRole::mono_small,
            {ui.body.x, y - ui.px(7), strip.plot.x - ui.body.x - ui.px(5), ui.px(14)}, ui[Color::muted], text,
            Align::right);
  }
}

/// Pads are hatched over the whole height: there is nothing in them, and yet they are attended.
void draw_pad_ground(Ui& ui, const Strip& strip) {
  for (const BarGroup& group : strip.bars.groups) {
    if (group.block >= 0) continue;
    const Rect first = strip.bars.column(group.first_bar, strip.plot);
    const Rect last = strip.bars.column(group.end_bar - 1, strip.plot);
    const Rect ground{first.x, first.y, last.right() - first.x, first.h};
    cross_hatch(ui, ground, mix(ui[Color::panel], ui[Color::pad], 0.45), ui.px(9));
    const Mass mass = measure_mass(*ui.frame.attention, ui.selection.head, strip.rows.q0, strip.rows.k_len,
                                   strip.rows.attended);
    std::string text = fmt::format("{} pads take {:.2f} %", mass.pads, 100.0 * mass.stolen);
    if (text_width(ui, FontRole::strong, text) + ui.px(14) > ground.w)
      text = fmt::format("{:.2f} %", 100.0 * mass.stolen);
    const float w = text_width(ui, FontRole::strong, text) + ui.px(14);
    if (w > ground.w || ground.h < ui.px(60)) continue;
    const Rect label{std::round(ground.x + (ground.w - w) * 0.5F), std::round(ground.y + ground.h * 0.4F), w,
                     ui.px(24)};
    fill(ui, label, ui[Color::panel], 1.0F, ui.px(3));
    text_in(ui, FontRole::strong, label, ui[Color::warning], text, Align::center);
  }
}

std::string key_text(const Ui& ui, const Strip& strip, int k, float weight) {
  if (k >= strip.rows.k_len) return fmt::format("key {}: zero pad, weight {:.6f}", k, weight);
  const std::string token = static_cast<std::size_t>(k) < strip.seq.token_ids.size()
                                ? token_label(ui.frame, strip.seq.token_ids[static_cast<std::size_t>(k)])
                                : "?";
  if (std::isnan(weight)) return fmt::format("key {} ({}): masked, the kernel does not look", k, token);
  return fmt::format("key {} ({}): weight {:.6f}", k, token, weight);
}

void draw_bar(Ui& ui, const Strip& strip, int index) {
  const trace::AttentionView& view = *ui.frame.attention;
  const int head = ui.selection.head;
  const int k = strip.bars.first_key(index);
  const int end = strip.bars.end_key(index);
  const Rect column = strip.bars.column(index, strip.plot);
  const float weight = largest(view, head, strip.rows.q0, k, end);
  const bool pad = k >= strip.rows.k_len;
  if (std::isnan(weight)) {
    hatch(ui, column, ui[Color::masked], ui.px(6));
  } else {
    const float h = std::max(1.0F, height_of(ui, strip, weight));
    const Rect bar{column.x, column.bottom() - h, column.w, h};
    fill(ui, bar, pad ? ui[Color::pad] : h <= 1.0F ? ui[Color::stroke] : hue_of(ui, strip.rows.seq));
    if (!pad && column.w >= ui.px(18)) {
      const std::string number =
          column.w >= ui.px(26) ? fmt::format("{:.3f}", weight) : fmt::format("{:.2f}", weight);
      const float y = std::max(strip.plot.y - ui.px(14), bar.y - ui.px(15));
      text_in(ui, FontRole::mono_small, {column.x - ui.px(3), y, column.w + ui.px(6), ui.px(14)},
              ui[Color::text], number.starts_with("0") ? std::string_view(number).substr(1) : number,
              Align::center);
    }
  }
  const bool hovered_elsewhere =
      ui.view.hover.seq == strip.rows.seq && ui.view.hover.k_col >= k && ui.view.hover.k_col < end;
  const bool selected = ui.selection.k_col >= k && ui.selection.k_col < end;
  if (selected || hovered_elsewhere)
    outline(ui, {column.x - 1.0F, column.y, column.w + 2.0F, column.h},
            ui[selected ? Color::selection : Color::accent], ui.px(1));

  std::string value = key_text(ui, strip, k, weight);
  if (end - k > 1) value = fmt::format("keys {} to {}: largest weight {:.6f}", k, end - 1, weight);
  const Hit hit = mark(ui, fmt::format("weights/key/{}", k), column, std::move(value),
                       weight_source(view, head, strip.rows.q0, k));
  if (hit.hovered) ui.view.next_hover = {strip.rows.seq, 0, k, block_of(strip.seq, k, strip.block_size)};
  if (hit.clicked) {
    select(ui, [&](Selection& s) {
      s.seq = strip.rows.seq;
      s.q_row = 0;
      s.k_col = k;
      s.block = k < strip.rows.k_len ? block_of(strip.seq, k, strip.block_size) : -1;
    });
  }
}

/// The token's text, reading upwards towards its bar.
void draw_token(Ui& ui, const Strip& strip, int index, float y, float h) {
  const int k = strip.bars.first_key(index);
  const Rect column = strip.bars.column(index, strip.plot);
  const bool known = k < strip.rows.k_len && static_cast<std::size_t>(k) < strip.seq.token_ids.size();
  if (strip.bars.keys_per_bar > 1 || !known || column.w < ui.px(12)) return;
  std::string label = token_label(ui.frame, strip.seq.token_ids[static_cast<std::size_t>(k)]);
  const auto width = [&] { return text_width(ui, FontRole::mono_small, label); };
  while (width() > h - ui.px(2) && !label.empty()) {  // drop whole characters
    while (label.size() > 1 && (static_cast<unsigned char>(label.back()) & 0xC0U) == 0x80U) label.pop_back();
    label.pop_back();
  }
  const float line_h = font_size(FontRole::mono_small, ui.scale);
  text_up(ui, FontRole::mono_small, column.x + (column.w - line_h) * 0.5F, y + width(), ui[Color::text],
          label);
}

/// Bracket and id under the keys of one physical block (or under the pads).
void draw_group(Ui& ui, const Strip& strip, const BarGroup& group, float y) {
  const Rect first = strip.bars.column(group.first_bar, strip.plot);
  const Rect last = strip.bars.column(group.end_bar - 1, strip.plot);
  const Rect box{first.x, y, last.right() - first.x, ui.px(18)};
  const bool pad = group.block < 0;
  const Rgb color = pad ? ui[Color::pad] : ui[Color::stroke];
  line(ui, box.x, y, box.right(), y, color, ui.px(2));
  const std::string id = pad ? "PAD" : fmt::format("block {}", group.block);
  const bool roomy = text_width(ui, FontRole::small, id) <= box.w;
  text_in(ui, FontRole::small, box, pad ? ui[Color::pad] : ui[Color::text],
          roomy || pad ? id : std::to_string(group.block), Align::center);
  const bool lit = !pad && (group.block == ui.selection.block || group.block == ui.view.hover.block);
  if (lit)
    outline(ui, box, ui[group.block == ui.selection.block ? Color::selection : Color::accent], ui.px(1));
  if (pad) {
    mark(ui, "weights/pads", box,
         fmt::format("{} zero pads after context_len {}", strip.rows.pads(), strip.rows.k_len),
         "gather_kv pads with zeros up to max context_len");
    return;
  }
  const int logical = strip.bars.first_key(group.first_bar) / strip.block_size;
  const Hit hit = mark(ui, fmt::format("weights/block/{}", logical), box,
                       fmt::format("logical block {} of {} is physical block {}", logical,
                                   seq_letter(strip.rows.seq), group.block),
                       fmt::format("block_tables[{}][{}] I32", strip.rows.batch, logical));
  if (hit.hovered) ui.view.next_hover.block = group.block;
  if (hit.clicked) {
    select(ui, [&](Selection& s) { s.block = group.block; });
  }
}

std::vector<int> blocks_of_keys(const Strip& strip) {
  std::vector<int> blocks(static_cast<std::size_t>(strip.rows.attended), -1);
  for (int k = 0; k < strip.rows.k_len; ++k)
    blocks[static_cast<std::size_t>(k)] = block_of(strip.seq, k, strip.block_size);
  return blocks;
}

}  // namespace

void draw_decode_strip(Ui& ui, const BatchRows& batch) {
  BatchRows rows = batch;
  rows.attended = std::min(rows.attended, ui.frame.attention->max_k);
  rows.k_len = std::min(rows.k_len, rows.attended);
  const float mass_h = mass_bars_height(ui);
  const float blocks_h = ui.px(20);
  const float axis_w = ui.px(40);
  Strip strip{rows, *find_seq(ui.frame.step->seqs, rows.seq),     {}, {},
              1.0F, std::max(1, ui.frame.step->config.block_size)};
  const float plot_x = ui.body.x + axis_w;
  const float plot_w = ui.body.w - axis_w - ui.px(2);
  strip.bars =
      layout_bars(blocks_of_keys(strip), plot_x + ui.px(2), plot_w - ui.px(4), ui.px(4), ui.px(46), ui.px(3));
  const bool tokens = strip.bars.bar_w >= ui.px(12) && ui.body.h - mass_h > ui.px(190);
  const float tokens_h = tokens ? ui.px(56) : 0.0F;
  strip.plot = {plot_x, ui.body.y + ui.px(16), plot_w, ui.body.h - mass_h - blocks_h - tokens_h - ui.px(28)};
  if (strip.plot.h < ui.px(24) || rows.attended <= 0) {
    draw_mass_bars(ui, {ui.body.x, ui.body.bottom() - mass_h, ui.body.w, mass_h});
    return;
  }
  const float peak = largest(*ui.frame.attention, ui.selection.head, rows.q0, 0, rows.attended);
  strip.axis_max = axis_ceiling(peak);
  draw_axis(ui, strip);
  draw_pad_ground(ui, strip);
  const float tokens_y = strip.plot.bottom() + ui.px(3);
  for (int i = 0; i < strip.bars.num_bars(); ++i) {
    draw_bar(ui, strip, i);
    if (tokens_h > 0.0F) draw_token(ui, strip, i, tokens_y, tokens_h);
  }
  for (const BarGroup& group : strip.bars.groups)
    draw_group(ui, strip, group, tokens_y + tokens_h + ui.px(1));
  if (strip.bars.keys_per_bar > 1) {
    text_in(ui, FontRole::small, {strip.plot.x, ui.body.y - ui.px(4), strip.plot.w, ui.px(16)},
            ui[Color::muted], fmt::format("a bar is the largest of {} weights", strip.bars.keys_per_bar),
            Align::right);
  }
  draw_mass_bars(ui, {ui.body.x, ui.body.bottom() - mass_h, ui.body.w, mass_h});
}

}  // namespace attn::viz
