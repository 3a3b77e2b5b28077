#include "viz/panels/decode_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/panels/decode_parts.h"
#include "viz/panels/mass_bars.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {
namespace {

/// 1, 2 or 5 times a power of ten, at least `value`: the axis changes rarely while stepping.
float axis_ceiling(float value) {
  if (!(value > 0.0F)) return 1.0F;
  const float power = std::pow(10.0F, std::floor(std::log10(value)));
  for (const float factor : {1.0F, 2.0F, 5.0F}) {
    if (value <= power * factor) return std::min(1.0F, power * factor);
  }
  return std::min(1.0F, power * 10.0F);
}

/// Of keys [from, to): the largest weight; NaN: the kernel looked at none; +Inf: one is NaN or infinite.
float largest(const WeightsInput& in, int from, int to) {
  float out = NAN;
  const int looked = in.part().looked(0);
  for (int k = from; k < std::min(to, looked); ++k) {
    const float weight = in.view->weight(in.head, in.rows.q0, k);
    if (!std::isfinite(weight)) return INFINITY;
    if (!(out >= weight)) out = weight;
  }
  return out;
}

float height_of(const Ui& ui, const DecodeStrip& strip, float weight) {
  const WeightScale scale = ui.view.weight_scale;
  const float t = scale == WeightScale::rank    ? strip.view.ranks.rank(weight)
                  : scale == WeightScale::log10 ? weight_position(weight, true)
                                                : weight / strip.look.axis_max;
  return std::round(std::clamp(t, 0.0F, 1.0F) * strip.plot.h);
}

void draw_axis(Ui& ui, const DecodeStrip& strip, const Rect& left) {
  const WeightScale scale = ui.view.weight_scale;
  const bool middle = strip.plot.h >= 2.2F * font_pixels(FontRole::mono_small);
  for (int i = 0; i <= 2; ++i) {
    if (i == 1 && !middle) continue;
    const float t = static_cast<float>(i) * 0.5F;
    const float y = strip.plot.bottom() - strip.plot.h * t;
    line(ui, strip.plot.x, y, strip.plot.right(), y, ui[i == 0 ? Color::stroke : Color::border]);
    std::string text = fmt::format("{:.3g}", num(strip.look.axis_max * t));
    if (scale == WeightScale::log10) text = i == 0 ? "1e-6" : i == 1 ? "1e-3" : "1";
    if (scale == WeightScale::rank) text = fmt::format("{:.0f}%", 100.0F * t);
    text_in(ui, FontRole::mono_small, {left.x, y - ui.px(7), left.w - ui.px(5), ui.px(14)}, ui[Color::muted],
            text, Align::right);
  }
}

Rect ground_of(const DecodeStrip& strip, const BarGroup& group) {
  const Rect first = strip.bars.column(group.first_bar, strip.plot);
  const Rect last = strip.bars.column(group.end_bar - 1, strip.plot);
  return {first.x, first.y, last.right() - first.x, first.h};
}

/// Pads are hatched over the whole height: there is nothing in them, and yet they are attended.
void draw_pad_ground(Ui& ui, const DecodeStrip& strip) {
  for (const BarGroup& group : strip.bars.groups) {
    if (group.block < 0)
      cross_hatch(ui, ground_of(strip, group), mix(ui[Color::panel], ui[Color::pad], 0.45), ui.px(9));
  }
}

/// What the pads take in all, over their bars.
void draw_pad_share(Ui& ui, const DecodeStrip& strip) {
  for (const BarGroup& group : strip.bars.groups) {
    if (group.block >= 0) continue;
    const Rect ground = ground_of(strip, group);
    const Mass mass = measure_mass(strip.in);
    std::string text = fmt::format("{} pads take {}", mass.pads.pads, share_text(mass.pads.measured));
    if (text_width(ui, FontRole::strong, text) + ui.px(14) > ground.w) text = share_text(mass.pads.measured);
    const float w = text_width(ui, FontRole::strong, text) + ui.px(14);
    if (w > ground.w || ground.h < ui.px(60)) continue;
    const Rect label{std::round(ground.x + (ground.w - w) * 0.5F), std::round(ground.y + ground.h * 0.4F), w,
                     ui.px(24)};
    fill(ui, label, ui[Color::panel], 1.0F, ui.px(3));
    text_in(ui, FontRole::strong, label, ui[Color::warning], text, Align::center);
  }
}

/// All keys of a block light up when it is hovered in the pool, and when it is the selected one.
void draw_block_ground(Ui& ui, const DecodeStrip& strip) {
  for (const BarGroup& group : strip.bars.groups) {
    const bool hovered = group.block >= 0 && group.block == ui.view.hover.block;
    const bool selected = group.block >= 0 && group.block == ui.selection.block;
    if (!hovered && !selected) continue;
    const Rect ground = ground_of(strip, group);
    fill(ui, {ground.x - 1.0F, ground.y, ground.w + 2.0F, ground.h},
         ui[hovered ? Color::accent : Color::selection], hovered ? 0.22F : 0.12F);
  }
}

std::string key_text(const Ui& ui, const DecodeStrip& strip, int k, float weight) {
  if (k >= strip.in.rows.k_len) return fmt::format("key {}: zero pad, weight {:.6f}", k, num(weight));
  const std::string token = static_cast<std::size_t>(k) < strip.seq.token_ids.size()
                                ? token_label(ui.frame, strip.seq.token_ids[static_cast<std::size_t>(k)])
                                : "?";
  if (k >= strip.in.part().looked(0))
    return fmt::format("key {} ({}): masked, the kernel does not look", k, token);
  return fmt::format("key {} ({}): weight {:.6f}", k, token, num(weight));
}

std::string bar_text(const Ui& ui, const DecodeStrip& strip, int index) {
  const int k = strip.first_key(index);
  const int end = strip.end_key(index);
  if (end - k == 1) return key_text(ui, strip, k, strip.in.view->weight(strip.in.head, strip.in.rows.q0, k));
  const float weight = largest(strip.in, k, end);
  if (std::isinf(weight)) return fmt::format("keys {} to {}: a weight is NaN or infinite", k, end - 1);
  if (std::isnan(weight)) return fmt::format("keys {} to {}: masked, the kernel does not look", k, end - 1);
  return fmt::format("keys {} to {}: largest weight {:.6f}", k, end - 1, num(weight));
}

/// Weight above a bar, with as many digits as all have; a weight of which they would show nothing has its
/// number in the tooltip only.
void draw_number(Ui& ui, const DecodeStrip& strip, const Rect& bar, float weight) {
  const std::string number = fmt::format("{:.{}f}", num(weight), strip.look.decimals);
  const std::string_view text = number.starts_with("0.") ? std::string_view(number).substr(1) : number;
  if (text.find_first_not_of(".0") == std::string_view::npos) return;
  const float h = font_pixels(FontRole::mono_small) + ui.px(2);
  const float w = std::max(bar.w, text_width(ui, FontRole::mono_small, text) + 1.0F);
  const float least = w > bar.w ? strip.plot.x + ui.px(6) : strip.plot.x;  // apart from the axis' numbers
  const float x = std::clamp(bar.x + (bar.w - w) * 0.5F, least, std::max(least, strip.plot.right() - w));
  const float y = std::max(strip.plot.y - h, bar.y - h);
  text_in(ui, FontRole::mono_small, {x, y, w, h}, ui[Color::text], text, Align::center);
}

/// The highest bar of a key, -1 where none has a finite weight.
int highest_bar(const DecodeStrip& strip) {
  int highest = -1;
  float most = 0.0F;
  for (int i = 0; i < strip.bars.num_bars() && strip.first_key(i) < strip.in.rows.k_len; ++i) {
    const float weight = largest(strip.in, strip.first_key(i), strip.end_key(i));
    if (!std::isfinite(weight) || weight <= most) continue;
    most = weight;
    highest = i;
  }
  return highest;
}

void draw_bar(Ui& ui, const DecodeStrip& strip, int index, bool numbered) {
  const int k = strip.first_key(index);
  const int end = strip.end_key(index);
  const Rect column = strip.bars.column(index, strip.plot);
  const float weight = largest(strip.in, k, end);
  const bool pad = k >= strip.in.rows.k_len;
  if (std::isnan(weight)) {
    hatch(ui, column, ui[Color::masked], ui.px(6));
  } else if (std::isinf(weight)) {
    fill(ui, column, ui[Color::error]);
    if (column.w >= ui.px(22))
      text_in(ui, FontRole::mono_small, {column.x, column.bottom() - ui.px(18), column.w, ui.px(14)},
              ink_on(ui[Color::error]), "bad", Align::center);
  } else {
    const float h = std::max(1.0F, height_of(ui, strip, weight));
    const Rect bar{column.x, column.bottom() - h, column.w, h};
    fill(ui, bar, pad ? ui[Color::pad] : h <= 1.0F ? ui[Color::stroke] : hue_of(ui, strip.in.rows.seq));
    if (!pad && numbered) draw_number(ui, strip, bar, weight);
  }
  const bool hovered_elsewhere =
      ui.view.hover.seq == strip.in.rows.seq && ui.view.hover.k_col >= k && ui.view.hover.k_col < end;
  const bool selected = ui.selection.k_col >= k && ui.selection.k_col < end;
  if (selected || hovered_elsewhere)
    outline(ui, {column.x - 1.0F, column.y, column.w + 2.0F, column.h},
            ui[selected ? Color::selection : Color::accent], ui.px(1));
}

/// "weights/key/12": the bar that holds key 12, made on demand.
void add_key_family(Ui& ui, const DecodeStrip& strip) {
  std::vector<Mark> bars;
  if (strip.bars.num_bars() <= kMaxHeatCells) {  // few: their texts are cheap, and complete
    for (int i = 0; i < strip.bars.num_bars(); ++i)
      ui.marks.add(fmt::format("{}/key/{}", strip.in.prefix, strip.first_key(i)),
                   visible_part(ui, strip.bars.column(i, strip.plot)), bar_text(ui, strip, i),
                   weight_source(*strip.in.view, strip.in.head, strip.in.rows.q0, strip.first_key(i)));
    return;
  }
  ui.marks.add_family(strip.in.prefix + "/key/",
                      [in = strip.in, bars_at = strip.bars, from = strip.keys.from,
                       plot = strip.plot](std::string_view rest) -> std::optional<Mark> {
                        int key = -1;
                        if (std::from_chars(rest.data(), rest.data() + rest.size(), key).ec != std::errc{})
                          return std::nullopt;
                        for (int i = 0; i < bars_at.num_bars(); ++i) {
                          const int first = from + bars_at.first_key(i);
                          const int end = from + bars_at.end_key(i);
                          if (key < first || key >= end) continue;
                          return Mark{fmt::format("{}/key/{}", in.prefix, key), bars_at.column(i, plot),
                                      fmt::format("keys {} to {}: largest weight {:.6f}", first, end - 1,
                                                  num(largest(in, first, end))),
                                      weight_source(*in.view, in.head, in.rows.q0, key)};
                        }
                        return std::nullopt;
                      });
}

void touch_bars(Ui& ui, const DecodeStrip& strip, bool dragged) {
  if (dragged || !touch(ui, strip.plot).hovered) return;
  const float mouse_x = ImGui::GetIO().MousePos.x;
  for (int i = 0; i < strip.bars.num_bars(); ++i) {
    const Rect column = strip.bars.column(i, strip.plot);
    if (mouse_x < column.x || mouse_x >= column.right() + 1.0F) continue;
    const int k = strip.first_key(i);
    const int block = k < strip.in.rows.k_len ? block_of(strip.seq, k, strip.block_size) : -1;
    std::string text = bar_text(ui, strip, i);
    if (block >= 0) text += fmt::format(", in block {}", block);
    tooltip(ui, text, weight_source(*strip.in.view, strip.in.head, strip.in.rows.q0, k));
    ui.view.next_hover.seq = strip.in.rows.seq;
    ui.view.next_hover.q_row = 0;
    ui.view.next_hover.k_col = k;
    ui.view.next_hover.block = block;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      select(ui, [&](Selection& s) {
        s.seq = strip.in.rows.seq;
        s.q_row = 0;
        s.k_col = k;
        s.block = block;
      });
    }
    return;
  }
}

std::vector<int> blocks_of_keys(const DecodeStrip& strip) {
  std::vector<int> blocks(static_cast<std::size_t>(strip.keys.size()), -1);
  for (int k = strip.keys.from; k < std::min(strip.keys.to, strip.in.rows.k_len); ++k)
    blocks[static_cast<std::size_t>(k - strip.keys.from)] = block_of(strip.seq, k, strip.block_size);
  return blocks;
}

constexpr float kAxis = 40.0F;  // px at scale 1, left of the bars

void lay_out_bars(const Ui& ui, DecodeStrip& strip, const Rect& rect) {
  strip.bars = layout_bars(blocks_of_keys(strip), rect.x + ui.px(kAxis) + ui.px(2),
                           rect.w - ui.px(kAxis) - ui.px(6), ui.px(4), ui.px(64), ui.px(3));
}

StripLook look_of(const Ui& ui, const DecodeStrip& strip, const Rect& rect) {
  StripLook look;
  const bool tokens = strip.bars.keys_per_bar == 1 && strip.bars.bar_w >= font_pixels(FontRole::mono_small) &&
                      rect.h > ui.px(170);
  if (tokens) look.tokens_h = decode_tokens_height(ui, strip, std::min(ui.px(92), rect.h * 0.25F));
  const float peak = largest(strip.in, 0, strip.in.rows.attended);
  if (std::isfinite(peak)) look.axis_max = axis_ceiling(peak);
  const auto fits = [&](std::string_view text) {
    return text_width(ui, FontRole::mono_small, text) <= strip.bars.bar_w - 1.0F;
  };
  look.every = fits(".00");
  look.decimals = look.every && !fits(".000") ? 2 : 3;
  return look;
}

}  // namespace

StripLook strip_look(const Ui& ui, const WeightsInput& input, DecodeView& view, const Rect& rect) {
  const trace::SeqState* seq = find_seq(ui.frame.step->seqs, input.rows.seq);
  if (seq == nullptr || rect.w < ui.px(kAxis) + ui.px(60)) return {};
  DecodeStrip strip{input, view, *seq, shown_span(view.keys, input.rows.attended),
                    {},    {},   {},   std::max(1, ui.frame.step->config.block_size)};
  lay_out_bars(ui, strip, rect);
  return look_of(ui, strip, rect);
}

StripLook shared_look(const StripLook& a, const StripLook& b) {
  const bool tokens = a.tokens_h > 0.0F && b.tokens_h > 0.0F;
  const bool every = a.every && b.every;
  return {tokens ? std::max(a.tokens_h, b.tokens_h) : 0.0F, std::max(a.axis_max, b.axis_max),
          every ? std::min(a.decimals, b.decimals) : 3, every};
}

void draw_decode_strip(Ui& ui, const WeightsInput& input, DecodeView& view, const Rect& rect,
                       const StripLook* shared) {
  const trace::SeqState* seq = find_seq(ui.frame.step->seqs, input.rows.seq);
  const float axis_w = ui.px(kAxis);
  const float top_h = rect.h >= ui.px(110) ? ui.px(24) : 0.0F;
  const float blocks_h = ui.px(20);
  if (seq == nullptr || rect.h < top_h + blocks_h + ui.px(38) || rect.w < axis_w + ui.px(60)) return;
  DecodeStrip strip{input, view, *seq, shown_span(view.keys, input.rows.attended),
                    {},    {},   {},   std::max(1, ui.frame.step->config.block_size)};
  if (ui.view.weight_scale == WeightScale::rank && !view.ranks.built_from(input.view, input.part()))
    view.ranks.build(input.view, input.part());
  lay_out_bars(ui, strip, rect);
  strip.look = shared != nullptr ? *shared : look_of(ui, strip, rect);
  const StripLook& look = strip.look;
  const float head_room = font_pixels(FontRole::mono_small) + ui.px(6);  // numbers above full bars
  strip.plot = {rect.x + axis_w, rect.y + top_h + head_room, rect.w - axis_w - ui.px(2),
                rect.h - top_h - head_room - blocks_h - look.tokens_h - ui.px(6)};
  keep_whole(ui, {rect.x, strip.plot.y, rect.w, rect.bottom() - strip.plot.y}, input.prefix + "/bars");
  if (top_h > 0.0F) draw_decode_top(ui, strip, {rect.x, rect.y, rect.w, top_h});
  draw_axis(ui, strip, {rect.x, rect.y, axis_w, rect.h});
  draw_block_ground(ui, strip);
  draw_pad_ground(ui, strip);
  const float tokens_y = strip.plot.bottom() + ui.px(3);
  const int highest = highest_bar(strip);
  for (int i = 0; i < strip.bars.num_bars(); ++i) {
    draw_bar(ui, strip, i, look.every || i == highest);
    if (look.tokens_h > 0.0F) draw_decode_token(ui, strip, i, tokens_y, look.tokens_h);
  }
  draw_pad_share(ui, strip);
  for (const BarGroup& group : strip.bars.groups)
    draw_decode_group(ui, strip, group, tokens_y + look.tokens_h + ui.px(1));
  draw_block_ids(ui, strip, tokens_y + look.tokens_h + ui.px(1));
  add_key_family(ui, strip);
  const ZoomAxes axes{&view.keys, nullptr, std::min(1.0, 8.0 / std::max(1, input.rows.attended)), 1.0};
  touch_bars(ui, strip, zoom_by_mouse(ui, strip.plot, axes));
}

}  // namespace attn::viz
