#include "app/history.h"

#include <algorithm>

#include "viz/pool_facts.h"

namespace attn::app {
namespace {

constexpr std::int32_t kLargestTokenId = 4 << 20;  // a damaged trace must not make us reserve gigabytes

}  // namespace

viz::StepSummary summarize(const trace::StepRecord& record) {
  viz::StepSummary summary;
  summary.step = record.step;
  summary.kind = record.kind;
  summary.path = record.path;
  summary.num_tokens = static_cast<int>(record.input_ids.size());
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
  for (const trace::SeqState& seq : record.seqs_after) {
    if (std::ranges::find(record.finished, seq.id) != record.finished.end()) summary.ended.push_back(seq);
  }
  for (const trace::BlockState& block : record.blocks) {
    if (block.ref_count > 0) {
      ++summary.blocks_used;
    } else if (block.hash) {
      ++summary.blocks_cached_free;
    }
  }
  for (const trace::Event& event : record.events) {
    if (std::ranges::find(summary.events, event.kind) == summary.events.end()) {
      summary.events.push_back(event.kind);
    }
  }
  summary.written = viz::blocks_written(record);
  summary.read = viz::blocks_read(record);
  for (std::size_t b = 0; b + 1 < record.cu_seqlens_k.size(); ++b) {
    const auto keys = static_cast<std::uint64_t>(record.cu_seqlens_k[b + 1] - record.cu_seqlens_k[b]);
    summary.uncached_dots += keys * (keys + 1) / 2;
    summary.uncached_rows += keys;
  }
  return summary;
}

bool History::catch_up(std::chrono::microseconds budget, std::vector<std::string>& token_texts) {
  const auto end = std::chrono::steady_clock::now() + budget;
  while (static_cast<int>(summaries_->size()) < store_->num_steps()) {
    const auto record = store_->step(static_cast<int>(summaries_->size()));
    summaries_->push_back(summarize(*record));
    auto costs = costs_.empty() ? std::make_shared<trace::RunCosts>()
                                : std::make_shared<trace::RunCosts>(*costs_.back());
    trace::add_step(*costs, *record);
    costs_.push_back(std::move(costs));
    for (const auto& [id, text] : record->token_texts) {
      if (id < 0 || id > kLargestTokenId) continue;
      const auto place = static_cast<std::size_t>(id);
      if (place >= token_texts.size()) token_texts.resize(place + 1);
      token_texts[place] = text;
    }
    if (std::chrono::steady_clock::now() >= end) break;
  }
  return static_cast<int>(summaries_->size()) >= store_->num_steps();
}

}  // namespace attn::app
