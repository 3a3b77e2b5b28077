#include "app/edit_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/place.h"
#include "app/view_names.h"
#include "core/trace/cursor.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"
#include "viz/panels/caption.h"

namespace attn::app {
namespace {

constexpr int kStepsPerSection = 12;  // of a film without stops
constexpr int kLongestWalk = 2000;    // places

/// The list being made. Times add up in seconds and are rounded to frames once, so that they do not drift.
class Cutter {
 public:
  Cutter(const Pace& pace, int fps) : pace_(pace) {
    list_.fps = fps;
    list_.tween = static_cast<int>(std::lround(pace.tween * fps));
  }

  void section(std::string name, int stop, std::string caption) {
    Section section;
    section.name = std::move(name);
    section.stop = stop;
    section.caption = std::move(caption);
    section.first_shot = static_cast<int>(list_.shots.size());
    list_.sections.push_back(std::move(section));
  }

  void shot(Shot shot, double seconds) {
    const double least = list_.shots.empty() ? pace_.ends : kShortestShot;
    list_.shots.push_back(std::move(shot));
    seconds_.push_back(std::max(seconds, least));
    ++list_.sections.back().num_shots;
  }

  EditList take() {
    if (seconds_.empty()) return list_;
    seconds_.back() = std::max(seconds_.back(), pace_.ends);
    double end = 0.0;
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
      Shot& shot = list_.shots[i];
      end += seconds_[i];
      shot.first = list_.frames;
      list_.frames = std::max(list_.frames + 1, static_cast<int>(std::lround(end * list_.fps)));
      // Where a frame lasts longer than a shot, what comes behind is later and not shorter.
      end = std::max(end, (list_.frames - 0.5) / list_.fps);
      shot.frames = list_.frames - shot.first;
    }
    for (Section& section : list_.sections) {
      section.first = list_.shots[static_cast<std::size_t>(section.first_shot)].first;
      for (int i = 0; i < section.num_shots; ++i)
        section.frames += list_.shots[static_cast<std::size_t>(section.first_shot + i)].frames;
    }
    return std::move(list_);
  }

 private:
  const Pace pace_;
  EditList list_;
  std::vector<double> seconds_;  // of each shot
};

/// The cursors after `from`, up to and including `to`; nothing when the walk in that direction does not come
/// there.
std::optional<std::vector<trace::Cursor>> path(const trace::Store& store, const viz::Selection& from,
                                               const viz::Selection& to, trace::Grain grain, int by) {
  trace::PlannedGrids grids(store, to.seq, to.q_row);
  const trace::Cursor end = cursor_of(to);
  std::vector<trace::Cursor> places;
  for (trace::Cursor at = cursor_of(from); static_cast<int>(places.size()) < kLongestWalk;) {
    const bool there = grain == trace::Grain::step ? at.index == end.index : at == end;
    if (there) return places;
    const trace::Cursor next = trace::move_cursor(store, at, grain, by, grids);
    if (next == at || (next.index - end.index) * by > 0) return std::nullopt;
    places.push_back(at = next);
  }
  return std::nullopt;
}

std::vector<trace::Cursor> walk_of(const trace::Store& store, const Stop& stop, const viz::Selection& from,
                                   const viz::Selection& to) {
  for (const int by : {1, -1}) {
    if (auto places = path(store, from, to, stop.walk->grain, by)) return *places;
  }
  throw InputError(
      fmt::format("the walk by {} does not come to its place within {} places ({}); choose a "
                  "finer grain or another place",
                  view_name(stop.walk->grain), kLongestWalk, stop.where));
}

/// How long a text stands for that it can be read aloud beside the picture.
double reading_seconds(std::string_view text, const Pace& pace) {
  int words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    if (!blank && !inside) ++words;
    inside = !blank;
  }
  return std::max(pace.least, words / pace.words);
}

void add_stop(Cutter& cut, const Script& script, int index, const Material& material, const Pace& pace) {
  const Stop& stop = script.stops[static_cast<std::size_t>(index)];
  const trace::Store& store = material.store(stop.run);
  const viz::Selection to = selection_of(stop.place, store, stop.where);
  const std::string caption = material.fill(stop.caption, stop);
  cut.section(stop.name, index, caption);
  Shot shot{.stop = index, .run = stop.run, .selection = to, .caption = caption};
  if (!stop.predict.empty()) {
    Shot question = shot;
    question.caption = material.fill(stop.predict, stop);
    question.question = true;
    for (const std::string& choice : stop.choices) question.choices.push_back(material.fill(choice, stop));
    if (stop.walk) question.selection = selection_of(stop.from, store, stop.where);
    const double seconds =
        reading_seconds(fmt::format("{} {}", question.caption, fmt::join(question.choices, " ")), pace);
    cut.shot(std::move(question), seconds);
  }
  if (stop.walk) {
    const viz::Selection from = selection_of(stop.from, store, stop.where);
    const std::vector<trace::Cursor> places = walk_of(store, stop, from, to);
    const double each = stop.walk->pace > 0.0 ? stop.walk->pace : pace.step;
    viz::Selection at = from;
    for (const trace::Cursor& next : places) {
      shot.selection = at;
      cut.shot(shot, each);
      at = moved_to(at, next);
    }
    shot.selection = to;
  }
  const double seconds = stop.hold.value_or(reading_seconds(caption, pace));
  cut.shot(std::move(shot), seconds);
}

/// What mode present says of the step.
class StepCaptions {
 public:
  explicit StepCaptions(const trace::Store& store) : store_(store) { frame_.manifest = &store.manifest(); }

  std::string of(int index) {
    frame_.step = store_.step(index);
    for (const trace::Sampled& sampled : frame_.step->sampled) {
      const auto id = static_cast<std::size_t>(std::max(0, sampled.token_id));
      if (frame_.token_texts.size() <= id) frame_.token_texts.resize(id + 1);
      frame_.token_texts[id] = store_.token_text(sampled.token_id);
    }
    return viz::step_sentence(frame_);
  }

 private:
  const trace::Store& store_;
  viz::Frame frame_;
};

/// Step by step; a section for each run of steps of one kind.
void add_steps(Cutter& cut, const trace::Store& store, const viz::Selection& begin, const Pace& pace) {
  StepCaptions captions(store);
  const int last = store.num_steps() - 1;
  for (int i = std::clamp(begin.step, 0, last); i <= last;) {
    const trace::StepKind kind = store.step(i)->kind;
    int end = i + 1;
    while (end <= last && end - i < kStepsPerSection && store.step(end)->kind == kind) ++end;
    const int from = store.step(i)->step, to = store.step(end - 1)->step;
    cut.section(from == to ? fmt::format("step {}, {}", from, trace::name_of(kind))
                           : fmt::format("steps {} to {}, {}", from, to, trace::name_of(kind)),
                -1, "");
    for (; i < end; ++i) {
      Shot shot{.selection = begin, .caption = captions.of(i)};
      shot.selection.step = i;
      cut.shot(std::move(shot), pace.step);
    }
  }
}

}  // namespace

EditList edit_film(const Script& script, const Material& material, const Pace& pace, int fps,
                   const viz::Selection& begin) {
  Cutter cut(pace, fps);
  for (int i = 0; i < std::ssize(script.stops); ++i) add_stop(cut, script, i, material, pace);
  if (script.empty()) add_steps(cut, material.store(""), begin, pace);
  return cut.take();
}

}  // namespace attn::app
