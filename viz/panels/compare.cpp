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
#include "viz/widgets/tall_body.h"

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

void draw_side(Ui& ui, const Picked& picked, const Sides& sides, int side, const Rect& rect) {
  if (ui.view.compare.open_list == side) return draw_choices(ui, picked, side, rect);
  const WeightsInput& in = sides.in[side];
  if (!sides.missing[side].empty()) {
    text_wrapped(ui, FontRole::text, rect, ui[Color::muted], sides.missing[side], Align::left, 4);
    return;
  }
  if (is_prefill(*ui.frame.step)) return draw_weights_matrix(ui, in, ui.view.compare.matrix[side], rect);
  const float foot = ui.px(18) * static_cast<float>(sides.foot_lines);
  const Rect strip{rect.x, rect.y, rect.w, rect.h - foot};
  draw_decode_strip(ui, in, ui.view.compare.decode[side], strip, &sides.strip);
  draw_stolen(ui, sides, side, {rect.x, strip.bottom(), rect.w, foot});
}

constexpr float kLeastPicture = 150.0F;    // px at scale 1: one side
constexpr float kLowPicture = 104.0F;      // ... where else what it differs by would be out of sight
constexpr float kScrolledPicture = 96.0F;  // ... where it is all that is seen at once
constexpr float kBarsGap = 10.0F;
constexpr float kSummary = 22.0F;
constexpr float kLargeCell = 13.0F;  // px at scale 1: a row of the difference
constexpr float kSmallCell = 6.0F;

/// Heights of what is drawn.
struct PartHeights {
  CompareLower lower;
  float picture_h = 0.0F;
  bool summary = false;  // in a line of its own: the difference and the bytes are seen only when scrolled to
};

/// Pictures, difference and bytes in sight at once, and the details too where that leaves the pictures their
/// height; the rows of the difference get lower before something is left to be scrolled to.
PartHeights part_heights(const Ui& ui, const trace::CompareView& compare) {
  const float width = ui.body.w - ui.px(5);  // the same with a scroll bar
  const float gap = ui.px(kBarsGap), seen = ui.body.h;
  const auto lower = [&](float cell) { return compare_lower(ui, compare, width, cell, seen); };
  for (float cell = kLargeCell; cell >= kSmallCell; cell -= 1.0F) {
    const CompareLower all = lower(cell);
    if (seen - gap - all.all_h >= ui.px(kLeastPicture)) return {all, seen - gap - all.all_h, false};
  }
  const float more = fold_note_height(ui) + gap;  // what tells of the details
  for (const float least : {kLeastPicture, kLowPicture}) {
    for (float cell = kLargeCell; cell >= kSmallCell; cell -= 1.0F) {
      const CompareLower core = lower(cell);
      const float picture_h = seen - gap - core.core_h - more;
      if (picture_h >= ui.px(least)) return {core, picture_h, false};
    }
  }
  const float below_summary = seen - ui.px(kSummary + 4);
  const float at_once = below_summary - more;
  float cell = kLargeCell;
  CompareLower scrolled = compare_lower(ui, compare, width, cell, at_once);
  for (; scrolled.diff_h > at_once && cell > kSmallCell; cell -= 1.0F)
    scrolled = compare_lower(ui, compare, width, cell - 1.0F, at_once);
  return {scrolled, std::max(at_once, ui.px(kScrolledPicture)), true};
}

/// What matters of what a low panel shows only when scrolled: the difference, and the bytes.
void draw_summary(Ui& ui, const trace::CompareView& compare, const Rect& rect) {
  const std::string ratio = bytes_ratio_text(compare);
  const float ratio_w = text_width(ui, FontRole::strong, ratio) + ui.px(2);
  const Rect right{rect.right() - ratio_w, rect.y, ratio_w, rect.h};
  text_in(ui, FontRole::strong, right, ui[Color::text], ratio, Align::right);
  if (!ratio.empty()) mark(ui, "compare/cost/bytes/ratio", right, ratio, cost_rows_text(compare));
  draw_difference_text(ui, compare, {rect.x, rect.y, rect.w - ratio_w - ui.px(12), rect.h});
}

void draw_body(Ui& ui, const Picked& picked) {
  const trace::CompareView& compare = *ui.frame.compare;
  const float gap = ui.px(kBarsGap);
  const PartHeights parts = part_heights(ui, compare);
  if (parts.summary) {
    draw_summary(ui, compare, {ui.body.x, ui.body.y, ui.body.w, ui.px(kSummary)});
    ui.body.y += ui.px(kSummary + 4);
    ui.body.h -= ui.px(kSummary + 4);
  }
  const float picture_h = std::floor(parts.picture_h);
  const TallBody tall(ui, "compare/parts", picture_h + gap + parts.lower.all_h);
  const Rect body = ui.body;
  const float half = std::floor((body.w - gap) / 2.0F);
  const Rect left{body.x, body.y, half, picture_h};
  const Sides sides = sides_of(ui, left);
  draw_side(ui, picked, sides, 0, left);
  draw_side(ui, picked, sides, 1, {left.right() + gap, left.y, half, left.h});
  line(ui, left.right() + gap / 2.0F, left.y, left.right() + gap / 2.0F, left.bottom(), ui[Color::border]);
  const Rect below{body.x, left.bottom() + gap, body.w, body.bottom() - left.bottom() - gap};
  line(ui, below.x, below.y - gap / 2.0F, below.right(), below.y - gap / 2.0F, ui[Color::border]);
  draw_compare_lower(ui, compare, parts.lower, below);
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

constexpr float kPickHeight = 26.0F;  // px at scale 1

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
  const std::string label = fmt::format(
      "Compare with {}", trace::variant_text(b, *ui.frame.step, ui.frame.manifest->model, ui.frame.traits));
  const float width = std::min(ui.body.w, text_width(ui, FontRole::strong, label) + ui.px(28));
  // Where the two sides are picked once they are there.
  const Rect box{ui.body.x, ui.body.y, width, ui.px(kPickHeight)};
  if (ui.body.h > ui.px(90)) {
    if (button(ui, "compare/begin", box, label, label)) ask_compare(ui, a, b);
    ui.body.y += box.h + ui.px(8);
    ui.body.h -= box.h + ui.px(8);
  }
  empty_note(ui, note);
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
    const float gap = ui.px(10), pick_h = ui.px(kPickHeight);
    const float half = std::floor((ui.body.w - gap) / 2.0F);
    draw_pick(ui, picked, 0, {ui.body.x, ui.body.y, half, pick_h});
    draw_pick(ui, picked, 1, {ui.body.x + half + gap, ui.body.y, half, pick_h});
    const float top = pick_h + ui.px(8);
    ui.body = {ui.body.x, ui.body.y + top, ui.body.w, ui.body.h - top};
    draw_body(ui, picked);
  }
  end_panel(ui);
}

}  // namespace attn::viz
