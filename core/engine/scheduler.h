// Which sequences run in a step, and what happens to them after it.
//
// Behaviour of nano-vllm's Scheduler: a step is all prefill or all decode and prefill goes first; only the
// first sequence of a prefill step may be cut to the token budget (chunked prefill); when decode finds no
// free block the youngest running sequence is preempted by recompute: it gives all blocks back, keeps its
// tokens and goes to the head of the waiting queue. Switch kv_cache off does that to every running sequence
// before every step: nothing is kept, and each new token costs its whole sequence. Beyond nano-vllm:
// generation stops at max_model_len, and a sequence that has outgrown the whole pool ends with a message.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/engine/block_manager.h"

namespace attn {

struct Schedule {
  std::vector<SequencePtr> seqs;  // batch order; empty when nothing can run
  bool is_prefill = true;
};

class Scheduler {
 public:
  /// max_model_len 0 = no limit. `log` outlives the scheduler.
  Scheduler(const EngineConfig& config, std::vector<std::int32_t> eos_token_ids, StepLog& log);

  bool is_finished() const { return waiting_.empty() && running_.empty(); }
  void add(SequencePtr seq) { waiting_.push_back(std::move(seq)); }
  /// Chooses the step's sequences, sets num_scheduled_tokens and gives them their blocks.
  Schedule schedule();
  /// Commits the step: registers full blocks, appends the sampled tokens (but for an unfinished chunk, whose
  /// sample is thrown away) and ends sequences. One token per scheduled sequence.
  void postprocess(const Schedule& schedule, const std::vector<std::int32_t>& token_ids);

  const BlockManager& block_manager() const { return block_manager_; }
  const std::deque<SequencePtr>& waiting() const { return waiting_; }
  const std::deque<SequencePtr>& running() const { return running_; }

 private:
  void forget_everything();
  std::vector<SequencePtr> schedule_prefill();
  std::vector<SequencePtr> schedule_decode();
  void preempt(const SequencePtr& seq, const Sequence& in_favour_of);
  void finish_if_done(const SequencePtr& seq);
  void end(const SequencePtr& seq);

  EngineConfig config_;
  std::vector<std::int32_t> eos_token_ids_;
  StepLog& log_;
  BlockManager block_manager_;
  std::deque<SequencePtr> waiting_;
  std::deque<SequencePtr> running_;
};

/// Whether the step at hand computes the sequence's last known token, so that its sample is kept.
bool completes(const Sequence& seq);

}  // namespace attn
