// A scenario whose file is written again while it is open: read again, run again where it must be, and looked
// at where it was.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/rerun.h"
#include "app/session.h"
#include "kernels/common/check.h"

namespace attn::app {

void Session::watch_file(std::chrono::milliseconds every) {
  watch_every_ = every;
  start_watch();
}

/// Of what is open now, when that is a scenario's file.
void Session::start_watch() {
  file_subject_ = open_->subject();
  file_error_.clear();
  bin_.put(std::move(watch_));
  if (watch_every_ == std::chrono::milliseconds(0) || file_subject_.scenario.text.empty()) return;
  watch_ = std::make_unique<FileWatch>(file_subject_.link.path, watch_every_, changed_);
}

void Session::look_at_file() {
  if (job_ || next_ || !watch_ || !watch_->take_change()) return;
  read_again();
}

void Session::read_again() {
  const std::string path = file_subject_.link.path.string();
  start_job(
      "reading again: " + file_subject_.link.path.filename().string(),
      [this, path, choice = choice_, sets = file_subject_.overrides](Job::Control& control) -> Job::Finish {
        try {
          Subject fresh = open_subject(path, choice, sets, control.stop_token());
          return [this, fresh = std::move(fresh)] { written_again(fresh); };
        } catch (const InputError& error) {
          return [this, why = std::string(error.what())] {
            message_.clear();
            file_error_ = why;
          };
        }
      });
}

void Session::written_again(const Subject& fresh) {
  file_error_.clear();
  const Subject before = std::exchange(file_subject_, fresh);
  file_subject_.link = before.link;
  if (before.scenario.text == fresh.scenario.text) return;  // touched, not changed
  say("read again: " + fresh.link.path.filename().string());
  if (lesson_ || (tell_ && !fresh.scenario.script.empty())) return tell_again(file_subject_);
  if (!same_run(before.scenario, fresh.scenario)) run_file();
}

/// Runs the file's scenario up to where one stands, with the prompts that were typed.
void Session::run_file() {
  Subject subject = file_subject_;
  if (const auto typed = live() ? recipe() : std::nullopt) subject.added = typed->added;
  const int steps = subject.store ? 1 : selection_.step + 1;
  const std::string text = "running again: " + subject.title;
  begin({.run =
             std::make_unique<OpenRun>(std::move(subject), choice_, changed_, std::filesystem::path{}, steps),
         .steps = steps,
         .text = text,
         .arrival = Arrival::repeated});
}

/// The stop of the same name, else of the same number. One stays where one stands unless the file says
/// another place of that very stop.
void Session::tell_again(const Subject& fresh) {
  const std::vector<Stop>& stops = fresh.scenario.script.stops;
  if (stops.empty()) {
    end_lesson();
    if (!same_run(open_->subject().scenario, fresh.scenario)) run_file();
    return;
  }
  const std::unique_ptr<Lesson> before = std::move(lesson_);
  lesson_subject_ = fresh;
  const auto scenario = std::make_shared<const Scenario>(fresh.scenario);
  recorded_runs_ = std::make_shared<RecordedRuns>(scenario, choice_);
  lesson_ = std::make_unique<Lesson>(scenario, before ? before->progress() : LessonProgress{});
  keep_ = Keep::place_and_view;
  if (before) {
    const Stop& stop = before->stop();
    const auto same = std::ranges::find(stops, stop.name, &Stop::name);
    lesson_->go(same == stops.end() ? before->at() : static_cast<int>(same - stops.begin()));
    const Stop& now = lesson_->stop();
    if (same != stops.end() && stop.predict == now.predict && !before->now().asking) lesson_->answer();
    const bool elsewhere = !(now.place == stop.place) || !(now.shown == stop.shown) || now.run != stop.run;
    if (elsewhere || same == stops.end() || before->broken()) keep_ = Keep::nothing;
  }
  leave_stop();
}

}  // namespace attn::app
