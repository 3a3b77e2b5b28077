// One thing that is open: a run with its engine, or a recording, and all that is known of it by now. Opening
// another one makes a second OpenRun, which takes the place of the first only when it has something to show.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/history.h"
#include "app/inspector_thread.h"
#include "app/live_engine.h"
#include "app/opening.h"

namespace attn::app {

/// Used by one thread.
class OpenRun {
 public:
  /// A scenario starts running at once, up to `steps` recorded steps; with a `trace` path the run is written
  /// there. `changed` is called from other threads when there is something new to draw.
  OpenRun(Subject subject, DeviceChoice choice, std::function<void()> changed,
          const std::filesystem::path& trace = {}, int steps = 1);

  /// Looks at what the engine has done. Call often.
  void refresh();
  /// Takes new steps into the timeline for a few milliseconds; false while there is more to take in.
  bool catch_up(std::vector<std::string>& token_texts);

  const Subject& subject() const { return subject_; }
  /// Null for a recording. Shared with searches, which run it on.
  const std::shared_ptr<LiveEngine>& engine() const { return engine_; }
  const LiveEngine::Status& status() const { return status_; }
  /// Null while the model loads.
  const std::shared_ptr<const trace::Store>& store() const { return store_; }
  int num_steps() const { return store_ ? store_->num_steps() : 0; }
  /// PRECOND of the rest: there is a store.
  const History& history() const { return *history_; }
  InspectorThread& inspector() { return *inspector_; }

 private:
  void attach(std::shared_ptr<const trace::Store> store);

  const Subject subject_;
  const DeviceChoice choice_;
  const std::function<void()> changed_;
  std::shared_ptr<LiveEngine> engine_;
  LiveEngine::Status status_;
  std::shared_ptr<const trace::Store> store_;
  std::optional<History> history_;
  std::unique_ptr<InspectorThread> inspector_;
};

}  // namespace attn::app
