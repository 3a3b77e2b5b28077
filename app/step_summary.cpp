#include "app/step_summary.h"

#include <algorithm>

namespace attn::app {

viz::StepSummary summarize(const trace::StepRecord& record) {
  viz::StepSummary summary;
  summary.step = record.step;
  summary.kind = record.kind;
  summary.num_tokens = record.cu_seqlens_q.empty() ? 0 : record.cu_seqlens_q.back();
  for (std::size_t i = 0; i < record.seqs.size(); ++i) {
    const trace::SeqState& seq = record.seqs[i];
    if (static_cast<int>(i) < record.num_scheduled) {
      summary.scheduled.push_back(seq.id);
    } else if (seq.status == trace::SeqStatus::waiting) {
      summary.waiting.push_back(seq.id);
    }
  }
  summary.preempted = record.preempted;
  summary.finished = record.finished;
  for (const trace::BlockState& block : record.blocks) {
    if (block.ref_count > 0) {
      ++summary.blocks_used;
    } else if (block.hash) {
      ++summary.blocks_cached_free;
    }
  }
  for (const trace::Event& event : record.events) {
    if (std::find(summary.events.begin(), summary.events.end(), event.kind) == summary.events.end()) {
      summary.events.push_back(event.kind);
    }
  }
  return summary;
}

}  // namespace attn::app
