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
  /// Of a run of the script, "" = the subject itself. Runs it the first time.
  const std::shared_ptr<const trace::Store>& store(std::string_view run);
  Session& session(std::string_view run);
  /// Over everything that is recorded of it.
  std::uint64_t hash(std::string_view run);

 private:
  struct Reel {
    std::shared_ptr<const trace::Store> store;
    std::unique_ptr<Session> session;  // made when it is first asked for
    std::uint64_t hash = 0;            // 0: not computed yet
  };
  Reel& reel(std::string_view run);
  std::shared_ptr<const trace::Store> record(const Scenario& scenario) const;

  const Subject subject_;
  const DeviceChoice choice_;
  const Advance advance_;
  std::map<std::string, Reel, std::less<>> reels_;  // by the run's name
};

}  // namespace attn::app
