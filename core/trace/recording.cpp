#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::trace {

/// Everything under one lock. Manifests are immutable: a new label makes a new one and the old ones stay, so
/// the reference that manifest() gave out holds for the life of the recording.
struct Recording::State {
  mutable std::shared_mutex mutex;
  std::deque<Manifest> manifests;
  std::vector<std::shared_ptr<const StepRecord>> steps;
  std::unordered_map<std::int32_t, std::string> token_texts;
};

Recording::Recording(Manifest manifest) : state_(std::make_unique<State>()) {
  state_->manifests.push_back(std::move(manifest));
}

Recording::~Recording() = default;

void Recording::append(std::shared_ptr<const StepRecord> step) {
  ATTN_CHECK(step != nullptr, "a recorded step must not be null");
  const std::unique_lock lock(state_->mutex);
  for (const auto& [id, text] : step->token_texts) state_->token_texts.insert_or_assign(id, text);
  state_->steps.push_back(std::move(step));
}

void Recording::add_request_label(std::string label) {
  const std::unique_lock lock(state_->mutex);
  state_->manifests.push_back(state_->manifests.back());
  state_->manifests.back().request_labels.push_back(std::move(label));
}

const Manifest& Recording::manifest() const {
  const std::shared_lock lock(state_->mutex);
  return state_->manifests.back();
}

int Recording::num_steps() const {
  const std::shared_lock lock(state_->mutex);
  return static_cast<int>(state_->steps.size());
}

std::shared_ptr<const StepRecord> Recording::step(int index) const {
  const std::shared_lock lock(state_->mutex);
  ATTN_CHECK(index >= 0 && static_cast<std::size_t>(index) < state_->steps.size(), "step {} of {}", index,
             state_->steps.size());
  return state_->steps[static_cast<std::size_t>(index)];
}

std::string Recording::token_text(std::int32_t id) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = state_->token_texts.find(id);
  return found == state_->token_texts.end() ? std::string() : found->second;
}

std::string Recording::note() const { return {}; }

}  // namespace attn::trace
