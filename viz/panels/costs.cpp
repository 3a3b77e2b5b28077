#include "viz/panels/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/names.h"
#include "viz/cost_lines.h"
#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// Rows go down a column; every one is drawn only when on screen.
struct CostColumn {
  float x, w, y, row;
  Rect next(float h) {
    const Rect box{x, y, w, h};
    y += h;
    return box;
  }
};

void heading(Ui& ui, CostColumn& at, const char* name, std::string_view text, std::string_view note,
             const char* source) {
  const Rect box = at.next(ui.px(24));
  mark(ui, fmt::format("costs/heading/{}", name), box, std::string(note), source);
  const float used = text_in(ui, FontRole::strong, box, ui[Color::text], text, Align::left) + ui.px(10);
  if (box.w > used)
    text_in(ui, FontRole::small, {box.x + used, box.y, box.w - used, box.h}, ui[Color::muted], note,
            Align::right);
}

/// Facts of the step, two to a row while both fit.
void draw_facts(Ui& ui, CostColumn& at, const std::vector<CostFact>& facts) {
  const int columns = facts.size() > 1 && at.w >= ui.px(380) ? 2 : 1;
  const float w = at.w / static_cast<float>(columns);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto column = static_cast<float>(static_cast<int>(i) % columns);
    Rect box{at.x + w * column, at.y, w - (columns > 1 ? ui.px(14) : 0.0F), at.row};
    if (static_cast<int>(i) % columns == columns - 1 || i + 1 == facts.size()) at.y += at.row;
    if (!row_in_sight(ui, box)) continue;
    const float used = text_width(ui, FontRole::mono, facts[i].value);
    text_in(ui, FontRole::small, {box.x, box.y, std::max(0.0F, box.w - used - ui.px(6)), box.h},
            ui[Color::muted], facts[i].label, Align::left);
    text_in(ui, FontRole::mono, box, ui[Color::text], facts[i].value, Align::right);
    mark(ui, fmt::format("costs/step/{}", facts[i].name), box,
         fmt::format("{}: {}", facts[i].label, facts[i].value), facts[i].source);
  }
}

struct KernelCells {
  std::string kernel, launches, dots, flop, bytes, time;
};

/// Name, then right-aligned numbers; the narrower the panel, the fewer of them.
void kernel_row(Ui& ui, const Rect& box, const KernelCells& cells, Rgb ink, FontRole role) {
  float right = box.right();
  const auto number = [&](const std::string& text, float width) {
    if (right - ui.px(width) < box.x + ui.px(120)) return;
    text_in(ui, role, {right - ui.px(width), box.y, ui.px(width), box.h}, ink, text, Align::right);
    right -= ui.px(width + 8.0F);
  };
  number(cells.time, 84);
  number(cells.bytes, 68);
  number(cells.flop, 84);
  number(cells.dots, 52);
  number(cells.launches, 26);
  text_in(ui, role, {box.x, box.y, right - box.x, box.h}, ink, cells.kernel, Align::left);
}

void draw_kernels(Ui& ui, CostColumn& at, const trace::StepCosts& costs) {
  kernel_row(ui, at.next(at.row), {"kernel", "\xC3\x97", "dots", "FLOP", "bytes", "time"}, ui[Color::muted],
             FontRole::small);
  for (std::size_t i = 0; i < costs.kernels.size(); ++i) {
    const trace::CostRow& row = costs.kernels[i];
    const Rect box = at.next(at.row);
    if (!row_in_sight(ui, box)) continue;
    const trace::Cost& c = row.cost;
    const bool current = row.stage == ui.selection.stage;
    if (current) fill(ui, box, ui[Color::raised], 1.0F, ui.px(3));
    kernel_row(ui, {box.x + ui.px(4), box.y, box.w - ui.px(8), box.h},
               {row.kernel, std::to_string(c.launches), row.score_dots > 0 ? count_text(row.score_dots) : "",
                flop_text(c.flop), bytes_text(c.bytes), time_text(c.ms)},
               ui[current ? Color::accent : Color::text], FontRole::mono_small);
    const Hit hit =
        mark(ui, fmt::format("costs/kernel/{}", i), box,
             fmt::format("{}\nstage {}, {} launches over all layers\n{}{}, {}, {} FLOP per byte, time {}",
                         row.kernel, trace::name_of(row.stage), c.launches,
                         row.score_dots > 0 ? count_text(row.score_dots) + " score dots per head, " : "",
                         flop_text(c.flop), bytes_text(c.bytes), intensity_text(c), time_text(c.ms)),
             "launches: LaunchRecord, summed by kernel and stage; click to select the stage");
    if (hit.clicked) select(ui, [&](Selection& s) { s.stage = row.stage; });
  }
  at.y += ui.px(8);
}

/// Of the step, of all prefill steps and of all decode steps so far, beside each other.
struct CostTable {
  float label_w, value_w;
  explicit CostTable(float w) : label_w(std::round(w * 0.31F)), value_w(std::floor((w - label_w) / 3.0F)) {}
  Rect cell(const Rect& row, int column) const {
    return {row.x + label_w + value_w * static_cast<float>(column), row.y, value_w, row.h};
  }
};

void table_head(Ui& ui, CostColumn& at, const CostTable& table) {
  const Rect over = at.next(at.row);
  text_in(ui, FontRole::small, {over.x, over.y, table.label_w, over.h}, ui[Color::muted], "all layers",
          Align::left);
  const Rect both{table.cell(over, 1).x, over.y, table.value_w * 2.0F, over.h};
  text_in(ui, FontRole::small, both, ui[Color::muted], "the run up to here", Align::right);
  const Rect names = at.next(ui.px(20));
  const std::string step = fmt::format("step {}", ui.frame.step->step);
  int column = 0;
  for (const std::string_view name :
       {std::string_view(step), std::string_view("prefill"), std::string_view("decode")})
    text_in(ui, FontRole::strong, table.cell(names, column++), ui[Color::text], name, Align::right);
}

void number_in(Ui& ui, const Rect& cell, Rgb ink, const std::string& text) {
  const float room = cell.w - ui.px(6);
  const FontRole role = text_width(ui, FontRole::mono, text) <= room ? FontRole::mono : FontRole::small;
  text_in(ui, role, {cell.right() - room, cell.y, room, cell.h}, ink, text, Align::right);
}

void table_row(Ui& ui, CostColumn& at, const CostTable& table, const PhaseLine& of, const CostFact* of_step) {
  const Rect row = at.next(at.row);
  if (!row_in_sight(ui, row)) return;
  line(ui, row.x, row.y, row.right(), row.y, ui[Color::border]);
  text_in(ui, FontRole::small, {row.x, row.y, table.label_w, row.h}, ui[Color::muted], of.label, Align::left);
  const Rgb ink = ui[of.by_formula ? Color::muted : Color::text];
  number_in(ui, table.cell(row, 1), ink, of.prefill);
  number_in(ui, table.cell(row, 2), ink, of.decode);
  mark(ui, fmt::format("costs/phase/{}", of.name), row,
       fmt::format("{}\nprefill: {}\ndecode: {}", of.label, of.prefill, of.decode), of.source);
  if (of_step == nullptr) return;
  number_in(ui, table.cell(row, 0), ui[Color::accent], of_step->value);
  mark(ui, fmt::format("costs/step/{}", of_step->name), table.cell(row, 0),
       fmt::format("{}: {}", of_step->label, of_step->value), of_step->source);
}

/// What is said in words has a line for each phase.
void row_in_words(Ui& ui, CostColumn& at, const CostTable& table, const PhaseLine& of) {
  const Rect box = at.next(at.row * 2.0F);
  if (!row_in_sight(ui, box)) return;
  line(ui, box.x, box.y, box.right(), box.y, ui[Color::border]);
  text_in(ui, FontRole::small, {box.x, box.y, table.label_w, at.row}, ui[Color::muted], of.label,
          Align::left);
  const Rect said{box.x + table.label_w + ui.px(6), box.y, box.w - table.label_w - ui.px(6), at.row};
  const float name_w = text_width(ui, FontRole::small, "decode") + ui.px(10);
  const auto say = [&](float y, const char* phase, const std::string& words) {
    text_in(ui, FontRole::small, {said.x, y, name_w, at.row}, ui[Color::muted], phase, Align::left);
    text_in(ui, FontRole::small, {said.x + name_w, y, said.w - name_w, at.row}, ui[Color::text], words,
            Align::left);
  };
  say(box.y, "prefill", of.prefill);
  say(box.y + at.row, "decode", of.decode);
  mark(ui, fmt::format("costs/phase/{}", of.name), box,
       fmt::format("{}\nprefill: {}\ndecode: {}", of.label, of.prefill, of.decode), of.source);
}

void draw_table(Ui& ui, CostColumn& at, const std::vector<PhaseLine>& lines, std::vector<CostFact> facts) {
  const CostTable table(at.w);
  table_head(ui, at, table);
  for (const PhaseLine& one : lines) {
    const auto same = std::find_if(facts.begin(), facts.end(), [&](const CostFact& fact) {
      return std::string_view(fact.name) == one.name;
    });
    if (one.in_words)
      row_in_words(ui, at, table, one);
    else
      table_row(ui, at, table, one, same == facts.end() ? nullptr : &*same);
    if (same != facts.end()) facts.erase(same);
  }
  draw_facts(ui, at, facts);
  at.y += ui.px(8);
}

/// One length for the run with its cache, one for the same run without, on the same scale.
void draw_gain(Ui& ui, CostColumn& at, const char* name, const char* label, std::uint64_t with,
               std::uint64_t without) {
  text_in(ui, FontRole::small, at.next(at.row), ui[Color::muted], label, Align::left);
  const double most = static_cast<double>(std::max<std::uint64_t>({with, without, 1}));
  const char* formula = "without, by formula";
  const float words_w =
      std::min(std::round(at.w * 0.36F), text_width(ui, FontRole::small, formula) + ui.px(10));
  const float number_w = ui.px(92);
  const float bar_w = std::max(ui.px(20), at.w - words_w - number_w);
  const auto bar = [&](const char* part, const char* words, std::uint64_t value, Rgb color, bool hollow) {
    const Rect box = at.next(at.row);
    text_in(ui, FontRole::small, {box.x, box.y, words_w, box.h}, ui[Color::text], words, Align::left);
    const Rect full{box.x + words_w, box.y + ui.px(4),
                    std::max(1.0F, std::round(bar_w * static_cast<float>(static_cast<double>(value) / most))),
                    box.h - ui.px(8)};
    if (hollow)
      outline(ui, full, color, std::max(1.0F, ui.px(1.5F)));
    else
      fill(ui, full, color);
    text_in(ui, FontRole::mono, {box.right() - number_w, box.y, number_w, box.h}, ui[Color::text],
            count_text(value), Align::right);
    mark(ui, fmt::format("costs/{}/{}", name, part), box,
         fmt::format("{} {}: {}", label, words, count_text(value)),
         hollow ? "by formula: every step computes the whole context of its sequences again"
                : "RunCosts, sum over the steps of the run so far");
  };
  bar("cached", "with cache", with, ui[Color::accent], false);
  bar("uncached", formula, without, ui[Color::warning], true);
}

void draw_kernel_list(Ui& ui, CostColumn& at, const trace::StepCosts& costs) {
  if (costs.kernels.empty()) return;
  heading(ui, at, "kernels", fmt::format("Kernels of step {}", ui.frame.step->step),
          fmt::format("{} launches", costs.total.launches),
          "LaunchRecord of every kernel launched, all layers");
  draw_kernels(ui, at, costs);
}

void draw_sums(Ui& ui, CostColumn& at, const trace::StepCosts& costs) {
  const std::vector<PhaseLine> lines = phase_lines(ui.frame);
  if (lines.empty()) {
    heading(ui, at, "step", fmt::format("Step {}", ui.frame.step->step), "the run is not summed up yet", "");
    draw_facts(ui, at, step_facts(ui.frame, costs));
    at.y += ui.px(8);
    return;
  }
  draw_table(ui, at, lines, step_facts(ui.frame, costs));
  const CacheGain gain = cache_gain(ui.frame);
  if (!gain.known) return;
  heading(ui, at, "gain", "What the cache saves",
          fmt::format("{:.1f}\xC3\x97 fewer score dots",
                      static_cast<double>(gain.dots_uncached) /
                          static_cast<double>(std::max<std::uint64_t>(1, gain.dots))),
          "score dots of the run so far against every step computing its whole context again, by formula");
  draw_gain(ui, at, "gain_dots", "score dots per head", gain.dots, gain.dots_uncached);
  draw_gain(ui, at, "gain_rows", "token rows computed", gain.rows, gain.rows_uncached);
  at.y += ui.px(8);
}

}  // namespace

void draw_costs(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "costs", rect, "Costs", "from launch records")) return;
  if (!ui.frame.step) {
    empty_note(ui, "What every kernel moved and computed, and prefill against decode, appear here.");
    end_panel(ui);
    return;
  }
  const trace::StepCosts costs = trace::step_costs(*ui.frame.step);
  const Rect list = ui.body;
  const float top = begin_scroll(ui, "costs/list", list);
  const float w = list.w - ui.px(14);
  const bool wide = w >= ui.px(860);
  const float gap = ui.px(32);
  CostColumn left{list.x, wide ? (w - gap) * 0.5F : w, top, ui.px(18)};
  draw_sums(ui, left, costs);
  CostColumn right = wide ? CostColumn{left.x + left.w + gap, left.w, top, left.row} : left;
  draw_kernel_list(ui, right, costs);
  end_scroll(ui, std::max(left.y, right.y) + ui.px(4));
  end_panel(ui);
}

}  // namespace attn::viz
