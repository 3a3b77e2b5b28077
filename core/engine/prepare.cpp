#include "core/engine/prepare.h"

#include <algorithm>

#include "kernels/common/check.h"

namespace attn {

namespace {

void prepare_block_tables(const std::vector<SequencePtr>& seqs, trace::StepRecord& record) {
  std::size_t width = 0;
  for (const SequencePtr& seq : seqs) width = std::max(width, seq->block_table.size());
  auto& tables = record.block_tables.emplace();
  for (const SequencePtr& seq : seqs) {
    tables.push_back(seq->block_table);  // @block_tables
    tables.back().resize(width, -1);
  }
}

/// Switch forget_store: the last row of the step's first sequence gets slot -1, so the kernel skips it. The
/// bookkeeping goes on as if it had been written.
void forget_store(trace::StepRecord& record) {
  if (record.step != record.config.forget_store || record.slot_mapping.empty()) return;
  record.slot_mapping[static_cast<std::size_t>(record.cu_seqlens_q[1] - 1)] = -1;
}

/// Switch positions_restart: the cached offset is forgotten.
void restart_positions(trace::StepRecord& record) {
  for (std::size_t b = 0; b + 1 < record.cu_seqlens_q.size(); ++b) {
    for (int row = record.cu_seqlens_q[b]; row < record.cu_seqlens_q[b + 1]; ++row) {
      record.positions[static_cast<std::size_t>(row)] = row - record.cu_seqlens_q[b];
    }
  }
}

/// Appends the tokens at positions begin .. end-1, which see `end` keys.
void append_tokens(const Sequence& seq, int begin, int end, trace::StepRecord& record) {
  for (int pos = begin; pos < end; ++pos) {
    record.input_ids.push_back(seq.token_ids[pos]);                              // @input_ids
    record.positions.push_back(pos);                                             // @positions
    if (!seq.block_table.empty()) record.slot_mapping.push_back(seq.slot(pos));  // @slot_mapping
  }
  record.cu_seqlens_q.push_back(record.cu_seqlens_q.back() + end - begin);  // @cu_seqlens_q
  record.cu_seqlens_k.push_back(record.cu_seqlens_k.back() + end);          // @cu_seqlens_k
  record.max_seqlen_q = std::max(record.max_seqlen_q, end - begin);
  record.max_seqlen_k = std::max(record.max_seqlen_k, end);
}

}  // namespace

void prepare_prefill(const std::vector<SequencePtr>& seqs, trace::StepRecord& record) {  // @prepare_prefill
  record.cu_seqlens_q = record.cu_seqlens_k = {0};
  for (const SequencePtr& seq : seqs) {
    const int start = seq->num_cached_tokens;
    ATTN_CHECK(seq->num_scheduled_tokens > 0, "sequence {} is scheduled with no token", seq->seq_id);
    append_tokens(*seq, start, start + seq->num_scheduled_tokens, record);
  }
  if (record.cu_seqlens_k.back() > record.cu_seqlens_q.back()) prepare_block_tables(seqs, record);
  record.paged = record.block_tables.has_value();
  if (record.config.positions_restart) restart_positions(record);
  if (record.config.cu_seqlens_k_from_q) {
    record.cu_seqlens_k = record.cu_seqlens_q;
    record.max_seqlen_k = record.max_seqlen_q;
  }
  forget_store(record);
}

void prepare_decode(const std::vector<SequencePtr>& seqs, trace::StepRecord& record) {  // @prepare_decode
  record.cu_seqlens_q = record.cu_seqlens_k = {0};
  record.context_lens.emplace();
  for (const SequencePtr& seq : seqs) {
    ATTN_CHECK(seq->num_cached_tokens == seq->num_tokens() - 1,
               "sequence {} decodes with {} of {} tokens cached", seq->seq_id, seq->num_cached_tokens,
               seq->num_tokens());
    append_tokens(*seq, seq->num_tokens() - 1, seq->num_tokens(), record);
    record.context_lens->push_back(seq->num_tokens());  // @context_lens
  }
  prepare_block_tables(seqs, record);
  record.paged = true;
  if (record.config.identity_decode) {
    record.context_lens.reset();
    record.block_tables.reset();
    record.paged = false;
  }
  forget_store(record);
}

}  // namespace attn
