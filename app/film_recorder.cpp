#include "app/film_recorder.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace attn::app {

void FilmRecorder::start(FilmOrder order) {
  name_ = order.output.has_filename() ? order.output.filename().string()
                                      : order.output.parent_path().filename().string();
  doing_ = std::make_shared<Doing>();
  job_ = std::make_unique<Job>(
      "filming",
      [this, order = std::move(order), doing = doing_](Job::Control& control) -> Job::Finish {
        const auto note = [&doing](std::string what) {
          const std::lock_guard lock(doing->mutex);
          doing->what = std::move(what);
        };
        return [this, outcome = film_beside(order, note, control)] { last_ = outcome; };
      },
      changed_);
}

void FilmRecorder::cancel() {
  if (job_) job_->cancel();
}

void FilmRecorder::wait() const {
  if (job_) job_->wait();
}

bool FilmRecorder::finish() {
  if (!job_ || !job_->done()) return false;
  const std::unique_ptr<Job> done = std::move(job_);
  try {
    done->finish();
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return true;
}

viz::FilmNow FilmRecorder::now() const {
  viz::FilmNow film;
  film.running = running();
  if (!job_) {
    film.failed = !last_.made;
    film.text = last_.text;
    return film;
  }
  const viz::Work work = job_->state();
  film.fraction = work.fraction;
  film.seconds_left = work.seconds_left;
  const std::lock_guard lock(doing_->mutex);
  film.text = fmt::format("{} {}", doing_->what.empty() ? "starting" : doing_->what, name_);
  return film;
}

}  // namespace attn::app
