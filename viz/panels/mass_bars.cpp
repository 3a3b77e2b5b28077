#include "viz/panels/mass_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// Few rows where the panel is low: the bars above need the room more.
int max_rows(const Ui& ui) { return ui.body.h < ui.px(260) ? 1 : ui.body.h < ui.px(330) ? 2 : 4; }

/// Where the two numbers of a row stand; the heading uses the same columns.
struct MassColumns {
  Rect measured;
  Rect predicted;
};
MassColumns columns_of(const Ui& ui, const Rect& row) {
  const float w = ui.px(76);
  return {{row.right() - 2.0F * w - ui.px(10), row.y, w, row.h}, {row.right() - w, row.y, w, row.h}};
}

void draw_row(Ui& ui, const Rect& box, const BatchRows& rows) {
  const trace::AttentionView& view = *ui.frame.attention;
  const int head = ui.selection.head;
  const Mass mass = measure_mass(view, head, rows.q0, rows.k_len, rows.attended);
  const float total = static_cast<float>(mass.real + mass.stolen);
  const Rect chip{box.x, box.y + ui.px(1), ui.px(24), box.h - ui.px(2)};
  letter_chip(ui, chip, rows.seq);
  const MassColumns at = columns_of(ui, box);
  const Rect bar{chip.right() + ui.px(8), box.y + ui.px(2),
                 at.measured.x - ui.px(10) - chip.right() - ui.px(8), box.h - ui.px(4)};
  const float split = total > 0.0F ? std::round(bar.w * static_cast<float>(mass.real) / total) : bar.w;
  const Rect real{bar.x, bar.y, split, bar.h};
  const Rect stolen{bar.x + split, bar.y, bar.w - split, bar.h};
  fill(ui, real, hue_of(ui, rows.seq));
  if (stolen.w > 0.5F) cross_hatch(ui, stolen, ui[Color::pad], ui.px(5));
  outline(ui, bar, ui[Color::stroke]);
  const std::string real_text = fmt::format("real {:.1f} %", 100.0 * mass.real);
  if (real.w > text_width(ui, FontRole::small, real_text) + ui.px(10)) {
    text_in(ui, FontRole::small, real, on_hue_of(ui, rows.seq), real_text, Align::center);
  }
  const Rgb ink = ui[mass.pads > 0 ? Color::warning : Color::muted];
  text_in(ui, FontRole::mono, at.measured, ink, fmt::format("{:.2f} %", 100.0 * mass.stolen), Align::right);
  text_in(ui, FontRole::mono, at.predicted, ink,
          mass.pads > 0 ? fmt::format("{:.2f} %", 100.0 * mass.predicted) : "no pads", Align::right);
  const std::string value = fmt::format(
      "{}: real {:.6f}, stolen by {} zero pads {:.6f}; predicted P / (Z + P) = {} / exp({:.5f}) = {:.6f}",
      seq_letter(rows.seq), mass.real, mass.pads, mass.stolen, mass.pads,
      static_cast<std::size_t>(head) * view.num_q + rows.q0 < view.lse.size()
          ? view.lse[static_cast<std::size_t>(head) * view.num_q + rows.q0]
          : NAN,
      mass.predicted);
  const Hit hit =
      mark(ui, fmt::format("weights/mass/{}", rows.seq), box, value,
           fmt::format("weights[{0}, {1}, :], lse[{0}, {1}] F32, {2}", head, rows.q0, view.kernel));
  if (hit.clicked) {
    select(ui, [&](Selection& s) { s.seq = rows.seq; });
  }
}

}  // namespace

Mass measure_mass(const trace::AttentionView& view, int head, int row, int k_len, int attended) {
  Mass mass;
  mass.pads = std::max(0, attended - k_len);
  for (int k = 0; k < std::min(attended, view.max_k); ++k) {
    const float weight = view.weight(head, row, k);
    if (!std::isnan(weight)) (k < k_len ? mass.real : mass.stolen) += static_cast<double>(weight);
  }
  const std::size_t index = static_cast<std::size_t>(head) * view.num_q + row;
  if (mass.pads > 0)
    mass.predicted =
        index < view.lse.size() ? mass.pads * std::exp(-static_cast<double>(view.lse[index])) : NAN;
  return mass;
}

float mass_bars_height(const Ui& ui) {
  const int rows = std::clamp(ui.frame.step ? ui.frame.step->num_scheduled : 1, 1, max_rows(ui));
  return ui.px(22) * static_cast<float>(rows) + ui.px(22);
}

void draw_mass_bars(Ui& ui, const Rect& rect) {
  const int batch = std::min<int>(ui.frame.step->num_scheduled, static_cast<int>(ui.frame.step->seqs.size()));
  const int focus = focus_seq(ui.frame, ui.selection);
  const int room = max_rows(ui);
  std::string heading = "Attention mass";
  if (batch > room) heading += fmt::format(" ({} of {} sequences)", room, batch);
  text_in(ui, FontRole::small, {rect.x, rect.y, rect.w, ui.px(18)}, ui[Color::muted], heading, Align::left);
  const MassColumns at = columns_of(ui, {rect.x, rect.y, rect.w, ui.px(18)});
  text_in(ui, FontRole::small, at.measured, ui[Color::muted], "stolen", Align::right);
  text_in(ui, FontRole::small, at.predicted, ui[Color::muted], "P / (Z + P)", Align::right);
  float y = rect.y + ui.px(20);
  int drawn = 0;
  // Batch order, but the selected sequence is always among those shown.
  for (int b = 0; b < batch && drawn < room; ++b) {
    const int seq = ui.frame.step->seqs[static_cast<std::size_t>(b)].id;
    const bool last_place = drawn == room - 1 && batch > room;
    const BatchRows rows =
        batch_rows(ui.frame, last_place && b <= batch_rows(ui.frame, focus).batch ? focus : seq);
    if (rows.batch < 0 || rows.q0 >= ui.frame.attention->num_q) continue;
    draw_row(ui, {rect.x, y, rect.w, ui.px(20)}, rows);
    y += ui.px(22);
    ++drawn;
  }
}

}  // namespace attn::viz
