#include "app/live_engine.h"

#include <exception>
#include <utility>

namespace attn::app {

LiveEngine::LiveEngine(Scenario scenario, DeviceChoice choice, std::function<void()> changed)
    : scenario_(std::move(scenario)),
      choice_(choice),
      changed_(std::move(changed)),
      thread_([this] { run(); }) {}

LiveEngine::~LiveEngine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void LiveEngine::request_step() {
  {
    const std::lock_guard lock(mutex_);
    step_wanted_ = true;
  }
  wake_.notify_all();
}

void LiveEngine::add_prompt(std::string text, SamplingParams sampling) {
  {
    const std::lock_guard lock(mutex_);
    prompts_.emplace_back(std::move(text), sampling);
  }
  wake_.notify_all();
}

LiveEngine::Status LiveEngine::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::shared_ptr<trace::Recording> LiveEngine::recording() const {
  const std::lock_guard lock(mutex_);
  return recording_;
}

void LiveEngine::publish(const std::function<void(Status&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    change(status_);
  }
  changed_();
}

void LiveEngine::run() {
  try {
    EngineHost host(scenario_, choice_);
    publish([&](Status& status) {
      recording_ = host.recording();
      status.loading = false;
      status.has_work = host.has_work();
      status.note = host.note();
      status.device = host.device().name();
    });
    serve(host);
  } catch (const std::exception& error) {
    publish([&](Status& status) {
      status.loading = status.busy = status.has_work = false;
      status.error = error.what();
    });
  }
}

void LiveEngine::serve(EngineHost& host) {
  for (;;) {
    std::deque<std::pair<std::string, SamplingParams>> prompts;
    bool step = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || step_wanted_ || !prompts_.empty(); });
      if (stop_) return;
      prompts.swap(prompts_);
      step = std::exchange(step_wanted_, false);
    }
    std::string error;
    for (const auto& [text, sampling] : prompts) {
      try {
        host.add_prompt(text, sampling);
      } catch (const std::exception& failure) {
        error = failure.what();
      }
    }
    if (step && host.has_work()) {
      publish([](Status& status) { status.busy = true; });
      host.step();
    }
    publish([&](Status& status) {
      status.busy = false;
      status.has_work = host.has_work();
      status.error = error;
    });
  }
}

}  // namespace attn::app
