// The engine on its own thread: the window asks for steps and goes on drawing.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "app/engine_host.h"

namespace attn::app {

class LiveEngine {
 public:
  struct Status {
    std::shared_ptr<const trace::Recording> recording;  // null while the model loads
    bool busy = false;                                  // loading, or asked for something not done yet
    bool has_work = false;                              // another step can be run
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
  ~LiveEngine();  // waits for the step at hand
  LiveEngine(const LiveEngine&) = delete;
  LiveEngine& operator=(const LiveEngine&) = delete;

  /// Asks for one step; asking again before it has begun changes nothing.
  void request_step();
  /// Asks for steps until `steps` are recorded or there is no more work.
  void run_to(int steps);
  /// Takes back whatever steps were asked for; the one at hand is finished.
  void halt();
  /// A prompt typed now: it enters at the next step.
  void add_prompt(std::string text, SamplingParams sampling);
  /// A request whose at_step says when it enters.
  void add_request(ScenarioRequest request);
  /// All requests that came after those of the scenario, with the steps at which they came.
  std::vector<ScenarioRequest> added() const;
  Status status() const;
  /// Blocks until nothing is asked for any more.
  void wait_idle() const;
  /// Blocks until `steps` are recorded (true), or until there is nothing to wait for or `stopped` says so.
  bool wait_steps(int steps, const std::function<bool()>& stopped) const;

 private:
  void run();
  std::unique_ptr<EngineHost> start();
  void serve(EngineHost& host);
  bool can_step(const EngineHost& host) const;
  void take_in(EngineHost& host, ScenarioRequest request);
  void attempt(const std::function<void()>& work);
  int num_steps() const { return status_.recording ? status_.recording->num_steps() : 0; }

  const Scenario scenario_;
  const DeviceChoice choice_;
  const std::filesystem::path trace_;
  const std::function<void()> changed_;

  // Only the engine's thread touches these.
  int max_steps_;        // of the scenario, until a prompt is added
  bool broken_ = false;  // a step failed half way: the engine cannot go on

  mutable std::mutex mutex_;  // guards everything below
  mutable std::condition_variable wake_;
  Status status_;
  std::vector<ScenarioRequest> added_;
  std::deque<ScenarioRequest> waiting_;  // at_step < 0: the next step
  int target_ = 0;                       // steps that are wanted in all
  bool stepping_ = false;                // a step is being computed
  bool stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace attn::app
