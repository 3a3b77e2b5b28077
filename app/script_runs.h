// The runs of a script without a window: each is run to its end when it is first asked for, and facts are
// read from what it recorded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/scenario.h"
#include "core/trace/facts.h"
#include "kernels/device.h"

namespace attn::app {

/// A number that did not come out.
struct Failure {
  std::string where;  // "01-two-jobs.json:42"
  std::string text;   // "score_dots is 2081, expected 2080"
};

/// Called after every step of a run with how many there are at most; what it throws ends the run.
using AfterStep = std::function<void(int steps, int at_most)>;

/// Everything that the scenario records, a tensor case included. Throws InputError when it cannot be run, and
/// Stopped once `stop` says so.
std::shared_ptr<const trace::Store> run_to_end(const Scenario& scenario, DeviceChoice choice,
                                               const AfterStep& after_step, const std::stop_token& stop = {});

/// What may be different about running a script.
struct RunHooks {
  std::shared_ptr<const trace::Store> recorded = nullptr;  // the scenario's own run, instead of running it
  AfterStep after_step = [](int, int) {};
};

/// Where facts of a stop are asked for; what it does not say is the default.
trace::FactPlace fact_place(const Place& place, const Shown& shown);

/// One thread at a time. PRECOND: the scenario outlives it.
class ScriptRuns {
 public:
  ScriptRuns(const Scenario& scenario, DeviceChoice choice, RunHooks hooks = {});
  ~ScriptRuns();

  /// Throws InputError when the run cannot be run.
  trace::FactSource source(std::string_view run);
  /// Everything that the run recorded, with no engine behind it.
  std::shared_ptr<const trace::Store> store(std::string_view run) { return source(run).store; }
  Device& device() { return *device_.device; }

  /// A text of the stop (or of an exercise of it) with its facts filled in.
  std::string fill_in(std::string_view text, const Stop& stop);
  std::string fill_in(std::string_view text, const Stop& stop, const Exercise& exercise);
  /// A fact of the stop as text; why it is not known when it is not.
  std::string value_text(std::string_view fact, const Stop& stop);
  std::string value_text(std::string_view fact, const Stop& stop, const Exercise& exercise);
  /// Everything that the stop, its tasks and its break_it expect and that does not come out. Placeholders
  /// that cannot be filled in fail too.
  std::vector<Failure> check(const Stop& stop);
  /// Of that only what a film of the stop says: not its exercises.
  std::vector<Failure> check_told(const Stop& stop);

 private:
  struct Hosted;
  /// Where facts are asked for.
  struct Spot {
    trace::FactPlace place;
    std::string run;
  };
  Spot spot_of(const Stop& stop);
  Spot spot_of(const Stop& stop, const Exercise& exercise);
  Spot spot(const std::string& run, const Place& place, const Shown& shown);
  trace::FactRuns runs_from(const std::string& run);
  std::string value_text(std::string_view fact, const Spot& spot);
  void check(const std::vector<Expectation>& expect, const Spot& spot, std::vector<Failure>& failures);
  void check(const Stop& stop, const Exercise& exercise, std::vector<Failure>& failures);
  void check_marks(const std::vector<std::string>& names, const std::vector<std::string>& where,
                   const Spot& spot, std::vector<Failure>& failures);
  void check_choices(const Stop& stop, std::vector<Failure>& failures);
  void check_text(const std::string& text, const std::string& where, const Spot& spot,
                  std::vector<Failure>& failures);

  const Scenario& scenario_;
  const DeviceChoice choice_;
  const RunHooks hooks_;
  DevicePick device_;  // of the inspectors
  std::map<std::string, std::unique_ptr<Hosted>, std::less<>> hosted_;
};

}  // namespace attn::app
