// One piece of long work on a thread of its own, with progress, and a way to stop it. What is to be done with
// its result comes back as a function for the thread that owns the job, so that the work itself touches
// nothing of its owner.
#pragma once

#include <atomic>
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
  /// What the work is given.
  class Control {
   public:
    Control(std::stop_token stop, std::atomic<float>& fraction) : stop_(std::move(stop)), done_(&fraction) {}
    /// Whether nobody wants the result any more.
    bool stopped() const { return stop_.stop_requested(); }
    void progress(int done, int total) { *done_ = static_cast<float>(done) / static_cast<float>(total); }

   private:
    std::stop_token stop_;
    std::atomic<float>* done_;
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
  viz::Work state() const { return {.text = text_, .fraction = fraction_, .can_cancel = true}; }
  /// Blocks until done().
  void wait() const { done_.wait(false); }
  /// PRECOND: done(), called once. Runs what the work gave back; rethrows what stopped it.
  void finish();

 private:
  const std::string text_;
  std::atomic<float> fraction_ = -1.0F;
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
