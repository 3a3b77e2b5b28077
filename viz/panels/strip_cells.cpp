#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/lookup.h"
#include "viz/panels/strip_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kCellWithText = 14.0F;  // px at scale 1

/// The part of key cell `t` that a text may take: the notch is in the first.
Rect text_box(const Ui& ui, const Strip& strip, const Rect& k_bar, int t) {
  const float w = strip.layout.px_per_token;
  const float inset = ui.px(t == 0 ? 5 : 2);
  return {std::round(k_bar.x + static_cast<float>(t) * w) + inset, k_bar.y, w - inset - ui.px(2), k_bar.h};
}

/// Calls f(cell, token id) for the keys of all sequences until it returns false; whether it never did.
template <class F>
bool all_keys(const Ui& ui, const Strip& strip, F f) {
  for (const StripSegment& s : strip.layout.segments) {
    const trace::SeqState& seq = ui.frame.step->seqs[static_cast<std::size_t>(s.batch)];
    const int keys = std::min(s.k1 - s.k0, static_cast<int>(seq.token_ids.size()));
    for (int t = 0; t < keys; ++t) {
      if (!f(t, seq.token_ids[static_cast<std::size_t>(t)])) return false;
    }
  }
  return true;
}

void draw_token(const Ui& ui, const Strip& strip, const Rect& box, Rgb ink, std::int32_t id) {
  const std::string text = strip.cells == CellText::ids ? std::to_string(id) : token_label(ui.frame, id);
  // Where a few letters have no room, a text is whole or its place is marked: the hover card has it.
  const bool letters = text_width(ui, FontRole::mono_small, "0000") <= box.w;
  const std::string_view shown = letters
                                     ? std::string_view(text)
                                     : first_fitting(ui, FontRole::mono_small, box.w, {text, "\xE2\x80\xA6"});
  text_in(ui, FontRole::mono_small, box, ink, shown, Align::center);
}

}  // namespace

CellText cell_text_of(const Ui& ui, const Strip& strip) {
  if (strip.layout.px_per_token < ui.px(kCellWithText)) return CellText::none;
  std::int32_t largest = -1;
  all_keys(ui, strip, [&](int, std::int32_t id) {
    largest = std::max(largest, id);
    return true;
  });
  if (largest < 0) return CellText::none;
  const auto fits = [&](int cell, std::string_view text) {
    return text_width(ui, FontRole::mono_small, text) <= text_box(ui, strip, {}, cell).w;
  };
  const bool texts = fits(1, "0000") || all_keys(ui, strip, [&](int cell, std::int32_t id) {
                       return fits(cell, token_label(ui.frame, id));
                     });
  return !texts && fits(0, std::to_string(largest)) ? CellText::ids : CellText::texts;
}

void draw_strip_cells(const Ui& ui, const Strip& strip, const StripSegment& s) {
  const float w = strip.layout.px_per_token;
  const trace::SeqState& seq = ui.frame.step->seqs[static_cast<std::size_t>(s.batch)];
  const Rect k_bar = strip.k_bar(s);
  const Rect q_bar = strip.q_bar(s);
  const int first = std::max(0, static_cast<int>((strip.area.x - s.k_x0) / w));
  const int last = std::min(s.k1 - s.k0, static_cast<int>((strip.area.right() - s.k_x0) / w) + 1);
  const Rgb on_hue = on_hue_of(ui, seq.id);
  for (int t = first; t < last; ++t) {
    const float x = std::round(k_bar.x + static_cast<float>(t) * w);
    if (t > 0) line(ui, x, k_bar.y, x, k_bar.bottom(), ui[Color::panel], 1.0F);
    const auto at = static_cast<std::size_t>(t);
    if (at >= seq.token_ids.size() || strip.cells == CellText::none) continue;
    draw_token(ui, strip, text_box(ui, strip, k_bar, t), t < s.cached() ? ui[Color::text] : on_hue,
               seq.token_ids[at]);
  }
  for (int r = 0; r < s.q1 - s.q0; ++r) {
    const float x = std::round(q_bar.x + static_cast<float>(r) * w);
    if (x + w < strip.area.x || x > strip.area.right()) continue;
    if (r > 0) line(ui, x, q_bar.y, x, q_bar.bottom(), ui[Color::panel], 1.0F);
    const auto packed = static_cast<std::size_t>(s.q0 + r);
    if (packed >= ui.frame.step->positions.size()) continue;
    const std::string position = std::to_string(ui.frame.step->positions[packed]);
    if (text_width(ui, FontRole::mono_small, position) + ui.px(3) <= w)
      text_in(ui, FontRole::mono_small, {x, q_bar.y, w, q_bar.h}, on_hue, position, Align::center);
  }
}

std::string strip_token_text(const Frame& frame, std::int32_t id) {
  const std::string label = token_label(frame, id);
  return label == fmt::format("#{}", id) ? fmt::format("token id {}", id)
                                         : fmt::format("token {}, id {}", label, id);
}

}  // namespace attn::viz
