// The runs that a film shows, each recorded to its end before a picture of it is drawn: no picture depends on
// which others were drawn before it, and a film of a scenario is the film of its trace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "app/opening.h"
#include "app/script_runs.h"
#include "app/session.h"

namespace attn::app {

/// Over everything that is recorded: the same for the same numbers.
std::uint64_t trace_hash(const trace::Store& store);

class Footage {
 public:
  /// Called while a run is being recorded; false ends that with Cancelled.
  using Advance = std::function<bool(int steps, int at_most)>;
  struct Cancelled {};

  Footage(Subject subject, DeviceChoice choice, Advance advance);

  const Subject& subject() const { return subject_; }
  /// The scenario's name, or that of what was recorded.
  std::string title() const;
  /// What the subject tells; without stops when it is no scenario.
  const Script& script() const { return subject_.scenario.script; }
  /// The runs' facts.
  ScriptRuns& runs() { return runs_; }
  /// Of a run of the script, "" = the subject itself. Runs it the first time.
  std::shared_ptr<const trace::Store> store(std::string_view run);
  Session& session(std::string_view run);
  std::uint64_t hash(std::string_view run);

 private:
  const Subject subject_;
  const DeviceChoice choice_;
  ScriptRuns runs_;
  std::map<std::string, std::unique_ptr<Session>, std::less<>> sessions_;  // by the run's name
  std::map<std::string, std::uint64_t, std::less<>> hashes_;
};

}  // namespace attn::app
