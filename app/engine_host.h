// Everything one scenario needs to run: device, model, tokenizer, engine and the recording it fills. Used on
// one thread: the command line's, or the session's engine thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/scenario.h"
#include "core/engine/engine.h"
#include "core/model/tokenizer.h"
#include "core/model/transformer.h"
#include "core/trace/trace_file.h"
#include "kernels/device.h"

namespace attn::app {

class EngineHost {
 public:
  /// Loads the model and queues the scenario's requests. Throws InputError or DeviceError. PRECOND: the
  /// scenario has a model, not tensors. Once `stop` says so, loading and every step end with Stopped.
  EngineHost(const Scenario& scenario, DeviceChoice device_choice, const std::stop_token& stop = {});

  bool has_work() const;
  /// Runs one step and appends it to the recording. PRECOND: has_work().
  std::shared_ptr<const trace::StepRecord> step();
  /// Text of generated ids; "<17>" each when there is no tokenizer.
  std::string decode(const std::vector<std::int32_t>& ids) const;
  /// One more request, after those of the scenario. Throws InputError when it has text and the model no
  /// tokenizer.
  void add_request(const ScenarioRequest& wanted);
  /// at_step of a request that comes now: the first step that it can still be in.
  int next_entry() const { return engine_->next_entry(); }
  Engine& engine() { return *engine_; }

  /// Also writes the run to a file from here on. PRECOND: no step has run. Throws InputError.
  void record_to(const std::filesystem::path& path);
  std::shared_ptr<const trace::Recording> recording() const { return recording_; }
  Device& device() { return *pick_.device; }
  /// Why the emulator is used although a GPU was hoped for; "" when there is nothing to say.
  const std::string& note() const { return pick_.note; }

 private:
  Request make_request(const ScenarioRequest& wanted, std::size_t index) const;
  DevicePick pick_;
  std::optional<Tokenizer> tokenizer_;  // absent: token ids only
  std::unique_ptr<Transformer> transformer_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<trace::Recording> recording_;
  std::unique_ptr<trace::Writer> writer_;  // null: not written to a file
  std::uint64_t seed_ = 0;
};

/// "attnscope 0.1.0, g++ 12.2.0, simt" and the like, for manifests.
std::string build_text();

}  // namespace attn::app
