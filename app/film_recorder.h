// The film that is made beside the window: at most one at a time, and what became of the last.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "app/film_beside.h"
#include "app/job.h"
#include "viz/film_view.h"

namespace attn::app {

/// Used by one thread.
class FilmRecorder {
 public:
  /// `changed` is called from another thread when a film has ended.
  explicit FilmRecorder(std::function<void()> changed) : changed_(std::move(changed)) {}

  /// PRECOND: !running().
  void start(FilmOrder order);
  bool running() const { return job_ != nullptr; }
  void cancel();
  void wait() const;
  /// Takes in a film that has ended; true when one just has.
  bool finish();
  /// There is no film: why.
  void refuse(std::string why) { last_ = {false, std::move(why)}; }
  /// The sentence of the last one, "" before the first.
  const FilmOutcome& last() const { return last_; }
  viz::FilmNow now() const;

 private:
  struct Doing {
    std::mutex mutex;
    std::string what;
  };

  const std::function<void()> changed_;
  FilmOutcome last_;
  std::string name_;  // of the film's file
  std::shared_ptr<Doing> doing_;
  std::unique_ptr<Job> job_;
};

}  // namespace attn::app
