// Fibers on Boost.Context, with pooled stacks and the sanitizers informed of every switch.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
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
  void switch_to(Fiber& to);
  /// Tells the sanitizers that this default-constructed fiber is the calling OS thread.
  void adopt_this_thread();

 private:
  void arrive(boost::context::fiber&& from_context);
  void before_leaving(Fiber& to, bool for_good);

  boost::context::fiber context_;  // empty while running
  Fiber* came_from_ = nullptr;     // who switched here last; its context arrives with us
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* asan_fake_stack_ = nullptr;
  void* tsan_fiber_ = nullptr;
  bool owns_tsan_fiber_ = false;
};

}  // namespace attn::simt
