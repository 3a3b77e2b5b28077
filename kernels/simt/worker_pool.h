// OS threads that share out numbered items. The caller works too, and helpers are woken only when what is
// left looks longer than waking them costs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace attn::simt {

class WorkerPool {
 public:
  /// `num_workers` counts the caller of run().
  explicit WorkerPool(int num_workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int num_workers() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls body(worker, item) for every item, worker in 0 .. num_workers-1 (0 is the caller), items handed
  /// out in order. Returns when all are done. After an exception no new item starts; that of the lowest
  /// item is rethrown.
  using Body = std::function<void(int worker, std::uint64_t item)>;
  void run(std::uint64_t count, const Body& body);

 private:
  void helper_main(int worker);
  bool do_one(int worker);
  void wake_helpers();

  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  // Guarded by mutex_.
  bool stopping_ = false;
  bool open_ = false;  // helpers may join the current job
  int joined_ = 0;     // helpers inside it
  std::uint64_t job_ = 0;
  std::exception_ptr error_;
  std::uint64_t error_item_ = 0;

  // The current job; changed only while no helper has joined.
  const Body* body_ = nullptr;
  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace attn::simt
