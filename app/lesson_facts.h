// The numbers of a lesson: texts filled in and expectations checked on a thread of its own, from the run that
// is open and from others that the texts name, which are then run to their ends.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/job.h"
#include "app/lesson.h"
#include "core/trace/facts.h"
#include "kernels/device.h"

namespace attn::app {

/// What is asked about one place.
struct LessonQuestion {
  std::string run;                           // of the script; what {fact} without "@" is read from
  std::shared_ptr<const trace::Store> open;  // that run as far as it is open in the window; null: it is not
  trace::FactPlace place;
  std::vector<std::string> texts = {};  // to be filled in
  std::vector<Expectation> expect = {};
};

struct LessonAnswer {
  std::vector<std::string> texts = {};  // in the order asked; one that cannot be filled in says why
  std::vector<std::string> right = {};  // "slots of A: [12]" of every expectation that holds
  std::vector<std::string> wrong = {};  // "slots of A: [9], and [12] was expected"
};

/// Runs of one script that were recorded to their ends, for facts that look beyond what the window shows.
/// Used by any thread.
class RecordedRuns {
 public:
  RecordedRuns(std::shared_ptr<const Scenario> scenario, DeviceChoice choice)
      : scenario_(std::move(scenario)), choice_(choice) {}
  /// Records it the first time; throws Stopped when `control` says so.
  std::shared_ptr<const trace::Store> get(const std::string& run, const Job::Control& control);

 private:
  const std::shared_ptr<const Scenario> scenario_;
  const DeviceChoice choice_;
  std::mutex mutex_;  // held while a run is recorded: whoever wants the same one waits for it
  std::map<std::string, std::shared_ptr<const trace::Store>> runs_;
};

trace::FactPlace fact_place(const viz::Selection& selection, int step,
                            std::optional<std::pair<trace::Variant, trace::Variant>> compare);

/// Blocks. A fact that the open run does not have yet is read from the recorded one.
LessonAnswer answer(const LessonQuestion& question, RecordedRuns& runs, DeviceChoice choice,
                    const Job::Control& control);

}  // namespace attn::app
