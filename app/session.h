// What the window and the headless pictures share: a recording (live or from a file), the cursor in it, the
// engine and the inspector behind it. Commands in, Frame out; never blocks.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/history.h"
#include "app/inspector_thread.h"
#include "app/live_engine.h"
#include "viz/frame.h"
#include "viz/screen.h"

namespace attn::app {

/// Used by one thread.
class Session {
 public:
  using Clock = std::chrono::steady_clock;

  /// A live engine, which runs the first step at once: the first window is never empty. `changed` is called
  /// from other threads when there is something new to draw. With a `trace` path the run is written there.
  Session(Scenario scenario, DeviceChoice choice, std::function<void()> changed,
          std::filesystem::path trace = {});
  /// A trace or a tensor case: everything is there already.
  Session(std::shared_ptr<const trace::Store> store, DeviceChoice choice, std::function<void()> changed);

  /// Carries out what the panels asked for; returns false when that was to quit.
  bool apply(const viz::Commands& commands, viz::ViewState& view);
  /// Playing: moves on when it is time (see kStepTime). Call once per frame.
  void tick(viz::ViewState& view, Clock::time_point now);
  /// The picture's data at the cursor, from whatever is ready now. Rethrows what kept a live run from
  /// starting. Valid until the next call.
  const viz::Frame& frame();
  const viz::Selection& selection() const { return selection_; }
  /// PRECOND: wait_idle() came back and frame() has a step.
  const trace::Store& store() const { return *store_; }
  void select(const viz::Selection& selection);
  /// False while a long trace is still being read into the timeline: draw again soon.
  bool complete() const { return complete_; }

  /// For stills and tests: waits for the engine to finish what it was asked, and for the inspector; frame()
  /// has everything then.
  void wait_idle();

  static constexpr std::chrono::milliseconds kStepTime{800};  // one step while playing

 private:
  void attach(std::shared_ptr<const trace::Store> store);
  void apply(const viz::Command& command, viz::ViewState& view);
  void refresh();
  void seek(int index);
  void step_forward();
  int last_index() const { return frame_.num_steps - 1; }
  std::string status_text() const;

  const std::function<void()> changed_;
  const DeviceChoice choice_;
  std::unique_ptr<LiveEngine> live_;  // null for a trace
  LiveEngine::Status live_status_;
  std::shared_ptr<const trace::Store> store_;
  std::optional<History> history_;
  std::unique_ptr<InspectorThread> inspector_;

  viz::Frame frame_;
  viz::Selection selection_;
  bool follow_ = false;  // the cursor is at the end of a live recording and moves on with it
  bool complete_ = true;
  bool quit_ = false;
  Clock::time_point next_play_{};
};

}  // namespace attn::app
