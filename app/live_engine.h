// The engine on its own thread: the window asks for steps and goes on drawing.
#pragma once

#include <condition_variable>
#include <deque>
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
    bool loading = true;    // model not there yet
    bool busy = false;      // a step is being computed
    bool has_work = false;  // another step can be run
    std::string error;      // the last failure, one sentence
    std::string note;       // device fall-back
    std::string device;
  };

  /// Starts loading at once. `changed` is called from the engine thread whenever status or recording change.
  LiveEngine(Scenario scenario, DeviceChoice choice, std::function<void()> changed);
  ~LiveEngine();
  LiveEngine(const LiveEngine&) = delete;
  LiveEngine& operator=(const LiveEngine&) = delete;

  /// Asks for one step; asking again before it is done changes nothing.
  void request_step();
  void add_prompt(std::string text, SamplingParams sampling);
  Status status() const;
  /// Null until the model is loaded (or when loading failed).
  std::shared_ptr<trace::Recording> recording() const;

 private:
  void run();
  void serve(EngineHost& host);
  void publish(const std::function<void(Status&)>& change);

  Scenario scenario_;
  DeviceChoice choice_;
  std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Status status_;
  std::shared_ptr<trace::Recording> recording_;
  std::deque<std::pair<std::string, SamplingParams>> prompts_;
  bool step_wanted_ = false;
  bool stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace attn::app
