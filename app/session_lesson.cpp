// The script of what is open: its stops, the runs they need, tasks done by hand and the numbers that prove
// them.
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/mark_check.h"
#include "app/place.h"
#include "app/rerun.h"
#include "app/script_runs.h"
#include "app/session.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

/// With middle dots between them, where a narrow line may end.
std::string joined(const std::vector<std::string>& numbers) {
  return fmt::format("{}", fmt::join(numbers, "  \xC2\xB7  "));
}

/// How many steps must be recorded for one to stand there.
int steps_for(const Place& place, const EngineConfig& config) {
  Link link;
  link.step = place.step;
  return steps_to(link, config);
}

/// Why there is nothing to break at this stop, and where in the lesson there is.
std::string no_break_it(const Lesson& lesson) {
  const std::vector<Stop>& stops = lesson.scenario().script.stops;
  const auto here = stops.begin() + lesson.at();
  const auto breaks = [](const Stop& stop) { return stop.break_it.has_value(); };
  auto there = std::find_if(here, stops.end(), breaks);
  const bool comes = there != stops.end();
  if (!comes) there = std::find_if(stops.begin(), here, breaks);
  if (!comes && there == here) return "this lesson has no break-it";
  return fmt::format("this stop has no break-it; it {} at stop {} of {}", comes ? "comes" : "was",
                     there - stops.begin() + 1, stops.size());
}

}  // namespace

bool is_run(const OpenRun& run, const Scenario& wanted) {
  return same_run(run.subject().scenario, wanted) && (!run.engine() || run.engine()->added().empty());
}

void Session::tell_scripts(LessonsProgress progress) {
  tell_ = true;
  lessons_progress_ = std::move(progress);
  if (!lesson_) begin_lesson();
}

void Session::begin_lesson() {
  const Subject& subject = open_->subject();
  if (subject.scenario.script.empty()) return;
  ++lessons_told_;
  lesson_subject_ = subject;
  const auto scenario = std::make_shared<const Scenario>(subject.scenario);
  const auto known = lessons_progress_.find(lesson_key(subject.link.path));
  lesson_ =
      std::make_unique<Lesson>(scenario, known == lessons_progress_.end() ? LessonProgress{} : known->second);
  recorded_runs_ = std::make_shared<RecordedRuns>(scenario, choice_);
  keep_ = Keep::nothing;
  if (subject.link.stop) lesson_->go(*subject.link.stop - 1);
  if (subject.link.has_place()) {  // the place is the link's, all else is told by the stop that is near
    lesson_->go(stop_at(*scenario, place_of(subject.link)));
    keep_ = Keep::place;
  }
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

void Session::apply_lesson(const viz::Command& command, viz::ViewState& view) {
  using Kind = viz::Command::Kind;
  if (command.kind == Kind::list_lessons) {
    keep_progress();
    frame_.lessons = lesson_cards(lessons_progress_, frame_.recent_files);
  }
  if (!lesson_ || apply_hands(command, view)) return;
  const bool asked = lesson_->now().asking;
  if (command.kind == Kind::answer) lesson_->answer(command.a - 1);
  if (command.kind == Kind::next_stop) {
    const int by = command.a < 0 ? -1 : 1;
    if (!lesson_->next(by))
      return say(by > 0 ? "this is the last stop; Ctrl+L shows all lessons" : "this is the first stop");
    keep_ = Keep::nothing;
    if (!lesson_->arrived()) leave_stop();
  }
  if (command.kind == Kind::break_lesson) {
    if (!lesson_->now().break_it) return say(no_break_it(*lesson_));
    lesson_->set_broken(!lesson_->now().break_it->on);
    keep_ = Keep::nothing;
    leave_stop();
  }
  if (asked && lesson_->arrived() && !lesson_->now().asking) answered(view);
}

/// What the question was about is selected now, at the step that its answer is of: one may have walked on.
void Session::answered(const viz::ViewState& view) {
  if (num_steps() == 0) return;
  const Place place = lesson_->place();
  try {
    const viz::Selection there = selection_of(place, *open_->store(), lesson_->stop().where);
    const bool walked = place.step && there.step != selection_.step;
    if (walked || place.seq || place.row || place.col || place.block) select(there);
    lesson_->arrive(standing(view));
  } catch (const InputError& error) {
    lesson_->fail(error.what());
  }
}

/// Sets out for where the lesson wants to be: the run first, the place when there is one.
void Session::leave_stop() {
  cancel();
  if (facts_job_) facts_job_->cancel();
  bin_.put(std::move(facts_job_));
  follow_ = false;
  const Scenario& wanted = scenario_of(lesson_->scenario(), lesson_->run());
  show_run(wanted, lesson_->run(), steps_wanted(wanted.engine));
}

/// Puts a run of the script on screen: the one that is open, one that was shown before, or a new one.
void Session::show_run(const Scenario& wanted, const std::string& name, int steps) {
  if (is_run(*open_, wanted)) return;
  Subject subject = lesson_subject_;
  const std::string text = name.empty() ? "running " + subject.title : "running " + name;
  const auto parked = std::ranges::find_if(parked_, [&](const auto& run) { return is_run(*run, wanted); });
  if (parked != parked_.end()) {
    std::unique_ptr<OpenRun> run = std::move(*parked);
    parked_.erase(parked);
    if (run->engine()) run->engine()->run_to(steps);
    return begin({.run = std::move(run), .steps = steps, .text = text, .arrival = Arrival::of_stop});
  }
  subject.store = nullptr;
  subject.kind = FileKind::scenario;
  subject.scenario = wanted;
  if (wanted.recorded.empty()) {
    return begin({.run = std::make_unique<OpenRun>(std::move(subject), choice_, changed_,
                                                   std::filesystem::path{}, steps),
                  .steps = steps,
                  .text = text,
                  .arrival = Arrival::of_stop});
  }
  subject.kind = FileKind::tensor_case;
  start_job(text,
            [this, subject = std::move(subject), text,
             choice = choice_](Job::Control& control) mutable -> Job::Finish {
              subject.store = open_store(subject.scenario.recorded, choice, subject.scenario.engine,
                                         subject.scenario.name, control.stop_token());
              return [this, subject = std::move(subject), text] {
                begin({.run = std::make_unique<OpenRun>(subject, choice_, changed_),
                       .text = text,
                       .arrival = Arrival::of_stop});
              };
            });
}

Standing Session::standing(const viz::ViewState& view) {
  Standing now{.store = open_->store().get(),
               .selection = selection_,
               .compare = std::nullopt,
               .stage = view.stage,
               .side = view.side,
               .maximised = view.maximised,
               .true_memory = view.attention.true_memory,
               .sent = sent_requests()};
  const Exercise* task = lesson_->task();
  now.run_open = task == nullptr || !task->asks_run || runs_here(task->run);
  if (view.stage == viz::StageView::compare) now.compare = variants_here();
  return now;
}

/// Called with every frame: arrives where the lesson set out for, then watches what the learner does.
void Session::follow_lesson(viz::ViewState& view) {
  if (!lesson_ || job_ || next_ || !open_->store()) return;
  if (!lesson_->arrived()) return arrive(view);
  if (num_steps() == 0) return;
  if (lesson_->watch(standing(view))) return ask_of_task(standing(view));
  if (view.teach.notes && !facts_job_ && !next_asked_) ask_of_next();
}

/// Steps that there must be of a run for the stop, and for the place that is kept.
int Session::steps_wanted(const EngineConfig& config) const {
  return std::max(steps_for(lesson_->place(), config), keep_ == Keep::nothing ? 0 : selection_.step + 1);
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
    if (!steps_are_there(steps_wanted(open_->store()->manifest().config))) return;
    if (num_steps() == 0)
      throw InputError(open_->status().error.empty() ? "the run has no steps" : open_->status().error);
    stand(place, view);
    lesson_->arrive(standing(view));
    keep_progress();
    ask_of_stop();
    say_missing_marks();
  } catch (const InputError& error) {
    lesson_->fail(error.what());
  }
}

/// Of the stop that is told: its author sees it while the file is open.
void Session::say_missing_marks() {
  const Stop& stop = lesson_->stop();
  if (lesson_->broken()) return;
  const trace::FactPlace here = fact_place(stop.place, stop.shown);
  std::vector<Failure> missing =
      missing_marks(stop.shown.annotate, stop.annotate_where, *open_->store(), here);
  if (missing.empty()) missing = missing_marks(stop.hide, stop.hide_where, *open_->store(), here);
  if (!missing.empty()) say(fmt::format("{} ({})", missing[0].text, missing[0].where));
}

/// Puts the window where the stop is, unless it is to stay where it stands.
void Session::stand(const Place& place, viz::ViewState& view) {
  const Keep keep = std::exchange(keep_, Keep::nothing);
  if (keep == Keep::nothing) {
    select(selection_of(place, *open_->store(), lesson_->stop().where));
  } else {
    seek(selection_.step);
  }
  view.playing = false;
  if (keep == Keep::place_and_view) return;
  const viz::SideView side = view.side;
  show(lesson_->shown(), view);
  if (!lesson_->shown().side) view.side = side;  // the tab that was left open, also by an earlier start
  compare_.reset();
  if (const auto& compare = lesson_->shown().compare) {
    const auto step = open_->store()->step(selection_.step);
    compare_ = {*compare, step->kind == trace::StepKind::decode};
  }
}

/// Texts of the stop with their numbers. What is said of the stop stays true of its own run while that is
/// broken: only what is broken is asked anew, with the numbers that come out now.
void Session::ask_of_stop() {
  const Stop& stop = lesson_->stop();
  if (lesson_->broken()) {
    const trace::FactPlace there = fact_place(lesson_->place(), lesson_->shown());
    return ask({stop.break_it->text}, &*stop.break_it, there, [this](const LessonAnswer& answer) {
      if (answer.texts.size() != 1) return;
      lesson_->broken_told(answer.texts[0]);
      std::vector<std::string> proofs = answer.right;
      proofs.insert(proofs.end(), answer.wrong.begin(), answer.wrong.end());
      lesson_->broken_proved(joined(proofs), answer.wrong.empty());
      keep_progress();
    });
  }
  ask(lesson_->texts(), nullptr, fact_place(stop.place, stop.shown), [this](const LessonAnswer& answer) {
    lesson_->told(answer.texts);
    keep_progress();
  });
}

/// What the speaker will say next: of another place, and often of another run.
void Session::ask_of_next() {
  next_asked_ = true;
  const Stop* next = lesson_->next_stop();
  if (next == nullptr || !lesson_->now().next_caption.empty()) return;
  LessonQuestion question{.run = next->run,
                          .open = nullptr,
                          .place = fact_place(next->place, next->shown),
                          .texts = {next->caption}};
  start_facts(std::move(question), [this](const LessonAnswer& answer) {
    if (answer.texts.size() == 1) lesson_->next_told(answer.texts[0]);
  });
}

void Session::ask_of_task(const Standing& now) {
  const trace::FactPlace here =
      fact_place(selection_, open_->store()->step(selection_.step)->step, variants_here());
  ask({}, lesson_->task(), here, [this, now](const LessonAnswer& answer) {
    lesson_->task_checked(joined(answer.right), joined(answer.wrong), now);
    keep_progress();
  });
}

void Session::finish_facts() {
  if (!facts_job_ || !facts_job_->done()) return;
  const std::unique_ptr<Job> done = std::move(facts_job_);
  try {
    done->finish();
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

/// `exercise`: whose expectations are to be checked, in its own run; null: the stop's texts alone.
void Session::ask(std::vector<std::string> texts, const Exercise* exercise, const trace::FactPlace& place,
                  std::function<void(const LessonAnswer&)> done) {
  LessonQuestion question{.run = exercise ? exercise->run : lesson_->run(),
                          .open = open_->store(),
                          .place = place,
                          .texts = std::move(texts),
                          .expect = exercise ? exercise->expect : std::vector<Expectation>{}};
  next_asked_ = false;
  start_facts(std::move(question), std::move(done));
}

void Session::start_facts(LessonQuestion question, std::function<void(const LessonAnswer&)> done) {
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
