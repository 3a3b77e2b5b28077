// Lanes of the timeline below each other: event flags, steps, sequences, the selected block, pool occupancy,
// legend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/layout/timeline_layout.h"
#include "viz/timeline_facts.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

struct TimelineLanes {
  const TimelineFacts& facts;
  TimelineLayout layout;
  float label_x = 0;  // labels stand between here and the lanes
  Rect flags;         // event flags, bookmarks, break points
  Rect steps;         // P and D columns
  Rect stages;        // the sub-lane of the current step; h = 0: no room
  Rect gantt;
  Rect block;   // writes and reads of the selected block; h = 0: no room
  Rect pool;    // h = 0: no room
  Rect legend;  // h = 0: no room

  const StepSummary& step(int index) const { return (*facts.history)[static_cast<std::size_t>(index)]; }
};

void lane_label(const Ui& ui, const TimelineLanes& lanes, const Rect& lane, std::string_view text, Rgb color);
/// Words for a step: kind, sequences, events, bookmarks.
std::string step_words(const Frame& frame, const StepSummary& step, int index);

/// A letter above the steps and what it says, in full and in short.
struct FlagMeaning {
  std::string_view glyph, words, brief;
  Rgb color;
};
/// Of the events of the steps on screen; then of all there are, a line each.
std::vector<FlagMeaning> flags_shown(const Ui& ui, const TimelineLanes& lanes);
std::string all_flags_text();
/// Whether a step has more than there is room for above it; dots there say so.
bool draw_flags(Ui& ui, const TimelineLanes& lanes);
void draw_steps(Ui& ui, const TimelineLanes& lanes);
void draw_gantt(Ui& ui, const TimelineLanes& lanes);
/// What the letters above the steps on screen and the looks of the sequences' lanes mean, in a line of its
/// own where there is room for one, and where the mouse asks. `hidden`: also what the dots say.
void draw_legend(Ui& ui, const TimelineLanes& lanes, bool hidden);

/// Rows of the sequences that the steps on screen know.
struct LaneRows {
  std::vector<int> ids;
  float h = 0;          // of each; 0: they are too many for rows
  float sparse = 1.0F;  // how far apart dashes are: a draw list holds 65,535 vertices, a dash takes four
};
LaneRows rows_of(const Ui& ui, const TimelineLanes& lanes);
/// What is painted of a part of a row: apart from its neighbours.
Rect box_in(const Rect& row);
/// What a sequence did, in a row at y.
void draw_seq_runs(const Ui& ui, const TimelineLanes& lanes, int seq, float y, float h, float sparse);
/// Waiting is hollow, prefill solid, decode dashed, preemption hatched; dotted and barred in boxes too low
/// for that. `unit`: width of a decode step.
void draw_phase(const Ui& ui, const Rect& box, SeqPhase phase, Rgb hue, float unit, float sparse);
/// Too many sequences for rows: how many of them wait, prefill and decode in each step, and the row of the
/// selected one.
void draw_crowd(Ui& ui, const TimelineLanes& lanes, const std::vector<int>& seqs);
/// The part of a step's stack that is in a phase.
void draw_crowd_part(const Ui& ui, const Rect& part, SeqPhase phase);
void draw_block_use(Ui& ui, const TimelineLanes& lanes);
void draw_occupancy(Ui& ui, const TimelineLanes& lanes);
/// Stages of the current step, layers, and the tiles of its attention, opened below its column.
void draw_stage_lane(Ui& ui, const TimelineLanes& lanes);

}  // namespace attn::viz
