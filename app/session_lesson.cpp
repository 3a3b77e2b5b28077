// The script of what is open: its stops, the runs they need, tasks done by hand and the numbers that prove
// them.
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/place.h"
#include "app/rerun.h"
#include "app/session.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

/// Whether that is what runs there, with nothing typed by hand.
bool is_run(const OpenRun& run, const Scenario& wanted) {
  return same_run(run.subject().scenario, wanted) && (!run.engine() || run.engine()->added().empty());
}

/// How many steps must be recorded for one to stand there.
int steps_for(const Place& place, const EngineConfig& config) {
  Link link;
  link.step = place.step;
  return steps_to(link, config);
}

}  // namespace

void Session::tell_scripts(LessonsProgress progress) {
  tell_ = true;
  lessons_progress_ = std::move(progress);
  if (!lesson_) begin_lesson();
}

void Session::begin_lesson() {
  const Subject& subject = open_->subject();
  if (subject.scenario.script.empty() || subject.link.has_place()) return;
  lesson_subject_ = subject;
  const auto scenario = std::make_shared<const Scenario>(subject.scenario);
  const auto known = lessons_progress_.find(lesson_key(subject.link.path));
  lesson_ =
      std::make_unique<Lesson>(scenario, known == lessons_progress_.end() ? LessonProgress{} : known->second);
  recorded_runs_ = std::make_shared<RecordedRuns>(scenario, choice_);
  leave_stop();
}

void Session::end_lesson() {
  keep_progress();
  if (facts_job_) facts_job_->cancel();
  bin_.put(std::move(facts_job_));
  for (std::unique_ptr<OpenRun>& run : parked_) bin_.put(std::move(run));
  parked_.clear();
  lesson_.reset();
  recorded_runs_.reset();
}

void Session::keep_progress() {
  if (lesson_) lessons_progress_[lesson_key(lesson_subject_.link.path)] = lesson_->progress();
}

void Session::apply_lesson(const viz::Command& command) {
  using Kind = viz::Command::Kind;
  if (command.kind == Kind::list_lessons) {
    keep_progress();
    frame_.lessons = lesson_cards(lessons_progress_);
  }
  if (!lesson_) return;
  if (command.kind == Kind::answer) lesson_->answer();
  if (command.kind == Kind::next_stop) {
    const int by = command.a < 0 ? -1 : 1;
    if (!lesson_->next(by))
      return say(by > 0 ? "this is the last stop; Ctrl+L shows all lessons" : "this is the first stop");
    if (!lesson_->arrived()) leave_stop();
  }
  if (command.kind == Kind::break_lesson && lesson_->now().break_it) {
    lesson_->set_broken(!lesson_->now().break_it->on);
    leave_stop();
  }
}

/// Sets out for where the lesson wants to be: the run first, the place when there is one.
void Session::leave_stop() {
  cancel();
  if (facts_job_) facts_job_->cancel();
  bin_.put(std::move(facts_job_));
  follow_ = false;
  show_run(scenario_of(lesson_->scenario(), lesson_->run()), lesson_->run());
}

/// Puts a run of the script on screen: the one that is open, one that was shown before, or a new one.
void Session::show_run(const Scenario& wanted, const std::string& name) {
  if (is_run(*open_, wanted)) return;
  const auto parked = std::ranges::find_if(parked_, [&](const auto& run) { return is_run(*run, wanted); });
  if (parked != parked_.end()) {
    std::unique_ptr<OpenRun> run = std::move(*parked);
    parked_.erase(parked);
    return put_in_place(std::move(run));
  }
  Subject subject = lesson_subject_;
  subject.store = nullptr;
  subject.kind = FileKind::scenario;
  subject.scenario = wanted;
  const std::string text = name.empty() ? "running " + subject.title : "running " + name;
  if (wanted.tensors.empty()) {
    const int steps = steps_for(lesson_->place(), wanted.engine);
    return begin({.run = std::make_unique<OpenRun>(std::move(subject), choice_, changed_,
                                                   std::filesystem::path{}, steps),
                  .steps = steps,
                  .text = text,
                  .arrival = Arrival::of_stop});
  }
  subject.kind = FileKind::tensor_case;
  start_job(
      text,
      [this, subject = std::move(subject), text, choice = choice_](Job::Control&) mutable -> Job::Finish {
        subject.store =
            open_store(subject.scenario.tensors, choice, subject.scenario.engine, subject.scenario.name);
        return [this, subject = std::move(subject), text] {
          begin({.run = std::make_unique<OpenRun>(subject, choice_, changed_),
                 .text = text,
                 .arrival = Arrival::of_stop});
        };
      });
}

Standing Session::standing(const viz::ViewState& view) const {
  Standing now{.store = open_->store().get(),
               .selection = selection_,
               .compare = std::nullopt,
               .stage = view.stage,
               .side = view.side,
               .maximised = view.maximised};
  if (view.stage == viz::StageView::compare) now.compare = variants_here();
  return now;
}

/// Called with every frame: arrives where the lesson set out for, then watches what the learner does.
void Session::follow_lesson(viz::ViewState& view) {
  if (!lesson_ || job_ || next_ || !open_->store()) return;
  if (!lesson_->arrived()) return arrive(view);
  if (num_steps() == 0) return;
  if (lesson_->watch(standing(view))) ask_of_task();
}

/// Runs a live run on until that many steps are there; false while it is on its way.
bool Session::steps_are_there(int steps) {
  if (num_steps() >= steps || !live()) return true;
  if (open_->status().busy) return false;
  if (!open_->status().has_work) return true;
  open_->engine()->run_to(steps);
  return false;
}

void Session::arrive(viz::ViewState& view) {
  const Place place = lesson_->place();
  try {
    if (!is_run(*open_, scenario_of(lesson_->scenario(), lesson_->run())))
      throw InputError(message_.empty() ? "the run of this stop did not start" : message_);
    if (!steps_are_there(steps_for(place, open_->store()->manifest().config))) return;
    if (num_steps() == 0)
      throw InputError(open_->status().error.empty() ? "the run has no steps" : open_->status().error);
    const viz::Selection selection = selection_of(place, *open_->store(), lesson_->stop().where);
    view.playing = false;
    select(selection);
    show(lesson_->shown(), view);
    compare_.reset();
    if (const auto& compare = lesson_->shown().compare) {
      const auto step = open_->store()->step(selection_.step);
      compare_ = {*compare, step->kind == trace::StepKind::decode};
    }
    lesson_->arrive(standing(view));
    keep_progress();
    ask_of_stop();
  } catch (const InputError& error) {
    lesson_->fail(error.what());
  }
}

/// Texts of the stop with their numbers; of what is broken, the numbers that come out now.
void Session::ask_of_stop() {
  const Stop& stop = lesson_->stop();
  ask({stop.caption, stop.notes, stop.task ? stop.task->text : "", stop.break_it ? stop.break_it->text : ""},
      lesson_->broken() ? &*stop.break_it : nullptr, [this](const LessonAnswer& answer) {
        if (answer.texts.size() != 4) return;
        lesson_->told(answer.texts[0], answer.texts[1], answer.texts[2], answer.texts[3]);
        if (!lesson_->broken()) return;
        std::vector<std::string> proofs = answer.right;
        proofs.insert(proofs.end(), answer.wrong.begin(), answer.wrong.end());
        lesson_->broken_proved(fmt::format("{}", fmt::join(proofs, "   ")));
      });
}

void Session::ask_of_task() {
  ask({}, &*lesson_->stop().task, [this](const LessonAnswer& answer) {
    lesson_->task_checked(fmt::format("{}", fmt::join(answer.right, "   ")),
                          fmt::format("{}", fmt::join(answer.wrong, "   ")));
    keep_progress();
  });
}

void Session::finish_facts() {
  if (!facts_job_ || !facts_job_->done()) return;
  const std::unique_ptr<Job> done = std::move(facts_job_);
  try {
    done->finish();
  } catch (const std::exception& error) {
    say(error.what());
  }
}

/// `exercise`: whose expectations are to be checked, in its own run; null: the stop's texts alone.
void Session::ask(std::vector<std::string> texts, const Exercise* exercise,
                  std::function<void(const LessonAnswer&)> done) {
  LessonQuestion question{
      .run = exercise ? exercise->run : lesson_->run(),
      .open = open_->store(),
      .place = fact_place(selection_, open_->store()->step(selection_.step)->step, variants_here()),
      .texts = std::move(texts),
      .expect = exercise ? exercise->expect : std::vector<Expectation>{}};
  if (facts_job_) facts_job_->cancel();
  bin_.put(std::move(facts_job_));
  facts_job_ = std::make_unique<Job>(
      "numbers of this stop",
      [question = std::move(question), runs = recorded_runs_, choice = choice_,
       done = std::move(done)](Job::Control& control) -> Job::Finish {
        LessonAnswer found = answer(question, *runs, choice, control);
        return [found = std::move(found), done] { done(found); };
      },
      changed_);
}

}  // namespace attn::app
