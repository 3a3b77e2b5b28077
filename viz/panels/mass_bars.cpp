#include "viz/panels/mass_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kBarRow = 24.0F;
constexpr float kBarHeading = 22.0F;
constexpr double kLeastShare = 0.00005;  // 0.01 % once rounded

/// Few rows where the panel is low: the bars above need the room more.
int max_rows(const Ui& ui, float panel_height) {
  return panel_height < ui.px(260) ? 1 : panel_height < ui.px(330) ? 2 : 4;
}

/// Where the two numbers of a row stand; the heading uses the same columns.
struct MassColumns {
  Rect measured;
  Rect predicted;
};
MassColumns columns_of(const Ui& ui, const Rect& row) {
  const float w = ui.px(76);
  return {{row.right() - 2.0F * w - ui.px(10), row.y, w, row.h}, {row.right() - w, row.y, w, row.h}};
}

/// The bar of 100 %: real mass, then what the pads took.
void draw_bar(const Ui& ui, const Rect& bar, const Mass& mass, int seq) {
  const double total = mass.real + mass.pads.measured;
  if (!std::isfinite(total)) {
    fill(ui, bar, ui[Color::error]);
    text_in(ui, FontRole::small, bar, ink_on(ui[Color::error]), "NaN or infinite weights", Align::center);
    return;
  }
  const float split = total > 0.0 ? std::round(bar.w * static_cast<float>(mass.real / total)) : bar.w;
  const Rect real{bar.x, bar.y, split, bar.h};
  const Rect stolen{bar.x + split, bar.y, bar.w - split, bar.h};
  fill(ui, real, hue_of(ui, seq));
  if (stolen.w > 0.5F) cross_hatch(ui, stolen, ui[Color::pad], ui.px(5));
  outline(ui, bar, ui[Color::stroke]);
  const std::string text = fmt::format("real {}", real_text(mass));
  if (real.w > text_width(ui, FontRole::small, text) + ui.px(10))
    text_in(ui, FontRole::small, real, on_hue_of(ui, seq), text, Align::center);
}

void draw_row(Ui& ui, const WeightsInput& in, const Rect& box) {
  const Mass mass = measure_mass(in);
  const Rect chip{box.x, box.y + ui.px(2), ui.px(24), box.h - ui.px(4)};
  letter_chip(ui, chip, in.rows.seq);
  const MassColumns at = columns_of(ui, box);
  const float bar_x = chip.right() + ui.px(8);
  const float bar_end = std::max(bar_x, at.measured.x - ui.px(10));
  draw_bar(ui, {bar_x, box.y + ui.px(3), bar_end - bar_x, box.h - ui.px(6)}, mass, in.rows.seq);
  // Only what can be told from nothing has the colour of a loss; NaN has it too.
  const auto ink = [&](double share) { return ui[share < kLeastShare ? Color::muted : Color::warning]; };
  text_in(ui, FontRole::mono, at.measured, ink(mass.pads.measured), share_text(mass.pads.measured),
          Align::right);
  text_in(ui, FontRole::mono, at.predicted, ink(mass.pads.predicted),
          mass.pads.pads > 0 ? share_text(mass.pads.predicted) : "no pads", Align::right);
  const trace::AttentionView& view = *in.view;
  const std::size_t lse_at = view.at(in.head, in.rows.q0, 1, 0);
  const float lse = lse_at < view.lse.size() ? view.lse[lse_at] : NAN;
  const Hit hit =
      mark(ui, fmt::format("{}/mass/{}", in.prefix, in.rows.seq), box,
           fmt::format(
               "{}: real {:.6f}, stolen by {} zero pads {:.6f}; predicted P / (Z + P) = {} / exp({:.5f}) = "
               "{:.6f}",
               seq_letter(in.rows.seq), num(mass.real), mass.pads.pads, num(mass.pads.measured),
               mass.pads.pads, num(lse), num(mass.pads.predicted)),
           fmt::format("weights[{0}, {1}, :], lse[{0}, {1}] F32, {2}", in.head, in.rows.q0, view.kernel));
  if (hit.hovered) ui.view.next_hover.seq = in.rows.seq;
  if (hit.clicked) select(ui, [&](Selection& s) { s.seq = in.rows.seq; });
}

}  // namespace

std::string share_text(double share) {
  if (share > 0.0 && share < kLeastShare) return "< 0.01 %";
  return fmt::format("{:.2f} %", num(100.0 * share));
}

std::string real_text(const Mass& mass) {
  const bool rounded_up = mass.real >= 1.0 - kLeastShare;
  return mass.pads.measured > 0.0 && rounded_up ? "> 99.99 %" : share_text(mass.real);
}

Mass measure_mass(const WeightsInput& in, int row) {
  Mass mass;
  const trace::AttentionView& view = *in.view;
  const auto b = static_cast<std::size_t>(in.rows.batch);
  const bool complete = b < view.k_lens.size() && b < view.attended.size() &&
                        view.lse.size() >= static_cast<std::size_t>(view.num_heads) * view.num_q;
  if (complete && in.rows.pads() > 0) mass.pads = trace::stolen_mass(view, in.rows.batch, in.head);
  const int looked = std::min(in.part().looked(row), in.rows.k_len);
  for (int k = 0; k < looked; ++k)
    mass.real += static_cast<double>(view.weight(in.head, in.rows.q0 + row, k));
  return mass;
}

float mass_bars_height(const Ui& ui, float panel_height) {
  const int batch = ui.frame.step ? ui.frame.step->num_scheduled : 1;
  return ui.px(kBarRow) * static_cast<float>(std::clamp(batch, 1, max_rows(ui, panel_height))) +
         ui.px(kBarHeading);
}

void draw_mass_bars(Ui& ui, const WeightsInput& input, const Rect& rect) {
  const trace::StepRecord& step = *ui.frame.step;
  const int batch = std::min<int>(step.num_scheduled, static_cast<int>(step.seqs.size()));
  const Rect heading{rect.x, rect.y, rect.w, ui.px(18)};
  const float row_h = ui.px(kBarRow);
  Rect list{rect.x, rect.y + ui.px(kBarHeading - 2), rect.w, rect.bottom() - rect.y - ui.px(kBarHeading - 2)};
  const bool scrolls = row_h * static_cast<float>(batch) > list.h + 1.0F;
  if (scrolls) list.h = std::max(row_h, std::floor(list.h / row_h) * row_h);  // no row is cut
  text_in(ui, FontRole::small, heading, ui[Color::muted],
          scrolls ? fmt::format("Attention mass of {} sequences", batch) : "Attention mass", Align::left);
  const float row_w = rect.w - (scrolls ? ui.px(12) : 0.0F);
  const MassColumns at = columns_of(ui, {rect.x, rect.y, row_w, heading.h});
  text_in(ui, FontRole::small, at.measured, ui[Color::muted], "stolen", Align::right);
  text_in(ui, FontRole::small, at.predicted, ui[Color::muted], "P / (Z + P)", Align::right);
  float y = scrolls ? begin_scroll(ui, (input.prefix + "/mass").c_str(), list) : list.y;
  if (int& followed = ui.view.data.lists.mass_seq; scrolls && followed != input.rows.seq) {
    followed = input.rows.seq;
    follow_row(row_h, list.h, input.rows.batch);
  }
  for (int b = 0; b < batch; ++b, y += row_h) {
    const Rect box{rect.x, y, row_w, row_h};
    if (scrolls && visible_part(ui, box).w <= 0.0F) continue;
    const WeightsInput in = weights_input(ui.frame, input.view, step.seqs[static_cast<std::size_t>(b)].id,
                                          input.head, input.mask, input.prefix);
    if (weights_missing(ui.frame, in).empty()) draw_row(ui, in, box);
  }
  if (scrolls) end_scroll(ui, y);
}

}  // namespace attn::viz
