#include "app/open_run.h"

#include <utility>

namespace attn::app {
namespace {

constexpr std::chrono::microseconds kHistorySlice{3000};  // of a frame's time

}  // namespace

OpenRun::OpenRun(Subject subject, DeviceChoice choice, std::function<void()> changed,
                 const std::filesystem::path& trace, int steps)
    : subject_(std::move(subject)), choice_(choice), changed_(std::move(changed)) {
  if (subject_.store) {
    attach(subject_.store);
    return;
  }
  engine_ = std::make_shared<LiveEngine>(subject_.scenario, subject_.added, choice_, trace, changed_);
  engine_->run_to(steps);
}

void OpenRun::attach(std::shared_ptr<const trace::Store> store) {
  store_ = std::move(store);
  history_.emplace(store_);
  inspector_ = std::make_unique<InspectorThread>(store_, choice_, changed_);
}

void OpenRun::refresh() {
  if (!engine_) return;
  status_ = engine_->status();
  if (!store_ && status_.recording) attach(status_.recording);
}

bool OpenRun::catch_up(std::vector<std::string>& token_texts) {
  return !history_ || history_->catch_up(kHistorySlice, token_texts);
}

}  // namespace attn::app
