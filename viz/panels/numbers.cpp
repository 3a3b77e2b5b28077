#include "viz/panels/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/trace/number_text.h"
#include "core/trace/tile_splits.h"
#include "kernels/common/online_softmax.h"
#include "viz/panels/mass_bars.h"
#include "viz/panels/weights.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/veil.h"

namespace attn::viz {
namespace {

struct Number {
  const char* name;    // of the mark, and what other panels light up
  std::string label;   // above
  std::string text;    // the number
  std::string value;   // tooltip
  std::string source;  // tooltip
  Color ink = Color::text;
};

/// The query row that the numbers are of: the selected one, else the last.
int query_of(const Ui& ui, const WeightsInput& in) {
  const bool selected = ui.selection.q_row >= in.row_from && ui.selection.q_row < in.row_to;
  return selected ? ui.selection.q_row : in.row_to - 1;
}

/// What the kernel left of a row.
struct RowState {
  OnlineSoftmax state;
  int last_tile = -1;  // that it visited; -1: it keeps no tile state, or the row sees no key
  int parts = 0;       // splits that have keys, their last states merged; 1: as the kernel left it
};

/// Each split of a decode starts anew, so the state after the last tile alone is not the row's.
RowState row_state(const trace::AttentionView& view, int head, int row) {
  RowState out;
  const std::size_t size = static_cast<std::size_t>(view.num_heads) * view.num_q * view.num_tiles;
  if (view.tile_m.size() < size || view.tile_l.size() < size) return out;
  const auto join = [&] {
    const std::size_t at = view.tile_at(head, row, out.last_tile);
    const OnlineSoftmax part{view.tile_m[at], view.tile_l[at]};
    if (out.parts++ == 0)
      out.state = part;
    else
      out.state.merge(part);
  };
  for (int tile = 0; tile < view.num_tiles; ++tile) {
    if (std::isnan(view.tile_m[view.tile_at(head, row, tile)])) continue;
    if (out.last_tile >= 0 && trace::split_of_tile(view, out.last_tile) != trace::split_of_tile(view, tile))
      join();
    out.last_tile = tile;
  }
  if (out.last_tile >= 0) join();
  return out;
}

void add_mass(std::vector<Number>& out, const WeightsInput& in, int q) {
  const Mass mass = measure_mass(in, q);
  const std::string source =
      fmt::format("sum of weights[{}, {}, :] F32, {}", in.head, in.rows.q0 + q, in.view->kernel);
  const double sum = mass.real + mass.pads.measured;
  if (mass.pads.pads > 0) {
    out.push_back({"mass", "real mass", real_text(mass),
                   fmt::format("{} real keys hold {:.6f} of the row's softmax, {} zero pads {:.6f}",
                               in.rows.k_len, num(mass.real), mass.pads.pads, num(mass.pads.measured)),
                   source, mass.pads.measured < 0.00005 ? Color::text : Color::warning});
  }
  const bool sees_none = in.part().looked(q) == 0;
  const bool good = std::abs(sum - 1.0) < 1e-3 || sees_none;
  out.push_back(
      {"row_sum", "row \xCE\xA3", fmt::format("{:.6f}", num(sum)),
       sees_none ? "this query sees no key at all" : fmt::format("the row's weights sum to {:.9f}", num(sum)),
       source, good ? Color::text : Color::error});
}

void add_state(std::vector<Number>& out, const WeightsInput& in, int q) {
  const trace::AttentionView& view = *in.view;
  const int row = in.rows.q0 + q;
  const RowState last = row_state(view, in.head, row);
  const auto state = [&](const char* name, const char* what, float value) {
    if (last.parts == 0) {
      out.push_back(
          {name, name, "\xE2\x80\x93", "this kernel keeps no state per tile", view.kernel, Color::muted});
      return;
    }
    const bool merged = last.parts > 1;
    const std::string tile = merged ? ":" : std::to_string(last.last_tile);
    out.push_back({name, merged ? fmt::format("{} merged", name) : name, fmt::format("{:.4f}", num(value)),
                   merged ? fmt::format("{} over {} splits, merged from the last state of each: {:.6f}", what,
                                        last.parts, num(value))
                          : fmt::format("{} after {}: {:.6f}", what,
                                        counted_text("tile", last.last_tile, view.num_tiles), num(value)),
                   fmt::format("tile_{}[{}, {}, {}] F32, {}", name, in.head, row, tile, view.kernel)});
  };
  state("m", "largest score", last.state.m);
  state("l", "sum of exp(score - m)", last.state.l);
  const std::size_t at = view.at(in.head, row, 1, 0);
  if (at < view.lse.size()) {
    out.push_back({"lse", "LSE", fmt::format("{:.4f}", num(view.lse[at])),
                   fmt::format("log-sum-exp of the row's scores, m + ln l: {:.6f}", num(view.lse[at])),
                   fmt::format("lse[{}, {}] F32, {}", in.head, row, view.kernel)});
  }
}

void add_error(std::vector<Number>& out, const trace::AttentionView& view) {
  const double error = view.max_abs_diff_o;
  const bool known = !std::isnan(error);
  const bool good = known && error <= 1e-4 * std::max(1.0, view.max_abs_o);
  out.push_back(
      {"err", "max|\xCE\x94| record", known ? fmt::format("{:.1e}", num(error)) : "not compared",
       known ? fmt::format("output of this launch against the recorded one: {:.3e}, where the largest "
                           "|o| is {:.4f}",
                           num(error), num(view.max_abs_o))
             : "this launch was not compared with the record",
       fmt::format("o F32 of layer {}, {} on {}", view.layer, view.checked_kernel(), view.device),
       !known ? Color::muted
       : good ? Color::ok
              : Color::error});
}

/// Launches of the attention stage of the layer, as the engine's step logged them.
void add_bytes(std::vector<Number>& out, const trace::StepRecord& step, int layer) {
  std::uint64_t bytes = 0;
  int count = 0;
  float ms = 0.0F;
  std::string kernels;
  for (const trace::LaunchEntry& entry : step.launches) {
    if (entry.stage != trace::Stage::attention || entry.layer != layer) continue;
    bytes += entry.launch.bytes;
    ms += entry.launch.ms;
    ++count;
    kernels += (kernels.empty() ? "" : ", ") + entry.launch.kernel;
  }
  if (count == 0) return;
  out.push_back({"bytes", "attention moved", bytes_text(bytes),
                 fmt::format("{} B in {} launch{}; time {}", bytes, count, count == 1 ? "" : "es",
                             std::isnan(ms) ? std::string("not measured") : fmt::format("{:.4f} ms", ms)),
                 fmt::format("launch records of layer {}: {}", layer, kernels)});
}

/// An l in the text face could be anything upright.
FontRole label_role(const Number& number) {
  return number.label.size() == 1 ? FontRole::mono : FontRole::small;
}

/// The back row reads them too.
FontRole number_role(const Ui& ui) {
  return ui.view.mode == ScreenMode::present ? FontRole::number : FontRole::mono;
}

void draw_number(Ui& ui, const Number& number, const Rect& box) {
  // The error is that of o: it lights up with it.
  if (lit(ui, number.name) || (lit(ui, "o") && std::string_view(number.name) == "err"))
    fill(ui, box, ui[Color::accent], 0.25F, ui.px(3));
  const float label_h = std::min(ui.px(16), std::round(box.h * 0.43F));
  text_in(ui, label_role(number), {box.x + ui.px(4), box.y, box.w - ui.px(8), label_h}, ui[Color::muted],
          number.label, Align::left);
  text_in(ui, number_role(ui), {box.x + ui.px(4), box.y + label_h, box.w - ui.px(8), box.h - label_h},
          ui[number.ink], number.text, Align::left);
  if (mark(ui, std::string("numbers/") + number.name, box, number.value, number.source).hovered)
    ui.view.next_hover.name = number.name;
}

float width_of(const Ui& ui, const Number& number) {
  return std::max(text_width(ui, label_role(number), number.label),
                  text_width(ui, number_role(ui), number.text)) +
         ui.px(12);
}

/// As many numbers as have room in a line, spread over it so that columns stay where they are; returns how
/// many.
std::size_t draw_line(Ui& ui, std::span<const Number> numbers, const Rect& row) {
  float needed = 0.0F;
  std::size_t count = 0;
  while (count < numbers.size() && needed + width_of(ui, numbers[count]) <= row.w)
    needed += width_of(ui, numbers[count++]);
  if (count == 0) return 0;
  const float spare = std::min((row.w - needed) / static_cast<float>(count), ui.px(40));
  float x = row.x;
  for (std::size_t i = 0; i < count; ++i) {
    const float w = width_of(ui, numbers[i]);
    draw_number(ui, numbers[i], {std::round(x), row.y, w, row.h});
    x += w + spare;
  }
  return count;
}

/// In as many lines as the panel is high.
void draw_lines(Ui& ui, std::span<const Number> numbers, const Rect& body) {
  const float gap = ui.px(4);
  const auto lines = std::max(1.0F, std::floor((body.h + gap) / (ui.px(33) + gap)));
  float line_h = std::floor((body.h + gap) / lines - gap);
  float all_w = 0.0F;
  for (const Number& number : numbers) all_w += width_of(ui, number);
  const bool one = all_w <= body.w;  // in the middle then
  if (one) line_h = std::min(body.h, ui.px(38));
  for (float y = one ? body.y + std::round((body.h - line_h) * 0.5F) : body.y;
       y + line_h <= body.bottom() + 1.0F && !numbers.empty(); y += line_h + gap)
    numbers = numbers.subspan(draw_line(ui, numbers, {body.x, y, body.w, line_h}));
}

/// Before the numbers that attention is yet to compute; returns the width used.
float draw_to_come(Ui& ui, const Rect& box) {
  static const Number kToCome{"moment", "attention", "not run yet",
                              "the attention of this layer is still to come", ""};
  const float line_h = std::min(box.h, ui.px(38));
  const float w = width_of(ui, kToCome);
  draw_number(ui, kToCome, {box.x, box.y + std::round((box.h - line_h) * 0.5F), w, line_h});
  return w + ui.px(12);
}

}  // namespace

void draw_numbers(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "numbers", rect, {}, {}, PanelLook::bar)) return;
  const Rect body{rect.x + ui.px(10), rect.y + ui.px(5), rect.w - ui.px(20),
                  std::min(rect.h - ui.px(10), ui.px(120))};
  if (ui.frame.lesson && ui.frame.lesson->asking) {
    text_in(ui, FontRole::small, body, ui[Color::muted], "hidden until you have guessed: Space", Align::left);
    mark(ui, "numbers/hidden", body, "the lesson asks first");
    end_panel(ui);
    return;
  }
  const MaskAlignment mask = ui.frame.step ? mask_in_force(*ui.frame.step) : MaskAlignment::bottom_right;
  const WeightsInput in =
      weights_input(ui.frame, ui.frame.attention, focus_seq(ui.frame, ui.selection), ui.selection.head, mask);
  if (const std::string note = weights_missing(ui.frame, in); !note.empty()) {
    text_in(ui, FontRole::small, body, ui[Color::muted], ui.frame.step ? note : "", Align::left);
    end_panel(ui);
    return;
  }
  const int q = query_of(ui, in);
  std::vector<Number> numbers;
  add_mass(numbers, in, q);
  add_state(numbers, in, q);
  add_error(numbers, *in.view);
  add_bytes(numbers, *ui.frame.step, in.view->layer);
  const float chip_w = ui.px(26);
  letter_chip(ui, {body.x, body.y + (body.h - ui.px(20)) * 0.5F, chip_w, ui.px(20)}, in.rows.seq);
  const std::string row = fmt::format("query {}", q);
  const std::string head = fmt::format("head {}", in.head);
  const float name_w =
      std::max(text_width(ui, FontRole::small, row), text_width(ui, FontRole::small, head)) + ui.px(18);
  const float name_x = body.x + chip_w + ui.px(8);
  const float name_h = std::min(body.h * 0.5F, ui.px(19));
  const float name_y = body.y + std::round(body.h * 0.5F) - name_h;
  text_in(ui, FontRole::small, {name_x, name_y, name_w, name_h}, ui[Color::text], head, Align::left);
  text_in(ui, FontRole::small, {name_x, name_y + name_h, name_w, name_h}, ui[Color::text], row, Align::left);
  float x = name_x + name_w;
  if (before_attention(ui)) x += draw_to_come(ui, {x, body.y, body.right() - x, body.h});
  const Rect rest{x, body.y, body.right() - x, body.h};
  draw_lines(ui, numbers, rest);
  if (before_attention(ui)) draw_veil(ui, rest);
  end_panel(ui);
}

}  // namespace attn::viz
