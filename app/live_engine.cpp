#include "app/live_engine.h"

#include <limits>
#include <utility>

namespace attn::app {
namespace {

LiveEngine::Status loading() {
  LiveEngine::Status status;
  status.busy = true;
  return status;
}

}  // namespace

LiveEngine::LiveEngine(Scenario scenario, DeviceChoice choice, std::filesystem::path trace,
                       std::function<void()> changed)
    : scenario_(std::move(scenario)),
      choice_(choice),
      trace_(std::move(trace)),
      changed_(std::move(changed)),
      max_steps_(scenario_.max_steps),
      status_(loading()),
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
    if (status_.startup_error) return;
    step_wanted_ = status_.busy = true;
  }
  wake_.notify_all();
}

void LiveEngine::add_prompt(std::string text, SamplingParams sampling) {
  {
    const std::lock_guard lock(mutex_);
    if (status_.startup_error) return;
    prompts_.push_back({std::move(text), sampling});
    status_.busy = true;
  }
  wake_.notify_all();
}

LiveEngine::Status LiveEngine::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void LiveEngine::wait_idle() const {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return !status_.busy; });
}

void LiveEngine::run() {
  if (const std::unique_ptr<EngineHost> host = start()) serve(*host);
}

std::unique_ptr<EngineHost> LiveEngine::start() {
  std::unique_ptr<EngineHost> host;
  std::exception_ptr error;
  try {
    host = std::make_unique<EngineHost>(scenario_, choice_);
    if (!trace_.empty()) host->record_to(trace_);
  } catch (...) {
    error = std::current_exception();
    host.reset();
  }
  {
    const std::lock_guard lock(mutex_);
    if (host) {
      status_.recording = host->recording();
      status_.note = host->note();
      status_.device = host->device().name();
    } else {
      status_.startup_error = error;
      status_.busy = false;
    }
  }
  wake_.notify_all();
  changed_();
  return host;
}

void LiveEngine::serve(EngineHost& host) {
  for (;;) {
    std::deque<Prompt> prompts;
    bool step = false;
    {
      std::unique_lock lock(mutex_);
      status_.has_work = can_step(host);
      status_.busy = step_wanted_ || !prompts_.empty();
      if (!status_.busy) {
        lock.unlock();
        wake_.notify_all();
        changed_();
        lock.lock();
      }
      wake_.wait(lock, [this] { return stop_ || step_wanted_ || !prompts_.empty(); });
      if (stop_) return;
      prompts.swap(prompts_);
      step = std::exchange(step_wanted_, false);
    }
    for (const Prompt& prompt : prompts) {
      max_steps_ = std::numeric_limits<int>::max();
      attempt([&] { host.add_prompt(prompt.text, prompt.sampling); });
    }
    if (step && can_step(host)) {
      broken_ = true;  // until the step is through
      attempt([&] {
        host.step();
        broken_ = false;
      });
    }
  }
}

bool LiveEngine::can_step(const EngineHost& host) const {
  return !broken_ && host.recording()->num_steps() < max_steps_ && host.has_work();
}

void LiveEngine::attempt(const std::function<void()>& work) {
  std::string error;
  try {
    work();
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  const std::lock_guard lock(mutex_);
  status_.error = std::move(error);
}

}  // namespace attn::app
