// One piece of long work on a thread of its own, with progress, and a way to stop it. What is to be done with
// its result comes back as a function for the thread that owns the job, so that the work itself touches
// nothing of its owner.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "viz/frame.h"

namespace attn::app {

class Job {
 public:
  using Clock = std::chrono::steady_clock;
  /// How far it is, written by the work and read by the owner.
  struct Progress {
    std::atomic<float> fraction = -1.0F;
    std::atomic<Clock::time_point> since;  // of the first fraction
  };
  /// What the work is given.
  class Control {
   public:
    Control(std::stop_token stop, Progress& progress) : stop_(std::move(stop)), progress_(&progress) {}
    /// Whether nobody wants the result any more.
    bool stopped() const { return stop_.stop_requested(); }
    const std::stop_token& stop_token() const { return stop_; }
    void progress(int done, int total);

   private:
    std::stop_token stop_;
    Progress* progress_;
  };
  /// Taken by the owner; may be empty.
  using Finish = std::function<void()>;
  using Work = std::function<Finish(Control&)>;

  /// Starts at once; `changed` is called from the job's thread when it is through.
  Job(std::string text, Work work, std::function<void()> changed);
  ~Job() = default;  // asks the work to stop and waits for it
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void cancel() { thread_.request_stop(); }
  bool done() const { return done_; }
  /// For the screen.
  viz::Work state() const;
  /// Blocks until done().
  void wait() const { done_.wait(false); }
  /// PRECOND: done(), called once. Runs what the work gave back; rethrows what stopped it.
  void finish();

 private:
  const std::string text_;
  Progress progress_;
  std::atomic<bool> done_ = false;
  Finish finish_;
  std::exception_ptr error_;
  std::jthread thread_;  // last: starts when everything above exists
};

/// Things whose destructor waits for a thread go here: they are destroyed beside the owner's own work.
class Bin {
 public:
  template <class T>
  void put(std::unique_ptr<T> thing) {
    if (!thing) return;
    std::erase_if(going_, [](const std::future<void>& one) {
      return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
    std::shared_ptr<T> last = std::move(thing);
    going_.push_back(std::async(std::launch::async, [last = std::move(last)]() mutable { last.reset(); }));
  }

 private:
  std::vector<std::future<void>> going_;
};

}  // namespace attn::app
