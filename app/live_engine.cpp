#include "app/live_engine.h"

#include <algorithm>
#include <chrono>
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

LiveEngine::LiveEngine(Scenario scenario, std::vector<ScenarioRequest> added, DeviceChoice choice,
                       std::filesystem::path trace, std::function<void()> changed)
    : scenario_(std::move(scenario)),
      choice_(choice),
      trace_(std::move(trace)),
      changed_(std::move(changed)),
      max_steps_(scenario_.max_steps),
      status_(loading()),
      waiting_(added.begin(), added.end()),
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
    target_ = std::max(target_, num_steps() + (stepping_ ? 2 : 1));
    status_.busy = true;
  }
  wake_.notify_all();
}

void LiveEngine::run_to(int steps) {
  {
    const std::lock_guard lock(mutex_);
    if (status_.startup_error || steps <= num_steps()) return;
    target_ = std::max(target_, steps);
    status_.busy = true;
  }
  wake_.notify_all();
}

void LiveEngine::halt() {
  const std::lock_guard lock(mutex_);
  target_ = 0;
}

void LiveEngine::add_prompt(std::string text, SamplingParams sampling) {
  ScenarioRequest request;
  request.at_step = -1;
  request.prompt = std::move(text);
  request.sampling = sampling;
  add_request(std::move(request));
}

void LiveEngine::add_request(ScenarioRequest request) {
  {
    const std::lock_guard lock(mutex_);
    if (status_.startup_error) return;
    waiting_.push_back(std::move(request));
    status_.busy = true;
  }
  wake_.notify_all();
}

std::vector<ScenarioRequest> LiveEngine::added() const {
  const std::lock_guard lock(mutex_);
  return added_;
}

LiveEngine::Status LiveEngine::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void LiveEngine::wait_idle() const {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return !status_.busy; });
}

bool LiveEngine::wait_steps(int steps, const std::function<bool()>& stopped) const {
  constexpr std::chrono::milliseconds kLook{20};  // for `stopped`, which wakes nobody
  std::unique_lock lock(mutex_);
  while (num_steps() < steps && status_.busy && !stopped()) wake_.wait_for(lock, kLook);
  return num_steps() >= steps;
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
    std::deque<ScenarioRequest> requests;
    bool step = false;
    {
      std::unique_lock lock(mutex_);
      const auto wanted = [&] { return !waiting_.empty() || (target_ > num_steps() && can_step(host)); };
      status_.has_work = can_step(host);
      if (!status_.has_work && waiting_.empty()) target_ = 0;  // what is typed later is not run unasked
      status_.busy = wanted();
      stepping_ = false;
      lock.unlock();
      wake_.notify_all();
      changed_();
      lock.lock();
      wake_.wait(lock, [&] { return stop_ || wanted() || status_.busy; });
      if (stop_) return;
      requests.swap(waiting_);
      step = stepping_ = target_ > num_steps();
    }
    for (ScenarioRequest& request : requests) take_in(host, std::move(request));
    if (step && can_step(host)) {
      broken_ = true;  // until the step is through
      attempt([&] {
        host.step();
        broken_ = false;
      });
    }
  }
}

void LiveEngine::take_in(EngineHost& host, ScenarioRequest request) {
  max_steps_ = std::numeric_limits<int>::max();
  attempt([&] {
    if (request.at_step < 0) request.at_step = host.steps_run();
    host.add_request(request);
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(request));
  });
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
