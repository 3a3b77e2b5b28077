// One request on its way through the engine: its tokens, how many of them have K/V, and where.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/sampling_params.h"
#include "core/trace/step_record.h"

namespace attn {

/// nano-vllm's Sequence. Invariants: num_cached_tokens <= num_tokens(); before a decode step exactly the
/// last token (sampled by the step before) has no K/V yet: num_cached_tokens == num_tokens() - 1.
struct Sequence {
  /// PRECOND: token_ids is not empty, block_size >= 1.
  Sequence(int id, std::vector<std::int32_t> prompt, const SamplingParams& params, int tokens_per_block);

  int seq_id;
  trace::SeqStatus status = trace::SeqStatus::waiting;
  std::vector<std::int32_t> token_ids;  // prompt first, then what was sampled
  int num_prompt_tokens;
  int num_cached_tokens = 0;              // tokens whose K/V is in the pool
  int num_scheduled_tokens = 0;           // tokens the step at hand computes
  std::vector<std::int32_t> block_table;  // physical block of every logical block
  SamplingParams sampling;
  int block_size;

  int num_tokens() const { return static_cast<int>(token_ids.size()); }
  int num_completion_tokens() const { return num_tokens() - num_prompt_tokens; }
  std::int32_t last_token() const { return token_ids.back(); }
  int num_blocks() const { return (num_tokens() + block_size - 1) / block_size; }
  int last_block_num_tokens() const { return num_tokens() - (num_blocks() - 1) * block_size; }
  /// Tokens of logical block i; the last one may be shorter than block_size.
  std::span<const std::int32_t> block(int i) const;
  void append_token(std::int32_t token_id) { token_ids.push_back(token_id); }
  /// Slot of logical position `pos` in the pool: block_table[pos / bs] * bs + pos % bs.
  std::int32_t slot(int pos) const { return block_table[pos / block_size] * block_size + pos % block_size; }
};

using SequencePtr = std::shared_ptr<Sequence>;

/// The sequence as the trace keeps it.
trace::SeqState snapshot(const Sequence& seq);

}  // namespace attn
