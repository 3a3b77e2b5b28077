// What a fact of the table sees when it is asked for. Inside core/trace only.
#pragma once

#include <string>
#include <utility>

#include "core/trace/facts.h"

namespace attn::trace {

/// One run at one place. Every access throws InputError when there is no such thing.
class FactScope {
 public:
  FactScope(FactSource source, const FactPlace& place, const FactCall& call, FactSource other);

  const Store& store() const { return *source_.store; }
  const ModelShape& model() const { return store().manifest().model; }
  const StepRecord& step() const { return *step_; }
  const FactPlace& place() const { return place_; }
  int index() const { return index_; }
  const std::string& argument() const { return call_.argument; }

  /// Place in the batch, from the argument or the place; of sequences that run in this step.
  std::size_t batch() const;
  /// Of any sequence alive, as it was when the step ran, and after it.
  const SeqState& seq() const { return find_seq(step_->seqs); }
  const SeqState& seq_after() const { return find_seq(step_->seqs_after); }
  int q_len(std::size_t b) const { return step_->cu_seqlens_q[b + 1] - step_->cu_seqlens_q[b]; }
  /// Packed query row of the place.
  int row() const;
  /// The argument as a number, `otherwise` without one.
  int number(int otherwise) const;
  const BlockState& block() const;
  /// First and last step index of the argument; this step without one.
  std::pair<int, int> steps() const;
  /// The place's layer, as recorded.
  const LayerRecord& layer() const;
  std::string label(int seq_id) const;

  /// The kernel launched again: side A or B of a comparison, or as recorded.
  const AttentionView& view() const;
  /// PRECOND of the rest of what is read from it: it computed weights (no identity path).
  const AttentionView& weights_view() const;
  const CompareView& comparison() const;
  bool compares() const { return place_.compare.has_value(); }
  const CompareSide& side() const { return call_.side_b ? comparison().b : comparison().a; }
  Inspector& inspector() const;
  /// Of a fact of two runs: the other one's step of the same number.
  const StepRecord& other_step() const;
  const Store& other() const { return *other_.store; }

 private:
  const SeqState& find_seq(const std::vector<SeqState>& seqs) const;
  int seq_id() const;

  FactSource source_;
  FactSource other_;
  const FactPlace& place_;
  const FactCall& call_;
  int index_ = 0;
  std::shared_ptr<const StepRecord> step_;
  mutable std::shared_ptr<const AttentionView> view_;
  mutable std::shared_ptr<const CompareView> compare_;
  mutable std::shared_ptr<const StepRecord> other_step_;
};

/// The groups of the table.
std::vector<Fact> batch_facts();      // lengths, tables, slots, samples
std::vector<Fact> pool_facts();       // blocks, free list, hashes
std::vector<Fact> cost_facts();       // dots, rows, bytes; steps summed
std::vector<Fact> attention_facts();  // weights, softmax state, outputs
std::vector<Fact> compare_facts();    // two launches, two runs

}  // namespace attn::trace
