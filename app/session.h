// What the window and the headless pictures share: a recording (live or from a file), the cursor in it, the
// engine and the inspector behind it. Commands in, Frame out; never blocks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/inspector_thread.h"
#include "app/live_engine.h"
#include "viz/frame.h"
#include "viz/screen.h"

namespace attn::app {

class Session {
 public:
  using Clock = std::chrono::steady_clock;

  /// A live engine. `changed` is called from other threads when there is something new to draw.
  Session(Scenario scenario, DeviceChoice choice, std::function<void()> changed);
  /// A trace or a tensor case: everything is there already.
  Session(std::shared_ptr<const trace::Store> store, DeviceChoice choice, std::function<void()> changed);
  ~Session();

  /// Carries out what the panels asked for; returns false when that was to quit.
  bool apply(const viz::Commands& commands, viz::ViewState& view);
  /// Playing: moves on when it is time (see kStepTime). Call once per frame.
  void tick(viz::ViewState& view, Clock::time_point now);
  /// The picture's data at the cursor, from whatever is ready now.
  viz::Frame frame();
  const viz::Selection& selection() const { return selection_; }
  void select(const viz::Selection& selection);

  /// For stills and tests: waits for the engine to finish what it was asked, and for the inspector.
  void wait_idle();

  static constexpr std::chrono::milliseconds kStepTime{800};  // one step while playing

 private:
  void attach(std::shared_ptr<const trace::Store> store);
  void refresh();
  void seek(int index);
  void step_forward();
  void update_history(int steps);
  int last_index() const;

  std::function<void()> changed_;
  DeviceChoice choice_;
  std::unique_ptr<LiveEngine> live_;
  std::shared_ptr<const trace::Store> store_;
  std::unique_ptr<InspectorThread> inspector_;
  viz::Selection selection_;
  int follow_from_ = -1;  // steps there were when one more was asked for: go there when it arrives; -1 = not waiting
  Clock::time_point next_play_{};
  std::shared_ptr<std::vector<viz::StepSummary>> history_;
  std::vector<std::string> token_texts_;
};

}  // namespace attn::app
