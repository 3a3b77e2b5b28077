// Lanes of the timeline below each other: event flags, steps, sequences, the selected block, pool occupancy.
#pragma once

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
  Rect block;  // writes and reads of the selected block; h = 0: no room
  Rect pool;   // h = 0: no room

  const StepSummary& step(int index) const { return (*facts.history)[static_cast<std::size_t>(index)]; }
};

void lane_label(const Ui& ui, const TimelineLanes& lanes, const Rect& lane, std::string_view text, Rgb color);
/// Words for a step: kind, sequences, events, bookmarks.
std::string step_words(const Frame& frame, const StepSummary& step, int index);

void draw_flags(Ui& ui, const TimelineLanes& lanes);
/// The glyphs of all flags, or of those in the steps shown, with their meaning, as far as the box has room.
void draw_flag_legend(Ui& ui, const TimelineLanes& lanes, const Rect& box, bool all);
void draw_steps(Ui& ui, const TimelineLanes& lanes);
void draw_gantt(Ui& ui, const TimelineLanes& lanes);
/// What a sequence did, in a row at y; `detailed`: with outlines and dashes.
void draw_seq_runs(const Ui& ui, const TimelineLanes& lanes, int seq, float y, float h, bool detailed);
/// Too many sequences for rows: how many of them wait, prefill and decode in each step, and the row of the
/// selected one.
void draw_crowd(Ui& ui, const TimelineLanes& lanes, const std::vector<int>& seqs);
void draw_block_use(Ui& ui, const TimelineLanes& lanes);
void draw_occupancy(Ui& ui, const TimelineLanes& lanes);
/// Stages of the current step, layers, and the tiles of its attention, opened below its column.
void draw_stage_lane(Ui& ui, const TimelineLanes& lanes);

}  // namespace attn::viz
