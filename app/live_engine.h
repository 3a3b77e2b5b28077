// The engine on its own thread: the window asks for steps and goes on drawing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "app/engine_host.h"

namespace attn::app {

class LiveEngine {
 public:
  using Clock = std::chrono::steady_clock;
  struct Status {
    std::shared_ptr<const trace::Recording> recording;  // null while the model loads
    bool busy = false;                                  // loading, or asked for something not done yet
    Clock::time_point busy_since;                       // PRECOND: busy
    std::optional<StepAt> step;                         // what the step at hand is at; never when not busy
    float step_done = 0.0F;                             // of it, in 0 .. 1
    bool has_work = false;                              // another step can be run
    bool cancelled = false;                             // the last step was, and nothing of it is recorded
    std::string error;                                  // the last failure, one sentence
    std::string note;                                   // device fall-back
    std::string device;
    std::exception_ptr startup_error;  // set when there will never be a recording
  };

  /// Starts loading at once. `added` are requests that a user typed in an earlier run of the same scenario.
  /// `changed` is called from the engine thread whenever the status changes. With a `trace` path every step
  /// is also written there.
  LiveEngine(Scenario scenario, std::vector<ScenarioRequest> added, DeviceChoice choice,
             std::filesystem::path trace, std::function<void()> changed);
  ~LiveEngine();  // stops loading, or the step at hand
  LiveEngine(const LiveEngine&) = delete;
  LiveEngine& operator=(const LiveEngine&) = delete;

  /// Asks for one step; asking again before it has begun changes nothing.
  void request_step();
  /// Asks for steps until `steps` are recorded or there is no more work.
  void run_to(int steps);
  /// Takes back whatever steps were asked for; the one at hand is finished.
  void halt();
  /// The same, and the step at hand is stopped soon: nothing of it is recorded, and the next step that is
  /// asked for computes it from its beginning.
  void cancel();
  /// A prompt typed now: it enters at the next step.
  void add_prompt(std::string text, SamplingParams sampling);
  /// A request whose at_step says when it enters.
  void add_request(ScenarioRequest request);
  /// All requests that came after those of the scenario, with the steps at which they came.
  std::vector<ScenarioRequest> added() const;
  Status status() const;
  /// Blocks until nothing is asked for any more.
  void wait_idle() const;
  /// Asks for steps until `steps` are recorded and waits for them; false when there will be fewer, or when
  /// `stopped` says so. After it has said so nothing is asked for.
  bool make_steps(int steps, const std::function<bool()>& stopped);

 private:
  void run();
  std::unique_ptr<EngineHost> start();
  void serve(EngineHost& host);
  bool can_step(const EngineHost& host) const;
  void take_in(EngineHost& host, ScenarioRequest request);
  void compute_step(EngineHost& host);
  void attempt(const std::function<void()>& work);
  void want(int steps);
  void set_busy(bool busy);
  int num_steps() const { return status_.recording ? status_.recording->num_steps() : 0; }

  const Scenario scenario_;
  const DeviceChoice choice_;
  const std::filesystem::path trace_;
  const std::function<void()> changed_;

  // Only the engine's thread touches these.
  int max_steps_;        // of the scenario, until a prompt is added
  bool broken_ = false;  // a step failed half way: the engine cannot go on

  BlocksBegun blocks_;  // of the launch at hand; written by the engine's threads

  mutable std::mutex mutex_;  // guards everything below
  mutable std::condition_variable wake_;
  Status status_;
  std::vector<ScenarioRequest> added_;
  std::deque<ScenarioRequest> waiting_;  // at_step < 0: the next step
  int target_ = 0;                       // steps that are wanted in all
  bool stepping_ = false;                // a step is being computed
  bool stop_ = false;
  std::stop_source at_hand_;  // stops loading, later the step
  std::thread thread_;        // last: starts when everything above exists
};

}  // namespace attn::app
