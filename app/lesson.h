// Where one is in the script of what is open, and what the learner has done there. Knows no thread and no
// file; the session carries out what a stop needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/lesson_list.h"
#include "app/scenario.h"
#include "core/trace/compare.h"
#include "core/trace/store.h"
#include "viz/frame.h"
#include "viz/screen.h"

namespace attn::app {

/// How the window stands: what exercises are about.
struct Standing {
  const trace::Store* store = nullptr;  // of the run that is open
  viz::Selection selection;
  std::optional<std::pair<trace::Variant, trace::Variant>> compare;
  viz::StageView stage = viz::StageView::weights;
  viz::SideView side = viz::SideView::stages;
  viz::PanelId maximised = viz::PanelId::count_;
  bool operator==(const Standing&) const = default;
};

/// Whether the engine's switches are as the exercise sets them.
bool switched(const Exercise& exercise, const EngineConfig& config);
/// Whether place, view and switches are what the exercise asks for; what it does not say is not asked. One
/// that says nothing at all is done by doing anything.
/// PRECOND: the store has a step.
bool stands(const Exercise& exercise, const Standing& standing);

/// What of a stop's view is not said is the default. In mode present the right column turns to what is shown.
void show(const Shown& shown, viz::ViewState& view);

/// The stop that tells of a place of the scenario's own run: the one that is there, else the last before it,
/// else the first.
int stop_at(const Scenario& scenario, const Place& place);

class Lesson {
 public:
  /// PRECOND: the scenario's script has stops.
  Lesson(std::shared_ptr<const Scenario> scenario, LessonProgress progress);

  const Scenario& scenario() const { return *scenario_; }
  const Stop& stop() const { return script().stops[static_cast<std::size_t>(at_)]; }
  int at() const { return at_; }
  const LessonProgress& progress() const { return progress_; }

  /// Null at the last.
  const Stop* next_stop() const;

  /// Sets out for a stop (clamped): nothing is shown of it before arrive().
  void go(int stop);
  /// Forwards from a question answers it instead. False when there is nowhere to go.
  bool next(int by);
  void answer();
  /// Sets out for the stop as it is when broken, or for the right one again.
  void set_broken(bool broken);

  bool broken() const { return broken_; }

  bool arrived() const { return now_.ready; }
  /// What the stop (broken or not) wants. While it asks nothing is selected: that would often be the answer.
  const std::string& run() const;
  Place place() const;
  Shown shown() const;
  /// The window stands there.
  void arrive(const Standing& standing);
  /// It cannot: why.
  void fail(const std::string& why);

  /// After whatever the user did: true when the task has just been done with their own hands, and its numbers
  /// are to be checked.
  bool watch(const Standing& standing);
  /// What the numbers say: proof "" and missed say which was wrong.
  void task_checked(const std::string& proof, const std::string& missed);
  /// Texts with their numbers filled in.
  void told(std::string caption, std::string notes, std::string task, std::string break_it);
  void next_told(std::string caption) { now_.next_caption = std::move(caption); }
  void broken_proved(std::string proof) { now_.break_it->proof = std::move(proof); }

  const viz::LessonNow& now() const { return now_; }

 private:
  const Script& script() const { return scenario_->script; }
  void fill();

  const std::shared_ptr<const Scenario> scenario_;
  LessonProgress progress_;
  int at_ = 0;
  bool broken_ = false;
  bool armed_ = false;             // the task was not done when one came, so doing it counts
  bool was_done_ = false;          // of the task at the last look
  std::optional<Standing> since_;  // how the window stood on arrival
  viz::LessonNow now_;
};

}  // namespace attn::app
