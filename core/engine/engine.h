// The engine: schedule -> run -> postprocess, one step at a time (nano-vllm's LLMEngine).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/config.h"
#include "core/engine/sampling_params.h"
#include "core/engine/step_at.h"
#include "core/trace/step_record.h"
#include "kernels/device.h"

namespace attn {

class Transformer;

/// The token a bookkeeping-only engine "samples" for that position: 1000 * (seq_id + 1) + position, readable
/// and, for positions below 1000, another one for each sequence and position.
std::int32_t fake_token(int seq_id, int position);

struct Request {
  int at_step = 0;    // enters once that many engine steps have run (warmup not counted),
                      // at once when the engine is idle
  std::string label;  // how the user names it ("A"), or the prompt's beginning
  std::vector<std::int32_t> token_ids;
  SamplingParams sampling;
};

class Engine {
 public:
  using TokenText = std::function<std::string(std::int32_t)>;
  /// `transformer` may be null: bookkeeping only, every sampled token is then `fake_token(seq_id, position)`
  /// (tests and the golden walk-throughs of the scheduler use this).
  Engine(Device& device, Transformer* transformer, EngineConfig config, TokenText token_text = {});
  ~Engine();

  /// Queues a request and returns its id (order of entry). An impossible one is rejected in the record
  /// of the step it would have entered, and never disturbs the others.
  int add_request(Request request);
  bool has_work() const;
  /// at_step of a request that comes into the next step that is not scheduled yet.
  int next_entry() const;
  /// Whether steps record the best logits of each row, which brings all of them to the host: on unless said
  /// otherwise. The tokens are the same.
  void record_logits(bool on);
  /// Told what a step is at while it is computed.
  void watch(StepWatch watch);
  /// Runs one step and returns its record. Throws Stopped when the device was told to stop: nothing of the
  /// step is recorded then, and the next call runs the same one from its beginning. PRECOND: has_work().
  std::shared_ptr<const trace::StepRecord> step();

  const EngineConfig& config() const;
  trace::ModelShape model_shape() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn
