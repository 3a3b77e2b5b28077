#include "app/job.h"

#include <algorithm>

namespace attn::app {

void Job::Control::progress(int done, int total) {
  if (progress_->fraction < 0.0F) progress_->since = Clock::now();
  progress_->fraction = static_cast<float>(done) / static_cast<float>(std::max(1, total));
}

viz::Work Job::state() const {
  viz::Work work{.text = text_, .fraction = progress_.fraction, .can_cancel = true};
  // A first guess swings; by then there is something to go by.
  constexpr float kSoonest = 1.0F;  // seconds
  const float took = std::chrono::duration<float>(Clock::now() - progress_.since.load()).count();
  if (work.fraction > 0.0F && took >= kSoonest)
    work.seconds_left = took * (1.0F - work.fraction) / work.fraction;
  return work;
}

Job::Job(std::string text, Work work, std::function<void()> changed)
    : text_(std::move(text)),
      thread_([this, work = std::move(work), changed = std::move(changed)](std::stop_token stop) {
        try {
          Control control(std::move(stop), progress_);
          finish_ = work(control);
        } catch (...) {
          error_ = std::current_exception();
        }
        done_ = true;
        done_.notify_all();
        changed();
      }) {}

void Job::finish() {
  thread_.join();
  if (error_) std::rethrow_exception(error_);
  if (finish_) finish_();
}

}  // namespace attn::app
