#include "viz/panels/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/trace/number_text.h"
#include "viz/lookup.h"
#include "viz/panels/compare_parts.h"
#include "viz/panels/decode_strip.h"
#include "viz/panels/mass_bars.h"
#include "viz/panels/weights_matrix.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// The mask that a side was launched with.
MaskAlignment mask_of(const Frame& frame, const trace::Variant& variant) {
  if (!variant.mask) return mask_in_force(*frame.step);
  if (is_prefill(*frame.step)) return *variant.mask;
  return *variant.mask == MaskAlignment::top_left ? MaskAlignment::top_left : MaskAlignment::none;
}

/// What the pads of a side took, measured beside the law; nothing where there are no pads.
struct Stolen {
  std::string measured;
  std::string law;
};
Stolen stolen_by_pads(const WeightsInput& in) {
  const Mass mass = measure_mass(in);
  if (mass.pads.pads <= 0) return {"no pads: nothing stolen", ""};
  return {fmt::format("{} zero pads took {}", mass.pads.pads, share_text(mass.pads.measured)),
          fmt::format("P/(Z+P) = {}", share_text(mass.pads.predicted))};
}
std::string one_line(const Stolen& stolen) {
  return stolen.law.empty() ? stolen.measured : stolen.measured + "  \xC2\xB7  " + stolen.law;
}

/// Both sides' weights, and what their pictures share so that they can be read across.
struct Sides {
  WeightsInput in[2];
  std::string missing[2];
  StripLook strip;     // decode
  int foot_lines = 1;  // decode
};

Sides sides_of(const Ui& ui, const Rect& picture) {
  Sides out;
  const trace::CompareView& compare = *ui.frame.compare;
  for (int side = 0; side < 2; ++side) {
    const trace::CompareSide& shown = side == 0 ? compare.a : compare.b;
    out.in[side] = weights_input(ui.frame, shown.view, focus_seq(ui.frame, ui.selection), ui.selection.head,
                                 mask_of(ui.frame, shown.variant), side == 0 ? "compare/a" : "compare/b");
    out.missing[side] = weights_missing(ui.frame, out.in[side]);
  }
  if (is_prefill(*ui.frame.step)) return out;
  for (int side = 0; side < 2; ++side) {
    if (!out.missing[side].empty()) continue;
    const std::string text = one_line(stolen_by_pads(out.in[side]));
    if (text_width(ui, FontRole::small, text) > picture.w) out.foot_lines = 2;
  }
  std::optional<StripLook> looks[2];
  for (int side = 0; side < 2; ++side) {
    if (out.missing[side].empty())
      looks[side] = strip_look(ui, out.in[side], ui.view.compare.decode[side], picture);
  }
  if (looks[0] && looks[1]) {
    out.strip = shared_look(*looks[0], *looks[1]);
  } else {
    out.strip = looks[0] ? *looks[0] : looks[1].value_or(StripLook{});
  }
  return out;
}

void draw_stolen(Ui& ui, const Sides& sides, int side, const Rect& rect) {
  const WeightsInput& in = sides.in[side];
  const Stolen stolen = stolen_by_pads(in);
  const Rgb ink = ui[in.rows.pads() > 0 ? Color::warning : Color::muted];
  const float line_h = rect.h / static_cast<float>(sides.foot_lines);
  const bool apart = sides.foot_lines == 2;
  const std::string& upper = apart ? stolen.measured : one_line(stolen);
  text_in(ui, FontRole::small, {rect.x, rect.y, rect.w, line_h}, ink,
          first_fitting(ui, FontRole::small, rect.w, {upper, ""}), Align::left);
  if (apart)
    text_in(ui, FontRole::small, {rect.x, rect.y + line_h, rect.w, line_h}, ink,
            first_fitting(ui, FontRole::small, rect.w, {stolen.law, ""}), Align::left);
  mark(ui, in.prefix + "/stolen", rect, one_line(stolen),
       fmt::format("weights and lse F32 of head {}, {}", in.head, in.view->kernel));
}

constexpr float kLeastPicture = 64.0F;  // px at scale 1

void draw_side(Ui& ui, const Picked& picked, const Sides& sides, int side, const Rect& rect) {
  if (ui.view.compare.open_list == side) return draw_choices(ui, picked, side, rect);
  const WeightsInput& in = sides.in[side];
  if (!sides.missing[side].empty()) {
    text_wrapped(ui, FontRole::text, rect, ui[Color::muted], sides.missing[side], Align::left, 4);
    return;
  }
  if (rect.h < ui.px(kLeastPicture)) return;
  if (is_prefill(*ui.frame.step)) return draw_weights_matrix(ui, in, ui.view.compare.matrix[side], rect);
  const float foot = ui.px(18) * static_cast<float>(sides.foot_lines);
  const Rect strip{rect.x, rect.y, rect.w, rect.h - foot};
  draw_decode_strip(ui, in, ui.view.compare.decode[side], strip, &sides.strip);
  draw_stolen(ui, sides, side, {rect.x, strip.bottom(), rect.w, foot});
}

constexpr float kSentence = 20.0F;  // px at scale 1: what the difference is, in words
constexpr float kBytes = 34.0F;     // the first row of costs
constexpr float kGrid = 104.0F;     // sentence and a grid of differences
constexpr float kPicture = 130.0F;  // one side

/// Height of the first row of costs; of which rows they are must be said where not all were compared.
float least_costs(const Ui& ui, const trace::CompareView& compare) {
  return ui.px(kBytes) + (compare.whole() ? 0.0F : ui.px(kCostRows));
}

/// Height of difference and costs: they always say the least, the pictures shrink for it.
float lower_height(const Ui& ui, const trace::CompareView& compare, float height) {
  const float wanted = ui.px(26 + 46) + ui.px(16) * static_cast<float>(compare.a.view->num_heads);
  const float full = std::clamp(height * 0.45F, ui.px(112), std::max(ui.px(150), wanted));
  const float least = std::min(height, ui.px(kSentence) + ui.px(4) + least_costs(ui, compare));
  return std::clamp(height - ui.px(kPicture), least, std::max(least, full));
}

/// Beside each other where there is room, else above each other: in words and bytes where it is low.
void draw_lower(Ui& ui, const trace::CompareView& compare, const Rect& rect, float half) {
  const float gap = ui.px(10);
  const float costs_w = std::min(std::max(half, ui.px(330)), rect.w);
  if (rect.h >= ui.px(kGrid) && rect.w - costs_w - gap >= ui.px(180)) {
    draw_difference(ui, compare, {rect.x, rect.y, rect.w - costs_w - gap, rect.h});
    draw_compare_costs(ui, compare, {rect.right() - costs_w, rect.y, costs_w, rect.h});
    return;
  }
  const float costs_h = least_costs(ui, compare);
  const bool with_grid = rect.h >= ui.px(kGrid) + ui.px(4) + costs_h;
  const float above = with_grid ? rect.h - ui.px(4) - costs_h : ui.px(kSentence);
  draw_difference(ui, compare, {rect.x, rect.y, rect.w, above});
  const float costs_y = rect.y + above + ui.px(4);
  draw_compare_costs(ui, compare, {rect.x, costs_y, rect.w, rect.bottom() - costs_y});
}

void draw_body(Ui& ui, const Picked& picked, const Rect& body) {
  const trace::CompareView& compare = *ui.frame.compare;
  const float gap = ui.px(10);
  const float half = std::floor((body.w - gap) / 2.0F);
  const float below = std::round(lower_height(ui, compare, body.h));
  const Rect left{body.x, body.y, half, std::max(0.0F, body.h - below - gap)};
  const Sides sides = sides_of(ui, left);
  draw_side(ui, picked, sides, 0, left);
  draw_side(ui, picked, sides, 1, {left.right() + gap, left.y, half, left.h});
  line(ui, left.right() + gap / 2.0F, left.y, left.right() + gap / 2.0F, left.bottom(), ui[Color::border]);
  const Rect lower{body.x, body.bottom() - below, body.w, below};
  line(ui, lower.x, lower.y - gap / 2.0F, lower.right(), lower.y - gap / 2.0F, ui[Color::border]);
  draw_lower(ui, compare, lower, half);
}

/// "queries 576 to 639 of 700 of A  -  " where the batch is too large to compare at once, else nothing.
std::string compared_rows_text(const Frame& frame, const trace::CompareView& compare) {
  if (!compare.a.view || compare.whole()) return "";
  const trace::AttentionView& view = *compare.a.view;
  const trace::StepRecord& step = *frame.step;
  if (!is_prefill(step)) return fmt::format("{} of {} sequences  \xC2\xB7  ", view.num_q, compare.rows);
  const auto next = std::upper_bound(step.cu_seqlens_q.begin(), step.cu_seqlens_q.end(), view.first_row);
  const auto b = static_cast<std::size_t>(next - step.cu_seqlens_q.begin()) - 1;
  const int first = view.first_row - step.cu_seqlens_q[b];
  return fmt::format("queries {} to {} of {}  \xC2\xB7  ", first, first + view.num_q - 1,
                     b < step.seqs.size() ? seq_letter(step.seqs[b].id) : "?");
}

/// Nothing is compared yet: begin with what the tour begins with, once for every step that is looked at here.
void begin_comparison(Ui& ui) {
  const bool waiting = ui.frame.compare_note == "loading";
  const auto [a, b] = trace::first_comparison(*ui.frame.step, ui.frame.manifest->model, ui.frame.traits);
  if (!waiting && ui.view.compare.asked_for != ui.frame.index) {
    ui.view.compare.asked_for = ui.frame.index;
    ask_compare(ui, a, b);
  }
  const std::string note = waiting || ui.frame.compare_note.empty()
                               ? "Two ways to compute the same attention, launched on the recorded inputs."
                               : ui.frame.compare_note;
  empty_note(ui, note);
  const std::string label = fmt::format(
      "Compare with {}", trace::variant_text(b, *ui.frame.step, ui.frame.manifest->model, ui.frame.traits));
  const float width = std::min(ui.body.w, text_width(ui, FontRole::text, label) + ui.px(28));
  const Rect box{ui.body.x, ui.body.bottom() - ui.px(30), width, ui.px(28)};
  if (ui.body.h > ui.px(90) && button(ui, "compare/begin", box, label, label)) ask_compare(ui, a, b);
}

}  // namespace

void draw_compare(Ui& ui, const Rect& rect) {
  std::string caption;
  const auto& compare = ui.frame.compare;
  if (compare) {
    caption = fmt::format("{}layer {}, head {}  \xC2\xB7  {}", compared_rows_text(ui.frame, *compare),
                          compare->layer, ui.selection.head, compare->a.view->device);
  }
  if (!begin_panel(ui, "compare", rect, "A beside B, on the same inputs", caption)) return;
  if (!ui.frame.step || !ui.frame.manifest) {
    empty_note(ui, "Two ways to compute the same attention appear here side by side.");
  } else if (!compare || !compare->a.view || !compare->b.view) {
    begin_comparison(ui);
  } else {
    const Picked picked(ui.frame, ui.view);
    const float gap = ui.px(10), pick_h = ui.px(26);
    const float half = std::floor((ui.body.w - gap) / 2.0F);
    draw_pick(ui, picked, 0, {ui.body.x, ui.body.y, half, pick_h});
    draw_pick(ui, picked, 1, {ui.body.x + half + gap, ui.body.y, half, pick_h});
    const float top = pick_h + ui.px(8);
    draw_body(ui, picked, {ui.body.x, ui.body.y + top, ui.body.w, ui.body.h - top});
  }
  end_panel(ui);
}

}  // namespace attn::viz
