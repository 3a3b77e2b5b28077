// What the timeline shows of every step, and the texts of all tokens, kept up to date as a recording grows.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/store.h"
#include "viz/frame.h"

namespace attn::app {

viz::StepSummary summarize(const trace::StepRecord& record);

/// Used by one thread. Reading a long trace for the first time takes a while, so it is done in slices.
class History {
 public:
  explicit History(std::shared_ptr<const trace::Store> store) : store_(std::move(store)) {}

  /// Takes in steps recorded since the last call, until `budget` is used up (at least one); their new tokens
  /// go into `token_texts`, by id. True when nothing is left to read.
  bool catch_up(std::chrono::microseconds budget, std::vector<std::string>& token_texts);
  /// Grows in place: whoever draws it is on the thread that calls catch_up.
  std::shared_ptr<const std::vector<viz::StepSummary>> summaries() const { return summaries_; }
  /// Sums over the steps up to and including `index`; null when that is not read yet.
  std::shared_ptr<const trace::RunCosts> costs(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return at < costs_.size() ? costs_[at] : nullptr;
  }

 private:
  std::shared_ptr<const trace::Store> store_;
  std::shared_ptr<std::vector<viz::StepSummary>> summaries_ =
      std::make_shared<std::vector<viz::StepSummary>>();
  std::vector<std::shared_ptr<const trace::RunCosts>> costs_;  // by index
};

}  // namespace attn::app
