#include "viz/panels/mass_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/layout/label_spread.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kBarRow = 24.0F;
constexpr float kBarHeading = 22.0F;
constexpr double kLeastShare = 0.00005;  // 0.01 % once rounded

constexpr int kMostRows = 6;       // more sequences stand beside each other in one strip
constexpr float kStrip = 40.0F;    // of columns
constexpr float kLetters = 15.0F;  // below it

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

std::string mass_text(const WeightsInput& in, const Mass& mass) {
  const trace::AttentionView& view = *in.view;
  const std::size_t lse_at = view.at(in.head, in.rows.q0, 1, 0);
  const float lse = lse_at < view.lse.size() ? view.lse[lse_at] : NAN;
  return fmt::format(
      "{}: real {:.6f}, stolen by {} zero pads {:.6f}; predicted P / (Z + P) = {} / exp({:.5f}) = {:.6f}",
      seq_letter(in.rows.seq), num(mass.real), mass.pads.pads, num(mass.pads.measured), mass.pads.pads,
      num(lse), num(mass.pads.predicted));
}
std::string mass_source(const WeightsInput& in) {
  return fmt::format("weights[{0}, {1}, :], lse[{0}, {1}] F32, {2}", in.head, in.rows.q0, in.view->kernel);
}

/// The same input for the sequence at a place of the batch.
WeightsInput of_place(const Ui& ui, const WeightsInput& input, int b) {
  return weights_input(ui.frame, input.view, ui.frame.step->seqs[static_cast<std::size_t>(b)].id, input.head,
                       input.mask, input.prefix);
}

void draw_row(Ui& ui, const WeightsInput& in, const Mass& mass, const Rect& box) {
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
  const Hit hit =
      mark(ui, fmt::format("{}/mass/{}", in.prefix, in.rows.seq), box, mass_text(in, mass), mass_source(in));
  if (hit.hovered) ui.view.next_hover.seq = in.rows.seq;
  if (hit.clicked) select(ui, [&](Selection& s) { s.seq = in.rows.seq; });
}

/// Of every sequence of the batch; measured once per launch and head, since a batch has 64 x 4,096 weights.
const std::vector<Mass>& masses_of(Ui& ui, const WeightsInput& input, int batch) {
  MassView& kept = ui.view.attention.mass;
  if (kept.view == input.view && kept.head == input.head && static_cast<int>(kept.masses.size()) == batch)
    return kept.masses;
  kept.view = input.view;
  kept.head = input.head;
  kept.masses.assign(static_cast<std::size_t>(batch), Mass{NAN, {}});
  for (int b = 0; b < batch; ++b) {
    const WeightsInput in = of_place(ui, input, b);
    if (weights_missing(ui.frame, in).empty()) kept.masses[static_cast<std::size_t>(b)] = measure_mass(in);
  }
  return kept.masses;
}

/// A column of 100 %: what the pads took hangs from the top.
void draw_column(const Ui& ui, const Rect& box, const Mass& mass, int seq) {
  const double total = mass.real + mass.pads.measured;
  if (!std::isfinite(total)) return fill(ui, box, ui[Color::error]);
  const double share = total > 0.0 ? mass.pads.measured / total : 0.0;
  const float lost =
      share < kLeastShare ? 0.0F : std::max(1.0F, std::round(box.h * static_cast<float>(share)));
  fill(ui, {box.x, box.y + lost, box.w, box.h - lost}, hue_of(ui, seq));
  fill(ui, {box.x, box.y, box.w, lost}, ui[Color::pad]);
}

/// "weights/mass/12": the column of a sequence, made on demand.
template <class Column>
void add_mass_family(Ui& ui, const WeightsInput& input, Column column) {
  const auto frame = std::make_shared<Frame>();
  frame->step = ui.frame.step;
  frame->attention = ui.frame.attention;
  const std::string prefix = input.prefix + "/mass/";
  ui.marks.add_family(prefix, [=](std::string_view rest) -> std::optional<Mark> {
    int id = -1;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), id).ec != std::errc{}) return std::nullopt;
    const WeightsInput in = weights_input(*frame, input.view, id, input.head, input.mask, input.prefix);
    if (!weights_missing(*frame, in).empty()) return std::nullopt;
    return Mark{prefix + std::to_string(id), column(in.rows.batch), mass_text(in, measure_mass(in)),
                mass_source(in)};
  });
}

/// All sequences beside each other; a click selects one, whose numbers stand above.
void draw_strip(Ui& ui, const WeightsInput& input, const Rect& rect) {
  const trace::StepRecord& step = *ui.frame.step;
  const int batch = std::min<int>(step.num_scheduled, static_cast<int>(step.seqs.size()));
  const std::vector<Mass>& masses = masses_of(ui, input, batch);
  const float pitch = rect.w / static_cast<float>(std::max(1, batch));
  const auto column = [rect, pitch](int b) {
    const float x0 = std::round(rect.x + pitch * static_cast<float>(b));
    const float x1 = std::round(rect.x + pitch * static_cast<float>(b + 1));
    return Rect{x0, rect.y, std::max(1.0F, x1 - x0 - (pitch >= 3.0F ? 1.0F : 0.0F)), rect.h};
  };
  const auto id_of = [&](int b) { return step.seqs[static_cast<std::size_t>(b)].id; };
  for (int b = 0; b < batch; ++b) draw_column(ui, column(b), masses[static_cast<std::size_t>(b)], id_of(b));
  if (input.rows.batch >= 0 && input.rows.batch < batch) {
    const Rect chosen = column(input.rows.batch);
    outline(ui, {chosen.x - 2.0F, rect.y - 2.0F, chosen.w + 4.0F, rect.h + 4.0F}, ui[Color::selection],
            ui.px(2));
  }
  const float letters = text_width(ui, FontRole::small, "WW") + ui.px(4);
  for (const int b : spread_labels(batch, pitch, letters, input.rows.batch)) {
    const Rect c = column(b);
    text_in(ui, FontRole::small,
            {c.x + (c.w - letters) * 0.5F, rect.bottom() + 1.0F, letters, ui.px(kLetters - 1.0F)},
            ui[b == input.rows.batch ? Color::text : Color::muted], seq_letter(id_of(b)), Align::center);
  }
  mark(ui, input.prefix + "/masses", rect,
       fmt::format("attention mass of {} sequences: what zero pads took hangs from the top", batch),
       fmt::format("weights and lse F32 of head {}, {}", input.head, input.view->kernel));
  add_mass_family(ui, input, column);
  if (!touch(ui, rect).hovered) return;
  const int at = std::clamp(static_cast<int>((ImGui::GetIO().MousePos.x - rect.x) / pitch), 0, batch - 1);
  const WeightsInput in = of_place(ui, input, at);
  ui.view.next_hover.seq = in.rows.seq;
  if (weights_missing(ui.frame, in).empty())
    tooltip(ui, mass_text(in, masses[static_cast<std::size_t>(at)]), mass_source(in));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) select(ui, [&](Selection& s) { s.seq = in.rows.seq; });
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

float mass_bars_height(const Ui& ui) {
  const int batch = ui.frame.step ? ui.frame.step->num_scheduled : 1;
  const bool strip = batch > kMostRows;
  return ui.px(kBarHeading) + ui.px(kBarRow) * static_cast<float>(strip ? 1 : std::max(1, batch)) +
         (strip ? ui.px(4.0F + kStrip + kLetters) : 0.0F);
}

void draw_mass_bars(Ui& ui, const WeightsInput& input, const Rect& rect) {
  const trace::StepRecord& step = *ui.frame.step;
  const int batch = std::min<int>(step.num_scheduled, static_cast<int>(step.seqs.size()));
  const bool strip = step.num_scheduled > kMostRows;
  const Rect heading{rect.x, rect.y, rect.w, ui.px(18)};
  const float row_h = ui.px(kBarRow);
  text_in(ui, FontRole::small, heading, ui[Color::muted],
          strip ? fmt::format("Attention mass of {} of {} sequences", seq_letter(input.rows.seq), batch)
                : "Attention mass",
          Align::left);
  const MassColumns at = columns_of(ui, heading);
  text_in(ui, FontRole::small, at.measured, ui[Color::muted], "stolen", Align::right);
  text_in(ui, FontRole::small, at.predicted, ui[Color::muted], "P / (Z + P)", Align::right);
  float y = rect.y + ui.px(kBarHeading - 2);
  if (strip) {
    draw_row(ui, input, measure_mass(input), {rect.x, y, rect.w, row_h});
    y += row_h + ui.px(4);
    draw_strip(ui, input, {rect.x, y, rect.w, ui.px(kStrip)});
    return;
  }
  for (int b = 0; b < batch; ++b, y += row_h) {
    const WeightsInput in = of_place(ui, input, b);
    if (weights_missing(ui.frame, in).empty()) draw_row(ui, in, measure_mass(in), {rect.x, y, rect.w, row_h});
  }
}

}  // namespace attn::viz
