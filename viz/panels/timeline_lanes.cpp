#include "viz/panels/timeline_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/names.h"
#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

using trace::EventKind;

struct Flag {
  EventKind kind;
  const char* glyph;
  const char* words;
  bool alarm;
};
// The rarer and more telling first: a column has room for few.
constexpr Flag kFlags[] = {{EventKind::poison, "!", "NaN read", true},
                           {EventKind::reject, "\xC3\x97", "reject", true},
                           {EventKind::preempt, "\xE2\x87\xA4", "preempt", true},
                           {EventKind::evict, "E", "evict", false},
                           {EventKind::prefix_hit, "H", "prefix hit", false},
                           {EventKind::share, "S", "share", false},
                           {EventKind::finish, "F", "finish", false},
                           {EventKind::free, "\xE2\x88\x92", "free", false},
                           {EventKind::admit, "\xE2\x86\x92", "admit", false},
                           {EventKind::hash, "#", "hash", false},
                           {EventKind::allocate, "+", "allocate", false}};

bool has(const StepSummary& step, EventKind kind) {
  return std::find(step.events.begin(), step.events.end(), kind) != step.events.end();
}

Rgb flag_color(const Ui& ui, const Flag& flag) { return ui[flag.alarm ? Color::error : Color::warning]; }

constexpr float kRibbon = 8.0F;  // px at scale 1, width of a bookmark

bool bookmarked(const Frame& frame, int index) {
  return std::any_of(frame.bookmarks.begin(), frame.bookmarks.end(),
                     [&](const trace::Bookmark& bookmark) { return bookmark.cursor.index == index; });
}

/// Bookmarks before a step's flags, break points on the upper edge of the steps.
void draw_places(Ui& ui, const TimelineLanes& lanes) {
  const float size = ui.px(kRibbon);
  for (std::size_t i = 0; i < ui.frame.bookmarks.size(); ++i) {
    const trace::Bookmark& bookmark = ui.frame.bookmarks[i];
    const int at = bookmark.cursor.index;
    if (at < lanes.layout.first || at >= lanes.layout.end) continue;
    const float x = std::min(lanes.layout.left(at), lanes.flags.right() - size);
    const Rect box{x, lanes.flags.y, size, lanes.flags.h};
    // A ribbon: a bar with a cut at its end.
    const ImU32 c = rgba(ui[Color::accent]);
    ui.draw->AddTriangleFilled({x, box.y}, {x + size, box.y}, {x, box.bottom()}, c);
    ui.draw->AddTriangleFilled({x, box.y}, {x + size, box.y}, {x + size, box.bottom()}, c);
    const Hit hit = mark(ui, fmt::format("timeline/bookmark/{}", i), box,
                         fmt::format("bookmark: {}", bookmark.note.empty() ? "no note" : bookmark.note),
                         fmt::format("bookmarks[{}], step {}", i, step_number(ui.frame, at)));
    if (hit.clicked) send(ui, Command::Kind::go_to_bookmark, static_cast<int>(i));
  }
  if (ui.frame.breakpoints.empty()) return;
  float last = lanes.layout.x0 - size;
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) {
    const float x = lanes.layout.left(i);
    if (x < last + size) continue;
    const auto holds = [&](const trace::Condition& c) { return known_to_hold(c, lanes.step(i)); };
    if (std::none_of(ui.frame.breakpoints.begin(), ui.frame.breakpoints.end(), holds)) continue;
    ui.draw->AddCircleFilled({x + size * 0.5F, lanes.steps.y + size * 0.5F}, size * 0.5F,
                             rgba(ui[Color::error]));
    last = x;
  }
}

// More rows are plain bars: a draw list holds 65,535 vertices, and a dash takes four.
constexpr std::size_t kMostDetailed = 24;

/// A row for every sequence that the steps on screen know.
struct LaneRows {
  std::vector<int> ids;
  float h = 0;  // 0: they are too many for rows
};

LaneRows rows_of(const Ui& ui, const TimelineLanes& lanes) {
  LaneRows rows;
  for (const auto& [id, runs] : lanes.facts.rows) {
    const bool seen = std::any_of(runs.begin(), runs.end(), [&](const SeqRun& run) {
      return run.end > lanes.layout.first && run.first < lanes.layout.end;
    });
    if (seen) rows.ids.push_back(id);
  }
  const float least = std::max(2.0F, ui.px(2));
  const float each =
      std::floor(lanes.gantt.h / static_cast<float>(std::max<std::size_t>(1, rows.ids.size())));
  if (each >= least) rows.h = std::min(each, ui.px(20));
  return rows;
}

/// Height of rows from which each has its letter.
float letters_from() { return font_pixels(FontRole::small) - 1.0F; }

/// A dash per step, or every few pixels where steps are narrower than that; among dozens of rows a plain bar
/// half as high as a prefill.
void draw_decode_run(const Ui& ui, const Rect& box, Rgb hue, float unit, bool dashed) {
  if (!dashed) {
    fill(ui, {box.x, box.y, box.w, std::max(1.0F, std::floor(box.h * 0.5F))}, hue);
    return;
  }
  const float inset = std::round(box.h * 0.28F);
  const Rect bar{box.x, box.y + inset, box.w, std::max(1.0F, box.h - 2.0F * inset)};
  fill(ui, bar, hue);
  const float pitch = std::max(ui.px(6), unit);
  const float cut = std::max(1.0F, ui.px(1.5F));
  for (float x = bar.x + pitch; x < bar.right(); x += pitch)
    fill(ui, {std::round(x) - cut, bar.y, cut, bar.h}, ui[Color::panel]);
}

/// Waiting is an outline, prefill solid, decode dashed, preemption hatched, finishing a cap.
void draw_run(const Ui& ui, const TimelineLanes& lanes, const SeqRun& run, float y, float h, int seq,
              bool detailed) {
  const int first = std::max(run.first, lanes.layout.first);
  const int end = std::min(run.end, lanes.layout.end);
  if (first >= end) return;
  const float x0 = lanes.layout.left(first);
  const float x1 = lanes.layout.right(end - 1);
  const float gap = detailed ? 1.0F : 0.0F;
  const Rect box{x0, y + gap, std::max(1.0F, x1 - x0 - 1.0F), std::max(1.0F, h - 2.0F * gap)};
  const Rgb hue = hue_of(ui, seq);
  if (run.phase == SeqPhase::waiting) {
    if (detailed)
      outline(ui, box, hue, 1.0F);
    else
      fill(ui, {box.x, box.y, box.w, 1.0F}, ui[Color::muted]);
  } else if (run.phase == SeqPhase::preempted) {
    fill(ui, box, ui[Color::error], 0.35F);
    if (detailed) hatch(ui, box, ui[Color::error], ui.px(4));
  } else if (run.phase == SeqPhase::prefill) {
    fill(ui, box, hue);
    for (int i = first + 1; i < end && lanes.layout.unit >= 3.0F && detailed; ++i)
      fill(ui, {lanes.layout.left(i) - 1.0F, box.y, 1.0F, box.h}, ui[Color::panel]);
  } else {
    draw_decode_run(ui, box, hue, lanes.layout.unit, detailed);
  }
  if (run.finished && run.end == end) fill(ui, {x1 - ui.px(3), y, ui.px(3), h}, ui[Color::text]);
}

/// Rows too low for a letter each have them side by side, top row first; many say how many they are.
void label_rows(Ui& ui, const TimelineLanes& lanes, const LaneRows& rows) {
  const auto count = rows.ids.size();
  if (count == 0 || rows.h >= letters_from()) return;
  // In the middle of rows that are together lower than a letter.
  const float h = font_pixels(FontRole::small) + ui.px(2);
  const float spare = std::min(0.0F, rows.h * static_cast<float>(count) - h);
  const float y = std::min(lanes.gantt.y + std::round(spare * 0.5F), ui.panel.bottom() - h);
  if (y < lanes.steps.bottom() - ui.px(3)) return;
  const Rect box{lanes.gantt.x, y, 0.0F, h};
  std::string label;
  for (const int id : rows.ids) label += (label.empty() ? "" : " ") + (id == -1 ? "w" : seq_letter(id));
  if (text_width(ui, FontRole::small, label) > lanes.gantt.x - lanes.label_x - ui.px(8))
    label = fmt::format("{} seqs", count);
  lane_label(ui, lanes, box, label, ui[Color::muted]);
  mark(ui, "timeline/lanes", {lanes.label_x, box.y, lanes.gantt.x - lanes.label_x, box.h},
       fmt::format("{} sequences", count), "history: scheduled, waiting");
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

void lane_label(const Ui& ui, const TimelineLanes& lanes, const Rect& lane, std::string_view text,
                Rgb color) {
  text_in(ui, FontRole::small, {lanes.label_x, lane.y, lane.x - lanes.label_x - ui.px(8), lane.h}, color,
          text, Align::right);
}

std::string step_words(const Frame& frame, const StepSummary& step, int index) {
  std::string text =
      fmt::format("{} step {}: {} tokens of", kind_text(step.kind), step.step, step.num_tokens);
  for (std::size_t i = 0; i < step.scheduled.size() && i < 12; ++i)
    text += " " + seq_letter(step.scheduled[i]);
  if (step.scheduled.size() > 12) text += fmt::format(" and {} more", step.scheduled.size() - 12);
  std::string events;
  for (const Flag& flag : kFlags) {
    if (has(step, flag.kind))
      events += fmt::format("{}{} {}", events.empty() ? "\n" : ", ", flag.glyph, flag.words);
  }
  for (const trace::Bookmark& bookmark : frame.bookmarks) {
    if (bookmark.cursor.index == index)
      events += fmt::format("\nbookmark: {}", bookmark.note.empty() ? "no note" : bookmark.note);
  }
  return text + events;
}

void draw_flags(Ui& ui, const TimelineLanes& lanes) {
  lane_label(ui, lanes, lanes.flags, "events", ui[Color::muted]);
  std::string legend = "events:";
  for (const Flag& flag : kFlags) legend += fmt::format("\n{}  {}", flag.glyph, flag.words);
  mark(ui, "timeline/legend",
       {lanes.label_x, lanes.flags.y, lanes.flags.x - lanes.label_x - ui.px(4), lanes.flags.h}, legend,
       "history: events of every step");
  const float pitch = text_width(ui, FontRole::mono_small, "H") + ui.px(3);
  float free_from = lanes.layout.x0;
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) {
    const float left = lanes.layout.left(i) + (bookmarked(ui.frame, i) ? ui.px(kRibbon + 2) : 0.0F);
    float x = std::max(left, free_from);
    const float limit = lanes.layout.right(i);
    if (x > limit) continue;
    for (const Flag& flag : kFlags) {
      if (!has(lanes.step(i), flag.kind)) continue;
      const bool first = x == left;
      // Narrow columns keep room for what is rare: no allocation and hashing there.
      const bool common = flag.kind == EventKind::hash || flag.kind == EventKind::allocate;
      if (x + pitch > limit && (!first || common)) break;
      if (x + pitch > lanes.flags.right()) break;
      text_at(ui, FontRole::mono_small, x, lanes.flags.y, flag_color(ui, flag), flag.glyph);
      x += pitch;
      free_from = x;
    }
  }
  draw_places(ui, lanes);
}

void draw_flag_legend(Ui& ui, const TimelineLanes& lanes, const Rect& box, bool all) {
  const float line_h = std::min(box.h, ui.px(16));
  float x = box.x, y = box.y;
  for (const Flag& flag : kFlags) {
    int at = lanes.layout.first;
    while (at < lanes.layout.end && !has(lanes.step(at), flag.kind)) ++at;
    if (!all && at == lanes.layout.end) continue;
    const float w = ui.px(12) + text_width(ui, FontRole::small, flag.words) + ui.px(14);
    if (x + w > box.right()) {
      x = box.x;
      y += line_h;
    }
    if (x + w > box.right() || y + line_h > box.bottom()) return;
    text_in(ui, FontRole::mono_small, {x, y, ui.px(12), line_h}, flag_color(ui, flag), flag.glyph,
            Align::left);
    text_in(ui, FontRole::small, {x + ui.px(12), y, w, line_h}, ui[Color::muted], flag.words, Align::left);
    x += w;
  }
}

void draw_steps(Ui& ui, const TimelineLanes& lanes) {
  lane_label(ui, lanes, lanes.steps, "step", ui[Color::muted]);
  const float gap = lanes.layout.unit >= 3.0F ? 1.0F : 0.0F;
  for (int i = lanes.layout.first; i < lanes.layout.end;) {
    const bool decode = lanes.step(i).kind == trace::StepKind::decode;
    int end = i + 1;
    // Columns too narrow to part are drawn in runs of one kind.
    while (gap == 0.0F && end < lanes.layout.end &&
           (lanes.step(end).kind == trace::StepKind::decode) == decode)
      ++end;
    const float x0 = lanes.layout.left(i);
    const Rect box{x0, lanes.steps.y, std::max(1.0F, lanes.layout.right(end - 1) - x0 - gap), lanes.steps.h};
    fill(ui, box, ui[Color::raised]);
    if (!decode) fill(ui, {box.x, box.y, box.w, ui.px(4)}, ui[Color::stroke]);
    const char* letter = decode ? "D" : lanes.step(i).kind == trace::StepKind::warmup ? "W" : "P";
    const bool playhead = i == ui.frame.index && end == i + 1;  // which writes it
    if (!playhead && box.w >= ui.px(11))
      text_in(ui, FontRole::mono_small, box, ui[Color::text], letter, Align::center);
    i = end;
  }
}

void draw_seq_runs(const Ui& ui, const TimelineLanes& lanes, int seq, float y, float h, bool detailed) {
  const std::vector<SeqRun>& runs = lanes.facts.rows.at(seq);
  auto run = std::partition_point(runs.begin(), runs.end(),
                                  [&](const SeqRun& one) { return one.end <= lanes.layout.first; });
  for (; run != runs.end() && run->first < lanes.layout.end; ++run)
    draw_run(ui, lanes, *run, y, h, seq, detailed && h >= ui.px(6));
}

void draw_gantt(Ui& ui, const TimelineLanes& lanes) {
  const LaneRows rows = rows_of(ui, lanes);
  if (rows.h <= 0.0F) return draw_crowd(ui, lanes, rows.ids);
  float y = lanes.gantt.y - rows.h;
  for (const int id : rows.ids) {
    y += rows.h;
    const Rect lane{lanes.gantt.x, y, lanes.gantt.w, rows.h};
    const bool selected = id >= 0 && id == ui.selection.seq;  // -1 is also "nothing selected"
    if (rows.h >= letters_from())
      lane_label(ui, lanes, lane, id == -1 ? "warm-up" : seq_letter(id),
                 ui[selected ? Color::text : Color::muted]);
    draw_seq_runs(ui, lanes, id, y, rows.h, rows.ids.size() <= kMostDetailed);
    if (selected && rows.h < letters_from())
      fill(ui, {lanes.gantt.x - ui.px(5), y, ui.px(4), std::max(rows.h, 2.0F)}, ui[Color::selection]);
    const Hit hit = touch(ui, lane);
    ui.marks.add(fmt::format("timeline/seq/{}", id), visible_part(ui, lane), seq_words(id),
                 "history: scheduled, waiting, preempted, finished");
    if (hit.hovered) tooltip(ui, row_words(lanes, id), "history: scheduled, waiting, preempted, finished");
    if (hit.clicked) select(ui, [&](Selection& s) { s.seq = id; });
  }
  label_rows(ui, lanes, rows);
}

void draw_block_use(Ui& ui, const TimelineLanes& lanes) {
  const int block = ui.selection.block;
  lane_label(ui, lanes, lanes.block, block < 0 ? "block" : fmt::format("#{}", block),
             ui[block < 0 ? Color::muted : Color::text]);
  if (block < 0) {
    text_in(ui, FontRole::small, lanes.block, ui[Color::muted],
            "click a block: when it was written \xE2\x96\xBC and read \xE2\x96\xB3", Align::right);
    return;
  }
  const auto at = static_cast<std::size_t>(block);
  const auto in = [&](const std::vector<bool>& set) { return at < set.size() && set[at]; };
  const float size = std::min(ui.px(8), lanes.block.h - 1.0F);
  int written = 0, read = 0;
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) {
    const StepSummary& step = lanes.step(i);
    const float x = lanes.layout.left(i);
    const float w = std::max(1.0F, lanes.layout.right(i) - x);
    const bool wrote = in(step.written), took = in(step.read);
    written += wrote ? 1 : 0;
    read += took ? 1 : 0;
    if (w < size + ui.px(2)) {  // a tick: written from above, read from below
      const float half = std::round(lanes.block.h * 0.5F);
      if (wrote) fill(ui, {x, lanes.block.y, w, half}, ui[Color::warning]);
      if (took) fill(ui, {x, lanes.block.y + half, w, lanes.block.h - half - 1.0F}, ui[Color::accent], 0.7F);
      continue;
    }
    const float step_w = w >= 2.0F * size + ui.px(4) ? size + ui.px(2) : 0.0F;
    const float left = std::round(x + (w - size - step_w) * 0.5F);
    if (wrote) triangle_down(ui, left, lanes.block.y + ui.px(2), size, ui[Color::warning]);
    if (took && (step_w > 0.0F || !wrote))
      triangle_up(ui, left + step_w, lanes.block.y + ui.px(2), size, ui[Color::accent]);
  }
  mark(ui, "timeline/block", lanes.block,
       fmt::format("block {}: written in {} and read in {} of the steps shown", block, written, read),
       "history: slot_mapping, block_tables of every step");
}

void draw_occupancy(Ui& ui, const TimelineLanes& lanes) {
  const int total = ui.frame.step ? static_cast<int>(ui.frame.step->blocks.size()) : 0;
  if (total <= 0) return;
  lane_label(ui, lanes, lanes.pool, "pool", ui[Color::muted]);
  const float x1 = lanes.layout.right(lanes.layout.end - 1);
  fill(ui, {lanes.pool.x, lanes.pool.y, x1 - lanes.pool.x, lanes.pool.h}, ui[Color::raised]);
  const auto height = [&](int blocks) {
    return std::round(lanes.pool.h * static_cast<float>(std::min(blocks, total)) / static_cast<float>(total));
  };
  for (int i = lanes.layout.first; i < lanes.layout.end;) {
    const StepSummary& step = lanes.step(i);
    int end = i + 1;
    while (end < lanes.layout.end && lanes.step(end).blocks_used == step.blocks_used &&
           lanes.step(end).blocks_cached_free == step.blocks_cached_free)
      ++end;
    const Rect area{lanes.layout.left(i), lanes.pool.y,
                    std::max(1.0F, lanes.layout.right(end - 1) - lanes.layout.left(i)), lanes.pool.h};
    const float used = height(step.blocks_used);
    const float cached = height(step.blocks_used + step.blocks_cached_free) - used;
    fill(ui, {area.x, area.bottom() - used, area.w, used}, ui[Color::stroke]);
    const Rect upper{area.x, area.bottom() - used - cached, area.w, cached};
    fill(ui, upper, ui[Color::border]);
    if (cached >= 2.0F) fill(ui, {upper.x, upper.y, upper.w, 1.0F}, ui[Color::muted]);
    i = end;
  }
}

}  // namespace attn::viz
