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
  bool true_memory = false;            // the packed strip without its gaps
  bool run_open = true;                // the very run that the task at hand asks for
  std::vector<SentRequest> sent = {};  // by hand, in a run that was started over
  bool operator==(const Standing&) const = default;
};

/// Whether the engine's switches are as the exercise sets them.
bool switched(const Exercise& exercise, const EngineConfig& config);
/// Whether place, view, run and switches are what the exercise asks for; what it does not say is not asked.
/// One that says nothing at all is done by doing anything.
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
  /// `guess`: which of the stop's choices, -1: none.
  void answer(int guess = -1);
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
  /// The task at hand; null when the stop has none.
  const Exercise* task() const { return now_.task ? &stop().tasks[at_task_] : nullptr; }
  /// What the numbers say: proof "" and missed say which was wrong. The next task is at hand then.
  void task_checked(const std::string& proof, const std::string& missed, const Standing& standing);
  /// Texts of the stop with their numbers filled in, in the order of texts().
  void told(const std::vector<std::string>& texts);
  /// Caption, notes, what is broken, the right answer, the question, the choices and the tasks.
  std::vector<std::string> texts() const;
  void broken_told(std::string text) { now_.break_it->text = std::move(text); }
  void next_told(std::string caption) { now_.next_caption = std::move(caption); }
  /// `right`: its numbers came out, so it counts as done.
  void broken_proved(std::string proof, bool right);

  const viz::LessonNow& now() const { return now_; }

 private:
  const Script& script() const { return scenario_->script; }
  void fill();
  void hand_task(std::size_t i);
  void judge_guess();
  bool come_along(const Exercise& task, const Standing& standing);

  const std::shared_ptr<const Scenario> scenario_;
  LessonProgress progress_;
  int at_ = 0;
  bool broken_ = false;
  std::size_t at_task_ = 0;              // PRECOND of use: the stop has tasks
  std::vector<std::string> task_texts_;  // with their numbers, once they are known
  bool armed_ = false;                   // the task was not done when one came, so doing it counts
  bool was_done_ = false;                // of the task at the last look
  bool moved_ = false;                   // one has been somewhere else since
  std::optional<Standing> since_;        // how the window stood on arrival
  viz::LessonNow now_;
};

}  // namespace attn::app
