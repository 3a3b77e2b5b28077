#include "kernels/simt/worker_pool.h"

#include <chrono>
#include <utility>

namespace attn::simt {
namespace {

/// Waking a sleeping thread takes some tens of microseconds until it runs.
constexpr std::chrono::microseconds kWorthWaking{60};

}  // namespace

WorkerPool::WorkerPool(int num_workers) {
  for (int worker = 1; worker < num_workers; ++worker) {
    helpers_.emplace_back([this, worker] { helper_main(worker); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void WorkerPool::run(std::uint64_t count, const Body& body) {
  body_ = &body;
  count_ = count;
  next_ = 0;
  error_ = nullptr;
  bool woken = helpers_.empty();
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t mine = 0;
  while (do_one(0)) {
    ++mine;
    if (woken || mine >= count) continue;
    const auto spent = std::chrono::steady_clock::now() - begin;
    if (spent / mine * (count - mine) > kWorthWaking) {
      wake_helpers();
      woken = true;
    }
  }
  std::unique_lock lock(mutex_);
  open_ = false;
  done_.wait(lock, [&] { return joined_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void WorkerPool::wake_helpers() {
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
    ++job_;
  }
  work_.notify_all();
}

bool WorkerPool::do_one(int worker) {
  const std::uint64_t item = next_.fetch_add(1);
  if (item >= count_) return false;
  try {
    (*body_)(worker, item);
  } catch (...) {
    next_ = count_;
    const std::lock_guard lock(mutex_);
    if (!error_ || item < error_item_) {
      error_ = std::current_exception();
      error_item_ = item;
    }
  }
  return true;
}

void WorkerPool::helper_main(int worker) {
  std::uint64_t last_job = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return stopping_ || (open_ && job_ != last_job); });
    if (stopping_) return;
    last_job = job_;
    ++joined_;
    lock.unlock();
    while (do_one(worker)) {
    }
    lock.lock();
    if (--joined_ == 0) done_.notify_all();
  }
}

}  // namespace attn::simt
