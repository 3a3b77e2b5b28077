// Events of every step as letters above its column, what they mean, and the places one marked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/names.h"
#include "viz/lookup.h"
#include "viz/panels/timeline_lanes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

using trace::EventKind;

struct Flag {
  EventKind kind;
  const char* glyph;
  const char* words;
  const char* brief;
  bool alarm;
};
// The rarer and more telling first: a column has room for few.
constexpr Flag kFlags[] = {{EventKind::poison, "!", "NaN read", "NaN", true},
                           {EventKind::reject, "\xC3\x97", "reject", "reject", true},
                           {EventKind::preempt, "\xE2\x87\xA4", "preempt", "preempt", true},
                           {EventKind::evict, "E", "evict", "evict", false},
                           {EventKind::prefix_hit, "H", "prefix hit", "hit", false},
                           {EventKind::share, "S", "share", "share", false},
                           {EventKind::finish, "F", "finish", "finish", false},
                           {EventKind::free, "\xE2\x88\x92", "free", "free", false},
                           {EventKind::admit, "\xE2\x86\x92", "admit", "admit", false},
                           {EventKind::hash, "#", "hash", "hash", false},
                           {EventKind::allocate, "+", "allocate", "alloc", false}};
constexpr const char* kMoreFlags = "\xE2\x80\xA6";

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

/// Writes the flags of one step after another, from left to right.
struct FlagPen {
  const Ui& ui;
  const TimelineLanes& lanes;
  float free_from = 0.0F;
  float dotted_to = 0.0F;
  bool hidden = false;  // something had no room

  void write(int step);
  void put(const char* glyph, Rgb color, float pitch) {
    text_at(ui, FontRole::mono_small, free_from, lanes.flags.y, color, glyph);
    free_from += pitch;
  }
  /// Below the letters, where there is no room beside them for the three dots.
  void dot(float x) {
    hidden = true;
    if (x < dotted_to) return;
    const float size = std::max(2.0F, ui.px(2));
    fill(ui, {x, lanes.flags.bottom() - size, size, size}, ui[Color::warning]);
    dotted_to = x + 2.0F * size;
  }
};

void FlagPen::write(int step) {
  std::vector<const Flag*> flags;
  for (const Flag& flag : kFlags) {
    if (has(lanes.step(step), flag.kind)) flags.push_back(&flag);
  }
  if (flags.empty()) return;
  const float left = lanes.layout.left(step) + (bookmarked(ui.frame, step) ? ui.px(kRibbon + 2) : 0.0F);
  const float right = lanes.layout.right(step);
  const bool pushed = free_from > left + 2.0F;  // by the flag of a narrow step before
  free_from = std::max(left, free_from);
  const float glyph = text_width(ui, FontRole::mono_small, "H"), apart = glyph + ui.px(3);
  if (right - free_from < apart) {
    // What reaches over the next column is rare: no allocation and hashing there.
    const bool common = flags[0]->kind == EventKind::hash || flags[0]->kind == EventKind::allocate;
    const bool reaches_over = !pushed && !common && free_from + glyph <= lanes.flags.right();
    if (reaches_over) put(flags[0]->glyph, flag_color(ui, *flags[0]), apart);
    if (!reaches_over || flags.size() > 1) dot(lanes.layout.left(step));
    return;
  }
  // Closer together rather than fewer.
  const float pitch = std::clamp((right - free_from) / static_cast<float>(flags.size()), glyph + 1.0F, apart);
  const auto room = static_cast<std::size_t>((right - free_from + 1.0F) / pitch);
  const bool all = flags.size() <= room;
  const std::size_t shown = all ? flags.size() : std::max<std::size_t>(room, 2) - 1;
  for (std::size_t i = 0; i < shown; ++i) put(flags[i]->glyph, flag_color(ui, *flags[i]), pitch);
  if (all) return;
  hidden = true;
  if (room < 2) return dot(lanes.layout.left(step));
  put(kMoreFlags, ui[Color::warning], pitch);
}

}  // namespace

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

std::vector<FlagMeaning> flags_shown(const Ui& ui, const TimelineLanes& lanes) {
  std::vector<FlagMeaning> shown;
  for (const Flag& flag : kFlags) {
    int at = lanes.layout.first;
    while (at < lanes.layout.end && !has(lanes.step(at), flag.kind)) ++at;
    if (at < lanes.layout.end) shown.push_back({flag.glyph, flag.words, flag.brief, flag_color(ui, flag)});
  }
  return shown;
}

std::string all_flags_text() {
  std::string text = "events:";
  for (const Flag& flag : kFlags) text += fmt::format("\n{}  {}", flag.glyph, flag.words);
  return text + fmt::format("\n{}  more than there is room for", kMoreFlags);
}

bool draw_flags(Ui& ui, const TimelineLanes& lanes) {
  lane_label(ui, lanes, lanes.flags, "events", ui[Color::muted]);
  FlagPen pen{ui, lanes};
  for (int i = lanes.layout.first; i < lanes.layout.end; ++i) pen.write(i);
  draw_places(ui, lanes);
  return pen.hidden;
}

}  // namespace attn::viz
