// More sequences than the timeline has rows for: a stack per step of how many were in which phase.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/lookup.h"
#include "viz/panels/timeline_lanes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// From the bottom of the stack to its top: who runs, then who waits.
constexpr std::array<SeqPhase, kNumSeqPhases> kStackOrder = {SeqPhase::decode, SeqPhase::prefill,
                                                             SeqPhase::preempted, SeqPhase::waiting};

using PhaseCounts = std::array<int, kNumSeqPhases>;  // by SeqPhase

int& count_of(PhaseCounts& counts, SeqPhase phase) { return counts[static_cast<std::size_t>(phase)]; }
int count_of(const PhaseCounts& counts, SeqPhase phase) { return counts[static_cast<std::size_t>(phase)]; }

/// Of every step on screen.
std::vector<PhaseCounts> count_phases(const TimelineLanes& lanes) {
  const int steps = lanes.layout.end - lanes.layout.first;
  std::vector<PhaseCounts> counts(static_cast<std::size_t>(steps + 1), PhaseCounts{});  // first as changes
  for (const auto& [seq, runs] : lanes.facts.rows) {
    for (const SeqRun& run : runs) {
      const int from = std::max(run.first - lanes.layout.first, 0);
      const int to = std::min(run.end - lanes.layout.first, steps);
      if (from >= to) continue;
      ++count_of(counts[static_cast<std::size_t>(from)], run.phase);
      --count_of(counts[static_cast<std::size_t>(to)], run.phase);
    }
  }
  for (std::size_t i = 1; i < counts.size(); ++i)
    for (std::size_t p = 0; p < kNumSeqPhases; ++p) counts[i][p] += counts[i - 1][p];
  counts.pop_back();
  return counts;
}

std::string crowd_text(const PhaseCounts& counts) {
  std::string text;
  for (const auto& [phase, words] : {std::pair{SeqPhase::decode, "decode"},
                                     {SeqPhase::prefill, "prefill"},
                                     {SeqPhase::waiting, "wait"},
                                     {SeqPhase::preempted, "were preempted"}}) {
    if (count_of(counts, phase) > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count_of(counts, phase), words);
  }
  return text.empty() ? "no sequence" : text;
}

void draw_stack(const Ui& ui, const Rect& column, const PhaseCounts& counts, int most) {
  int below = 0;
  const auto height = [&](int count) {
    return std::round(column.h * static_cast<float>(count) / static_cast<float>(std::max(1, most)));
  };
  for (const SeqPhase phase : kStackOrder) {
    const int count = count_of(counts, phase);
    if (count == 0) continue;
    const float y1 = column.bottom() - height(below);
    below += count;
    const float y0 = column.bottom() - height(below);
    const Rect part{column.x, y0, column.w, std::max(1.0F, y1 - y0)};
    draw_crowd_part(ui, part, phase);
  }
}

}  // namespace

void draw_crowd_part(const Ui& ui, const Rect& part, SeqPhase phase) {
  switch (phase) {
    case SeqPhase::waiting:
      fill(ui, part, ui[Color::raised]);
      return fill(ui, {part.x, part.y, part.w, 1.0F}, ui[Color::stroke]);
    case SeqPhase::prefill:
      return fill(ui, part, ui[Color::text]);
    case SeqPhase::decode:
      return fill(ui, part, ui[Color::stroke]);
    case SeqPhase::preempted:
      return draw_phase(ui, part, phase, ui[Color::stroke], 0.0F, 1.0F);
  }
}

void draw_crowd(Ui& ui, const TimelineLanes& lanes, const std::vector<int>& seqs) {
  const std::vector<PhaseCounts> counts = count_phases(lanes);
  const int chosen = focus_seq(ui.frame, ui.selection);
  const bool row = lanes.gantt.h >= ui.px(14) && std::ranges::find(seqs, chosen) != seqs.end();
  const float row_h = row ? std::clamp(std::round(lanes.gantt.h * 0.3F), ui.px(6), ui.px(12)) : 0.0F;
  const float gap = row ? ui.px(2) : 0.0F;
  const Rect area{lanes.gantt.x, lanes.gantt.y, lanes.gantt.w, lanes.gantt.h - row_h - gap};
  const auto most = static_cast<int>(seqs.size());
  for (std::size_t i = 0; i < counts.size();) {
    std::size_t end = i + 1;
    while (end < counts.size() && counts[end] == counts[i]) ++end;
    const float x0 = lanes.layout.left(lanes.layout.first + static_cast<int>(i));
    const float x1 = lanes.layout.right(lanes.layout.first + static_cast<int>(end) - 1);
    draw_stack(ui, {x0, area.y, std::max(1.0F, x1 - x0), area.h}, counts[i], most);
    i = end;
  }
  const Rect label{area.x, area.y, 0.0F, std::min(area.h, font_pixels(FontRole::small) + ui.px(2))};
  const bool both = lanes.gantt.h >= 2.0F * label.h + ui.px(6);
  lane_label(ui, lanes, label,
             row && !both ? fmt::format("{} of {}", seq_letter(chosen), most) : fmt::format("{} seqs", most),
             ui[Color::muted]);
  const char* source = "history: scheduled, waiting, preempted, finished";
  const auto words = [&](int step) {
    return fmt::format("step {}: {}", step_number(ui.frame, step),
                       crowd_text(counts[static_cast<std::size_t>(step - lanes.layout.first)]));
  };
  const bool now = ui.frame.index >= lanes.layout.first && ui.frame.index < lanes.layout.end;
  ui.marks.add("timeline/crowd", visible_part(ui, area),
               now ? words(ui.frame.index) : fmt::format("{} sequences", most), source);
  const int at = lanes.layout.at(ImGui::GetIO().MousePos.x);
  if (at >= lanes.layout.first && at < lanes.layout.end && touch(ui, area).hovered)
    tooltip(ui, words(at), source);
  if (!row) return;
  const Rect lane{area.x, area.bottom() + gap, area.w, row_h};
  if (both)
    lane_label(ui, lanes, {lane.x, lane.bottom() - label.h, 0.0F, label.h}, seq_letter(chosen),
               ui[Color::text]);
  draw_seq_runs(ui, lanes, chosen, lane.y, lane.h, 1.0F);
  mark(ui, fmt::format("timeline/seq/{}", chosen), lane, seq_words(chosen), source);
}

}  // namespace attn::viz
