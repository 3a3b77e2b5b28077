// Fibers on Boost.Context, with pooled stacks and the sanitizers informed of every switch.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/simt/sanitizers.h"

namespace attn::simt {

/// Stacks for fibers, mapped in chunks and kept until the pool dies. Each has a guard page below it, so an
/// overflow faults instead of corrupting a neighbour.
class StackPool {
 public:
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// The n-th call starts its stack (n mod 16) * 256 bytes lower: with equal strides the hot ends of all
  /// stacks would fall into the same few sets of the L1 cache.
  boost::context::stack_context take();

 private:
  static constexpr std::size_t kStackBytes = (ATTN_ASAN || ATTN_TSAN) ? 512 * 1024 : 64 * 1024;
  static constexpr std::size_t kStacksPerChunk = 32;
  std::vector<std::byte*> chunks_;
  std::size_t taken_ = 0;
};

/// One flow of control. A default-constructed Fiber stands for the code that is already running.
class Fiber {
 public:
  Fiber() = default;
  /// `body` runs at the first switch here. It must end by returning the fiber to continue with.
  Fiber(StackPool& stacks, std::function<Fiber&()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves this (running) fiber for `to`; returns when somebody switches back.
  [[gnu::always_inline]] void switch_to(Fiber& to) {
    to.came_from_ = this;
    before_leaving(to, false);
    arrive(std::move(to.context_).resume());
  }
  /// Tells the sanitizers that this default-constructed fiber is the calling OS thread.
  void adopt_this_thread();

 private:
  // Inline, as everything on the way through a switch is: the CPU predicts returns by a stack of calls, so
  // after a switch each return that leaves an open call is mispredicted (about 8 ns).
  void arrive(boost::context::fiber&& from_context) {
    sanitizers_after_arrival();
    came_from_->context_ = std::move(from_context);
  }
  void before_leaving([[maybe_unused]] Fiber& to, [[maybe_unused]] bool for_good) {
#if ATTN_ASAN
    __sanitizer_start_switch_fiber(for_good ? nullptr : &asan_fake_stack_, to.stack_bottom_, to.stack_bytes_);
#endif
#if ATTN_TSAN
    __tsan_switch_to_fiber(to.tsan_fiber_, __tsan_switch_to_fiber_no_sync);
#endif
  }
  void sanitizers_after_arrival() {
#if ATTN_ASAN
    // The bounds of an OS thread's own stack are learnt from the first switch away from it.
    __sanitizer_finish_switch_fiber(asan_fake_stack_, &came_from_->stack_bottom_, &came_from_->stack_bytes_);
#endif
  }

  boost::context::fiber context_;  // empty while running
  Fiber* came_from_ = nullptr;     // who switched here last; its context arrives with us
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* asan_fake_stack_ = nullptr;
  void* tsan_fiber_ = nullptr;
  bool owns_tsan_fiber_ = false;
};

}  // namespace attn::simt
