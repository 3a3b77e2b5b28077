#include "app/job.h"

namespace attn::app {

Job::Job(std::string text, Work work, std::function<void()> changed)
    : text_(std::move(text)),
      thread_([this, work = std::move(work), changed = std::move(changed)](std::stop_token stop) {
        try {
          Control control(std::move(stop), fraction_);
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
