#include "viz/panels/compare.h"

#include <fmt/format.h>

#include <algorithm>

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

/// What the pads of this side took, measured beside the law; nothing where there are no pads.
std::string stolen_text(const WeightsInput& in) {
  const Mass mass = measure_mass(in);
  if (mass.pads.pads <= 0) return "no pads: nothing stolen";
  return fmt::format("{} zero pads took {:.2f} %  \xC2\xB7  P/(Z+P) = {:.2f} %", mass.pads.pads,
                     100.0 * mass.pads.measured, 100.0 * mass.pads.predicted);
}

void draw_side(Ui& ui, const Picked& picked, int side, const Rect& rect) {
  if (ui.view.compare.open_list == side) return draw_choices(ui, picked, side, rect);
  const trace::CompareView& compare = *ui.frame.compare;
  const trace::CompareSide& shown = side == 0 ? compare.a : compare.b;
  const std::string prefix = side == 0 ? "compare/a" : "compare/b";
  const WeightsInput in = weights_input(ui.frame, shown.view, focus_seq(ui.frame, ui.selection),
                                        ui.selection.head, mask_of(ui.frame, shown.variant), prefix);
  if (const std::string note = weights_missing(ui.frame, in); !note.empty()) {
    text_wrapped(ui, FontRole::text, rect, ui[Color::muted], note, Align::left, 4);
    return;
  }
  if (is_prefill(*ui.frame.step)) return draw_weights_matrix(ui, in, ui.view.compare.matrix[side], rect);
  const float foot = ui.px(20);
  draw_decode_strip(ui, in, ui.view.compare.decode[side], {rect.x, rect.y, rect.w, rect.h - foot});
  const Rect line_box{rect.x, rect.bottom() - foot, rect.w, foot};
  const std::string text = stolen_text(in);
  text_in(ui, FontRole::small, line_box, ui[in.rows.pads() > 0 ? Color::warning : Color::muted], text,
          Align::left);
  mark(ui, prefix + "/stolen", line_box, text,
       fmt::format("weights and lse F32 of head {}, {}", in.head, shown.view->kernel));
}

/// Heights of the rows of the panel; what has no room is left out, the pictures last.
void draw_body(Ui& ui, const Picked& picked, const Rect& body) {
  const trace::CompareView& compare = *ui.frame.compare;
  const float gap = ui.px(10);
  const float half = std::floor((body.w - gap) / 2.0F);
  const float wanted = ui.px(26 + 46) + ui.px(16) * static_cast<float>(compare.a.view->num_heads);
  float below = std::clamp(body.h * 0.45F, ui.px(112), std::max(ui.px(150), wanted));
  if (body.h - below < ui.px(120)) below = 0.0F;
  const Rect left{body.x, body.y, half, body.h - below - (below > 0.0F ? gap : 0.0F)};
  draw_side(ui, picked, 0, left);
  draw_side(ui, picked, 1, {left.right() + gap, left.y, half, left.h});
  line(ui, left.right() + gap / 2.0F, left.y, left.right() + gap / 2.0F, left.bottom(), ui[Color::border]);
  if (below <= 0.0F) return;
  const Rect lower{body.x, body.bottom() - below, body.w, below};
  line(ui, lower.x, lower.y - gap / 2.0F, lower.right(), lower.y - gap / 2.0F, ui[Color::border]);
  const float costs_w = std::min(std::max(half, ui.px(330)), lower.w);
  const bool both = lower.w - costs_w - gap >= ui.px(180);
  draw_difference(ui, compare, {lower.x, lower.y, both ? lower.w - costs_w - gap : lower.w, lower.h});
  if (both) draw_compare_costs(ui, compare, {lower.right() - costs_w, lower.y, costs_w, lower.h});
}

/// Nothing is compared yet: begin with what the tour begins with, once for every step that is looked at here.
void begin_comparison(Ui& ui) {
  const bool waiting = ui.frame.compare_note == "loading";
  const auto [a, b] = trace::first_comparison(*ui.frame.step, ui.frame.manifest->model);
  if (!waiting && ui.view.compare.asked_for != ui.frame.index) {
    ui.view.compare.asked_for = ui.frame.index;
    ask_compare(ui, a, b);
  }
  const std::string note = waiting || ui.frame.compare_note.empty()
                               ? "Two ways to compute the same attention, launched on the recorded inputs."
                               : ui.frame.compare_note;
  empty_note(ui, note);
  const std::string label = fmt::format("Compare with {}", trace::variant_text(b, *ui.frame.step));
  const float width = std::min(ui.body.w, text_width(ui, FontRole::text, label) + ui.px(28));
  const Rect box{ui.body.x, ui.body.bottom() - ui.px(30), width, ui.px(28)};
  if (ui.body.h > ui.px(90) && button(ui, "compare/begin", box, label, label)) ask_compare(ui, a, b);
}

}  // namespace

void draw_compare(Ui& ui, const Rect& rect) {
  std::string caption;
  const auto& compare = ui.frame.compare;
  if (compare) {
    caption = fmt::format("layer {}, head {}  \xC2\xB7  {}", compare->layer, ui.selection.head,
                          compare->a.view->device);
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
