#include "core/engine/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/common/check.h"

namespace attn {

using trace::EventKind;
using trace::SeqStatus;

bool completes(const Sequence& seq) {
  return seq.num_cached_tokens + seq.num_scheduled_tokens == seq.num_tokens();
}

Scheduler::Scheduler(const EngineConfig& config, std::vector<std::int32_t> eos_token_ids, StepLog& log)
    : config_(config), eos_token_ids_(std::move(eos_token_ids)), log_(log), block_manager_(config, log) {}

Schedule Scheduler::schedule() {  // @schedule
  if (!config_.kv_cache) forget_everything();
  Schedule schedule{.seqs = schedule_prefill(), .is_prefill = true};
  if (schedule.seqs.empty() && !running_.empty()) schedule = {.seqs = schedule_decode(), .is_prefill = false};
  // Every sequence alive fits an empty pool (checked on entry and in finish_if_done), so somebody can run.
  ATTN_CHECK(!schedule.seqs.empty() || is_finished(), "{} waiting and {} running sequences, none can run",
             waiting_.size(), running_.size());
  return schedule;
}

void Scheduler::forget_everything() {
  while (!running_.empty()) {
    const SequencePtr seq = running_.back();  // the head of the waiting queue keeps the order of entry
    running_.pop_back();
    seq->status = SeqStatus::waiting;
    block_manager_.deallocate(*seq);
    waiting_.push_front(seq);
  }
}

std::vector<SequencePtr> Scheduler::schedule_prefill() {
  std::vector<SequencePtr> scheduled;
  int num_batched_tokens = 0;
  while (!waiting_.empty() && static_cast<int>(scheduled.size()) < config_.max_num_seqs) {
    const SequencePtr seq = waiting_.front();
    const int remaining = config_.max_num_batched_tokens - num_batched_tokens;
    if (remaining == 0) break;
    const bool is_new = seq->block_table.empty();  // else a later chunk of the first sequence
    const int num_cached_blocks = is_new ? block_manager_.can_allocate(*seq) : 0;
    if (num_cached_blocks < 0) break;
    const int num_cached = is_new ? num_cached_blocks * config_.block_size : seq->num_cached_tokens;
    const int num_tokens = seq->num_tokens() - num_cached;
    if (remaining < num_tokens && !scheduled.empty()) break;
    if (is_new) block_manager_.allocate(*seq, num_cached_blocks);
    seq->num_scheduled_tokens = std::min(num_tokens, remaining);
    num_batched_tokens += seq->num_scheduled_tokens;
    if (completes(*seq)) {
      seq->status = SeqStatus::running;
      waiting_.pop_front();
      running_.push_back(seq);
    }
    scheduled.push_back(seq);
  }
  return scheduled;
}

std::vector<SequencePtr> Scheduler::schedule_decode() {
  std::vector<SequencePtr> scheduled;
  while (!running_.empty() && static_cast<int>(scheduled.size()) < config_.max_num_seqs) {
    const SequencePtr seq = running_.front();
    running_.pop_front();
    while (!block_manager_.can_append(*seq) && !running_.empty()) {
      const SequencePtr youngest = running_.back();
      running_.pop_back();
      preempt(youngest, *seq);
    }
    if (!block_manager_.can_append(*seq)) {
      preempt(seq, *seq);
      continue;
    }
    seq->num_scheduled_tokens = 1;
    block_manager_.may_append(*seq);
    scheduled.push_back(seq);
  }
  running_.insert(running_.begin(), scheduled.begin(), scheduled.end());
  return scheduled;
}

void Scheduler::preempt(const SequencePtr& seq, const Sequence& in_favour_of) {
  const bool itself = seq.get() == &in_favour_of;
  log_.preempted.push_back(seq->seq_id);
  log_.add(
      EventKind::preempt, seq->seq_id, -1,
      fmt::format("Sequence {} is preempted because {} needs a block and none is free; its {} tokens will "
                  "be prefilled again.",
                  seq->seq_id, itself ? "it" : fmt::format("sequence {}", in_favour_of.seq_id),
                  seq->num_tokens()));
  seq->status = SeqStatus::waiting;
  block_manager_.deallocate(*seq);
  waiting_.push_front(seq);
}

void Scheduler::postprocess(const Schedule& schedule, const std::vector<std::int32_t>& token_ids) {
  ATTN_CHECK(schedule.seqs.size() == token_ids.size(), "{} sequences, {} tokens", schedule.seqs.size(),
             token_ids.size());
  for (std::size_t i = 0; i < schedule.seqs.size(); ++i) {  // @commit
    const SequencePtr& seq = schedule.seqs[i];
    const bool complete = completes(*seq);
    block_manager_.mark_filled(*seq);
    block_manager_.hash_blocks(*seq);
    seq->num_cached_tokens += seq->num_scheduled_tokens;
    seq->num_scheduled_tokens = 0;
    if (!complete) continue;
    seq->append_token(token_ids[i]);
    finish_if_done(seq);
  }
}

void Scheduler::finish_if_done(const SequencePtr& seq) {
  const int limit = config_.max_model_len;
  const int generated = seq->num_completion_tokens();
  std::string why;
  if (!seq->sampling.ignore_eos && std::ranges::count(eos_token_ids_, seq->last_token()) > 0) {
    why = "it sampled the end-of-sequence token";
  } else if (generated == seq->sampling.max_tokens) {
    why = "it has max_tokens new tokens";
  } else if (limit > 0 && seq->num_tokens() >= limit) {
    why = fmt::format("it reached max_model_len {}", limit);
  } else if (!block_manager_.can_ever_hold(seq->num_tokens())) {
    log_.reject(
        seq->seq_id,
        fmt::format("sequence {} stops after {} new tokens: its {} tokens need {} blocks of {} tokens and "
                    "the pool has {}; raise num_blocks or lower max_tokens",
                    seq->seq_id, generated, seq->num_tokens(), seq->num_blocks(), config_.block_size,
                    config_.num_blocks));
    end(seq);
    return;
  } else {
    return;
  }
  log_.finished.push_back(seq->seq_id);
  log_.add(EventKind::finish, seq->seq_id, -1,
           fmt::format("Sequence {} is finished after {} new tokens: {}.", seq->seq_id, generated, why));
  end(seq);
}

void Scheduler::end(const SequencePtr& seq) {
  seq->status = SeqStatus::finished;
  block_manager_.deallocate(*seq);
  running_.erase(std::ranges::find(running_, seq));
}

}  // namespace attn
