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
  status.busy_since = LiveEngine::Clock::now();
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
    at_hand_.request_stop();
  }
  wake_.notify_all();
  thread_.join();
}

void LiveEngine::request_step() {
  {
    const std::lock_guard lock(mutex_);
    if (status_.startup_error) return;
    const bool comes_by_itself = stepping_ && !at_hand_.stop_requested();
    want(num_steps() + (comes_by_itself ? 2 : 1));
  }
  wake_.notify_all();
}

void LiveEngine::run_to(int steps) {
  {
    const std::lock_guard lock(mutex_);
    if (status_.startup_error || steps <= num_steps()) return;
    want(steps);
  }
  wake_.notify_all();
}

/// PRECOND of both: the mutex is held.
void LiveEngine::want(int steps) {
  target_ = std::max(target_, steps);
  set_busy(true);
}

void LiveEngine::set_busy(bool busy) {
  if (busy && !status_.busy) status_.busy_since = Clock::now();
  status_.busy = busy;
}

void LiveEngine::halt() {
  const std::lock_guard lock(mutex_);
  target_ = 0;
}

void LiveEngine::cancel() {
  const std::lock_guard lock(mutex_);
  target_ = 0;
  if (stepping_) at_hand_.request_stop();
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
    set_busy(true);
  }
  wake_.notify_all();
}

std::vector<ScenarioRequest> LiveEngine::added() const {
  const std::lock_guard lock(mutex_);
  return added_;
}

LiveEngine::Status LiveEngine::status() const {
  const std::lock_guard lock(mutex_);
  Status now = status_;
  if (!now.step) return now;
  // Attention is one launch, or one and a short one that merges; other stages are many.
  const std::uint64_t all = now.step->stage == trace::Stage::attention ? blocks_.all.load() : 0;
  const float of_launch = all == 0 ? 0.0F : static_cast<float>(blocks_.begun) / static_cast<float>(all);
  now.step_done = now.step->done(std::min(1.0F, of_launch));
  return now;
}

void LiveEngine::wait_idle() const {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return !status_.busy; });
}

bool LiveEngine::make_steps(int steps, const std::function<bool()>& stopped) {
  constexpr std::chrono::milliseconds kLook{20};  // for `stopped`, which wakes nobody
  std::unique_lock lock(mutex_);
  if (!status_.startup_error && steps > num_steps() && !stopped()) want(steps);
  wake_.notify_all();
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
    host = std::make_unique<EngineHost>(scenario_, choice_, at_hand_.get_token());
    host->device().context().blocks = &blocks_;
    host->engine().watch([this](const StepAt& at) {
      blocks_.all = 0;
      const std::lock_guard lock(mutex_);
      status_.step = at;
    });
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
      set_busy(wanted());
      status_.step.reset();
      if (status_.busy) status_.step.emplace().stage = trace::Stage::schedule;
      stepping_ = false;
      lock.unlock();
      wake_.notify_all();
      changed_();
      lock.lock();
      wake_.wait(lock, [&] { return stop_ || wanted() || status_.busy; });
      if (stop_) return;
      requests.swap(waiting_);
      step = stepping_ = target_ > num_steps();
      if (step) {
        status_.cancelled = false;
        at_hand_ = std::stop_source();
        host.device().context().stop = at_hand_.get_token();
      }
    }
    for (ScenarioRequest& request : requests) take_in(host, std::move(request));
    if (step && can_step(host)) compute_step(host);
  }
}

void LiveEngine::compute_step(EngineHost& host) {
  bool stopped = false;
  broken_ = true;  // until the step is through, or the engine is as it was before
  attempt([&] {
    try {
      host.step();
    } catch (const Stopped&) {
      stopped = true;
    }
    broken_ = false;
  });
  const std::lock_guard lock(mutex_);
  status_.cancelled = stopped;
}

void LiveEngine::take_in(EngineHost& host, ScenarioRequest request) {
  max_steps_ = std::numeric_limits<int>::max();
  attempt([&] {
    if (request.at_step < 0) request.at_step = host.next_entry();
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
