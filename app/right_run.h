// The same requests with nothing broken, run beside a broken run so that the difference can be measured.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/live_engine.h"
#include "app/rerun.h"
#include "core/trace/step_diff.h"
#include "viz/frame.h"

namespace attn::app {

/// Used by one thread.
class RightRun {
 public:
  /// `broken` is what the broken run was made from; `titles` says what breaks it.
  RightRun(const Recipe& broken, std::vector<std::string> titles, DeviceChoice choice,
           std::function<void()> changed);

  /// Keeps up with the broken run: as many steps, and the prompts typed into it (null: a recording).
  void follow(const LiveEngine* run, int num_steps);
  /// The difference at a step and layer of the broken run, as far as the right run has got.
  const viz::Broken& measure(const trace::Store& broken, int index, int layer);
  /// Null before the right run has got there.
  std::shared_ptr<const trace::StepRecord> step(int index) const;
  /// For other threads, and beyond this object's life.
  std::shared_ptr<LiveEngine> engine() const { return engine_; }
  /// For stills and tests: waits until it has caught up.
  void wait() const { engine_->wait_idle(); }

 private:
  void compare_tokens(const trace::Store& broken, const trace::Store& right, int index);
  void compare_outputs(const trace::Store& broken, const trace::Store& right, int index, int layer);

  std::shared_ptr<LiveEngine> engine_;  // never null
  std::size_t prompts_ = 0;             // typed ones handed on so far
  viz::Broken measured_;
  int first_wrong_ = -1;  // index of the first step with another token, among those compared
  int tokens_to_ = 0;     // steps whose tokens are compared
  int outputs_at_ = -1;   // index that outputs_ belongs to
  trace::StepDiff outputs_;
};

}  // namespace attn::app
