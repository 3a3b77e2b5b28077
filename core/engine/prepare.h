// Sequences to flat arrays: what one forward is told about its batch (nano-vllm's prepare_prefill and
// prepare_decode). The arrays go straight into the step's record, so what is drawn is what was run.
#pragma once

#include <vector>

#include "core/engine/sequence.h"

namespace attn {

/// Fills input_ids, positions, cu_seqlens_q/k, max_seqlen_q/k and slot_mapping for the scheduled tokens of
/// each sequence, and block_tables for all of them iff any has cached tokens. A sequence without blocks
/// (warmup) gets no slots. The switches positions_restart, cu_seqlens_k_from_q (after block_tables are
/// decided, so the keys are still read through them) and forget_store change the arrays last.
void prepare_prefill(const std::vector<SequencePtr>& seqs, trace::StepRecord& record);

/// The same for one token per sequence, with context_lens and always block_tables. The token's K/V row is
/// written by this step before attention, so context_lens counts it. Under identity_decode neither
/// context_lens nor block_tables is passed; slots are.
void prepare_decode(const std::vector<SequencePtr>& seqs, trace::StepRecord& record);

}  // namespace attn
