// A lane for every sequence: what it did in each step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/lookup.h"
#include "viz/panels/timeline_lanes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kBudget = 16.0F;  // rows whose dashes a draw list has room for

/// Signs in a box too low for lines: `w` wide every `pitch` pixels.
void bars(const Ui& ui, const Rect& box, Rgb color, float w, float pitch) {
  for (float x = box.x; x < box.right(); x += pitch)
    fill(ui, {x, box.y, std::min(w, box.right() - x), box.h}, color);
}

/// A dash per step, or every few pixels where steps are narrower than that.
void dashes(const Ui& ui, const Rect& box, Rgb hue, float pitch) {
  const float inset = box.h >= 6.0F ? std::round(box.h * 0.28F) : box.h >= 4.0F ? 1.0F : 0.0F;
  const Rect bar{box.x, box.y + inset, box.w, box.h - 2.0F * inset};
  fill(ui, bar, hue);
  const float cut = std::max(2.0F, std::min(ui.px(4), std::round(pitch * 0.3F)));
  for (float x = bar.x + pitch; x < bar.right(); x += pitch)
    fill(ui, {std::round(x) - cut, bar.y, cut, bar.h}, ui[Color::panel]);
}

void draw_run(const Ui& ui, const TimelineLanes& lanes, const SeqRun& run, const Rect& row, int seq,
              float sparse) {
  const int first = std::max(run.first, lanes.layout.first);
  const int end = std::min(run.end, lanes.layout.end);
  if (first >= end) return;
  const float x0 = lanes.layout.left(first);
  const float x1 = lanes.layout.right(end - 1);
  const Rect box = box_in({x0, row.y, x1 - x0, row.h});
  draw_phase(ui, box, run.phase, hue_of(ui, seq), lanes.layout.unit, sparse);
  if (run.phase == SeqPhase::prefill && box.h >= 6.0F && lanes.layout.unit >= 3.0F) {
    for (int i = first + 1; i < end; ++i)
      fill(ui, {lanes.layout.left(i) - 1.0F, box.y, 1.0F, box.h}, ui[Color::panel]);
  }
  if (run.finished && run.end == end)
    fill(ui, {x1 - ui.px(3), row.y, ui.px(3), box.bottom() - row.y}, ui[Color::text]);
}

/// Letters of low rows stand beside each other in so many columns, each at the height of its row; 0: they
/// have no room.
struct RowLetters {
  int columns = 0;
  float w = 0;  // of a column
};

std::string row_letter(int seq, bool whole) { return seq == -1 && whole ? "warm-up" : seq_letter(seq); }

RowLetters letters_of(const Ui& ui, const TimelineLanes& lanes, const LaneRows& rows) {
  RowLetters letters;
  if (rows.ids.empty()) return letters;
  const float pitch = std::ceil(0.75F * font_pixels(FontRole::small));  // capitals fill no more of a line
  const auto columns = static_cast<int>(std::ceil(pitch / rows.h));
  for (const int id : rows.ids)
    letters.w = std::max(letters.w, text_width(ui, FontRole::small, row_letter(id, columns == 1)) + ui.px(5));
  if (letters.w * static_cast<float>(columns) <= lanes.gantt.x - lanes.label_x) letters.columns = columns;
  return letters;
}

/// The letter of the i-th row, ringed when its sequence is selected.
void label_row(const Ui& ui, const TimelineLanes& lanes, const Rect& row, int seq, int i,
               const RowLetters& letters) {
  const bool selected = seq >= 0 && seq == ui.selection.seq;  // -1 is also "nothing selected"
  const std::string text = row_letter(seq, letters.columns == 1);
  const float w = text_width(ui, FontRole::small, text);
  const int from_right = letters.columns - 1 - i % letters.columns;
  const float right = lanes.gantt.x - ui.px(6) - letters.w * static_cast<float>(from_right);
  const float h = font_pixels(FontRole::small);
  const Rect box{right - w, std::round(row.y + (row.h - h) * 0.5F), w, h};
  text_at(ui, FontRole::small, box.x, box.y, ui[selected ? Color::text : Color::muted], text);
  if (!selected) return;
  const float pad = ui.px(2);
  outline(ui, {box.x - pad, box.y + pad * 0.5F, box.w + 2.0F * pad, box.h - pad * 0.5F}, ui[Color::selection],
          std::max(1.0F, ui.px(1)), pad);
}

/// Of rows whose letters have no room the selected one has its own, else it is said how many they are.
void label_many(Ui& ui, const TimelineLanes& lanes, const LaneRows& rows) {
  const auto chosen = std::ranges::find(rows.ids, ui.selection.seq);
  const bool one = ui.selection.seq >= 0 && chosen != rows.ids.end();
  const auto above = one ? static_cast<float>(chosen - rows.ids.begin()) : 0.0F;
  const float h = font_pixels(FontRole::small);
  const float y = lanes.gantt.y + std::round(rows.h * (above + 0.5F) - h * 0.5F);
  const Rect box{lanes.gantt.x,
                 std::clamp(y, lanes.gantt.y - ui.px(2), std::max(lanes.gantt.y, lanes.gantt.bottom() - h)),
                 0.0F, h};
  if (one)
    label_row(ui, lanes, {lanes.gantt.x, lanes.gantt.y + rows.h * above, 0.0F, rows.h}, ui.selection.seq, 0,
              {1, 0.0F});
  else
    lane_label(ui, lanes, box, fmt::format("{} seqs", rows.ids.size()), ui[Color::muted]);
}

const char* phase_words(SeqPhase phase) {
  switch (phase) {
    case SeqPhase::waiting:
      return "waiting";
    case SeqPhase::prefill:
      return "prefill";
    case SeqPhase::decode:
      return "decode";
    case SeqPhase::preempted:
      return "preempted";
  }
  return "";
}

std::string row_words(const TimelineLanes& lanes, int seq) {
  int steps[4] = {};
  int preemptions = 0;
  bool finished = false;
  for (const SeqRun& run : lanes.facts.rows.at(seq)) {
    steps[static_cast<int>(run.phase)] += run.end - run.first;
    preemptions += run.phase == SeqPhase::preempted ? 1 : 0;
    finished |= run.finished;
  }
  std::string text = seq_words(seq);
  for (const SeqPhase phase : {SeqPhase::waiting, SeqPhase::prefill, SeqPhase::decode})
    text += fmt::format("{} {} {} steps", phase == SeqPhase::waiting ? ":" : ",", phase_words(phase),
                        steps[static_cast<int>(phase)]);
  if (preemptions > 0) text += fmt::format(", preempted {}\xC3\x97", preemptions);
  return text + (finished ? ", finished" : "");
}

}  // namespace

Rect box_in(const Rect& row) {
  const float above = row.h >= 8.0F ? 1.0F : 0.0F;
  return {row.x, row.y + above, std::max(1.0F, row.w - 1.0F), std::max(1.0F, row.h - above - 1.0F)};
}

LaneRows rows_of(const Ui& ui, const TimelineLanes& lanes) {
  LaneRows rows;
  for (const auto& [id, runs] : lanes.facts.rows) {
    const bool seen = std::any_of(runs.begin(), runs.end(), [&](const SeqRun& run) {
      return run.end > lanes.layout.first && run.first < lanes.layout.end;
    });
    if (seen) rows.ids.push_back(id);
  }
  const auto count = static_cast<float>(std::max<std::size_t>(1, rows.ids.size()));
  const float least = std::max(3.0F, ui.px(2));  // two pixels of colour and one between them
  const float each = std::floor(lanes.gantt.h / count);
  if (each >= least) rows.h = std::min(each, ui.px(20));
  rows.sparse = std::max(1.0F, count / kBudget);
  return rows;
}

void draw_phase(const Ui& ui, const Rect& box, SeqPhase phase, Rgb hue, float unit, float sparse) {
  switch (phase) {
    case SeqPhase::waiting:
      if (sparse > 1.0F) return fill(ui, {box.x, box.y + std::floor(box.h * 0.5F) - 1.0F, box.w, 2.0F}, hue);
      if (box.h >= 4.0F) return outline(ui, box, hue);
      return bars(ui, {box.x, box.y + box.h - 2.0F, box.w, 2.0F}, hue, 2.0F, ui.px(6) * sparse);
    case SeqPhase::prefill:
      return fill(ui, box, hue);
    case SeqPhase::decode:
      return dashes(ui, box, hue, std::max(ui.px(8) * sparse, unit));
    case SeqPhase::preempted:
      if (box.h < ui.px(7)) return bars(ui, box, ui[Color::error], ui.px(2), ui.px(4) * sparse);
      hatch(ui, box, ui[Color::error], ui.px(4) * sparse);
      return outline(ui, box, ui[Color::error]);
  }
}

void draw_seq_runs(const Ui& ui, const TimelineLanes& lanes, int seq, float y, float h, float sparse) {
  const std::vector<SeqRun>& runs = lanes.facts.rows.at(seq);
  auto run = std::partition_point(runs.begin(), runs.end(),
                                  [&](const SeqRun& one) { return one.end <= lanes.layout.first; });
  for (; run != runs.end() && run->first < lanes.layout.end; ++run)
    draw_run(ui, lanes, *run, {lanes.gantt.x, y, lanes.gantt.w, h}, seq, sparse);
}

void draw_gantt(Ui& ui, const TimelineLanes& lanes) {
  const LaneRows rows = rows_of(ui, lanes);
  if (rows.h <= 0.0F) return draw_crowd(ui, lanes, rows.ids);
  const RowLetters letters = letters_of(ui, lanes, rows);
  if (letters.columns == 0) label_many(ui, lanes, rows);
  const char* source = "history: scheduled, waiting, preempted, finished";
  Rect row{lanes.gantt.x, lanes.gantt.y, lanes.gantt.w, rows.h};
  for (std::size_t i = 0; i < rows.ids.size(); ++i, row.y += rows.h) {
    const int id = rows.ids[i];
    if (letters.columns > 0) label_row(ui, lanes, row, id, static_cast<int>(i), letters);
    draw_seq_runs(ui, lanes, id, row.y, rows.h, rows.sparse);
    const Hit hit = touch(ui, row);
    ui.marks.add(fmt::format("timeline/seq/{}", id), visible_part(ui, row), seq_words(id), source);
    if (hit.hovered) tooltip(ui, row_words(lanes, id), source);
    if (hit.clicked) select(ui, [&](Selection& s) { s.seq = id; });
  }
}

}  // namespace attn::viz
