#include "kernels/simt/block_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/common/check.h"
#include "kernels/simt/random_order.h"

namespace attn::on_simt {

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

}  // namespace attn::on_simt

namespace attn::simt {
namespace {

constexpr unsigned above(unsigned position) { return ~((2U << position) - 1U); }

/// The bits 0 .. count-1, count in 1 .. 32.
constexpr unsigned low_bits(unsigned count) { return 0xFFFFFFFFU >> (kWarpSize - count); }

}  // namespace

constinit thread_local BlockRunner* BlockRunner::active_ = nullptr;

std::string index_text(unsigned x, unsigned y, unsigned z) { return fmt::format("({},{},{})", x, y, z); }

BlockRunner::BlockRunner(const SimtOptions& options) : options_(options) {
  for (auto* list : {&idle_, &spent_}) list->reserve(kMaxThreads);
}

BlockRunner::~BlockRunner() {
  stopping_ = true;
  main_.adopt_this_thread();
  for (auto& fiber : fibers_) {
    running_ = fiber.get();
    main_.switch_to(*fiber);
  }
}

void* BlockRunner::dynamic_shared() const { return shared_ ? shared_->data() : nullptr; }

// Thread-local variables are touched in functions of their own, never in a frame that lives across a
// switch: a parked fiber may be resumed by another OS thread, and compilers keep the address of a
// thread-local in a register.
[[gnu::noinline]] void BlockRunner::set_block_names() {
  active_ = this;
  on_simt::blockIdx = block_index_;
  on_simt::blockDim = {launch_->block.x, launch_->block.y, launch_->block.z};
  on_simt::gridDim = {launch_->grid.x, launch_->grid.y, launch_->grid.z};
}

void BlockRunner::run(const Launch& launch, std::uint64_t block) {
  prepare(launch, block);
  set_block_names();
  main_.adopt_this_thread();
  pick_next();
  running_ = threads_[thread_id()].fiber = &idle_fiber();
  tsan_release(&start_token_);
  main_.switch_to(*running_);
  tsan_acquire(&end_token_);
  active_ = nullptr;
  if (failed_) std::rethrow_exception(std::exchange(error_, nullptr));
  check_guards(false);
}

void BlockRunner::prepare(const Launch& launch, std::uint64_t block) {
  launch_ = &launch;
  const Dim3& grid = launch.grid;
  block_index_ = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
                  static_cast<unsigned>(block / grid.x / grid.y)};
  const Dim3& shape = launch.block;
  const bool reshape = failed_ || shape.x != shape_.x || shape.y != shape_.y || shape.z != shape_.z;
  if (reshape) take_shape(shape);
  if (reshape || options_.order == SimtOrder::shuffled) choose_order(block);
  for (unsigned w = 0; w < num_warps_; ++w) {
    warps_[w].ready = warps_[w].present;
    warps_[w].exited = 0;
  }
  // Copies that a thread never waited for reach nobody; the next block must not make them.
  for (Thread& thread : threads_) thread.copies.pending.clear();
  ready_warps_ = low_bits(num_warps_);
  alive_ = num_threads_;
  warp_ = warp_at_[0];
  position_ = kWarpSize - 1;  // so that the first pick is position 0
  if (launch.shared_bytes == 0) {
    shared_.reset();
  } else if (!shared_ || shared_->size() != launch.shared_bytes) {
    shared_ = std::make_unique<GuardedBlock>(launch.shared_bytes);
  } else {
    std::memset(shared_->data(), kPoisonByte, launch.shared_bytes);
  }
  if (ATTN_TSAN) {
    idle_.insert(idle_.end(), spent_.begin(), spent_.end());
    spent_.clear();
    while (fibers_.size() < num_threads_) idle_.push_back(&new_fiber());
  }
}

/// Lays out threads and warps, and forgets what a failed block left behind.
void BlockRunner::take_shape(const Dim3& shape) {
  shape_ = shape;
  num_threads_ = shape.x * shape.y * shape.z;
  num_warps_ = (num_threads_ + kWarpSize - 1) / kWarpSize;
  threads_.assign(num_threads_, Thread{});
  for (unsigned t = 0; t < num_threads_; ++t) {
    threads_[t].index = {t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y};
  }
  warps_.assign(num_warps_, Warp{});
  for (unsigned w = 0; w < num_warps_; ++w) {
    warps_[w].present = low_bits(std::min(kWarpSize, num_threads_ - w * kWarpSize));
  }
  barrier_arrived_ = 0;
  votes_ = 0;
  failed_ = false;
}

void BlockRunner::choose_order(std::uint64_t block) {
  RandomOrder random(options_.seed, block);
  const auto arrange = [&](std::uint8_t* begin, unsigned count) {
    std::iota(begin, begin + count, std::uint8_t{0});
    if (options_.order == SimtOrder::reverse) std::reverse(begin, begin + count);
    if (options_.order == SimtOrder::shuffled) random.shuffle(begin, count);
  };
  arrange(warp_at_.data(), num_warps_);
  for (unsigned position = 0; position < num_warps_; ++position) {
    warp_position_[warp_at_[position]] = static_cast<std::uint8_t>(position);
  }
  for (Warp& warp : warps_) arrange(warp.lane_at.data(), static_cast<unsigned>(std::popcount(warp.present)));
}

/// What every fiber does for its whole life: run a thread, go to the next one; between blocks it is parked.
Fiber& BlockRunner::fiber_main() {
  Fiber* self = running_;
  while (!stopping_) {
    run_thread();
    bool more = pick_next();
    if (!more && alive_ > 0 && !failed_) {
      fail(divergence());
      more = pick_next();
    }
    Fiber* next = &main_;
    if (more) {
      Thread& thread = threads_[thread_id()];
      if (!thread.fiber && !ATTN_TSAN) {
        thread.fiber = self;
        continue;
      }
      if (!thread.fiber) thread.fiber = &idle_fiber();
      next = thread.fiber;
    }
    (ATTN_TSAN ? spent_ : idle_).push_back(self);
    running_ = next;
    self->switch_to(*next);
  }
  return main_;
}

void BlockRunner::run_thread() {
  tsan_acquire(&start_token_);
  std::exception_ptr error;
  try {
    launch_->call.invoke(launch_->call.arguments);
    if (options_.strict) check_guards(true);
  } catch (const Abandoned&) {
  } catch (...) {
    error = std::current_exception();
  }
  tsan_release(&end_token_);
  threads_[thread_id()].fiber = nullptr;
  warps_[warp_].exited |= 1U << lane_;
  --alive_;
  if (error) fail(error);
}

/// Makes the next ready thread the running one: the rest of this warp first, then the next warp, both in
/// their order and wrapping round. False when none is ready.
[[gnu::noinline]] bool BlockRunner::pick_next() {
  if (const unsigned ready = warps_[warp_].ready) {
    const unsigned later = ready & above(position_);
    position_ = static_cast<unsigned>(std::countr_zero(later ? later : ready));
  } else {
    if (ready_warps_ == 0) return false;
    const unsigned later = ready_warps_ & above(warp_position_[warp_]);
    warp_ = warp_at_[std::countr_zero(later ? later : ready_warps_)];
    position_ = static_cast<unsigned>(std::countr_zero(warps_[warp_].ready));
  }
  Warp& warp = warps_[warp_];
  warp.ready &= ~(1U << position_);
  if (warp.ready == 0) ready_warps_ &= ~(1U << warp_position_[warp_]);
  lane_ = warp.lane_at[position_];
  on_simt::threadIdx = threads_[thread_id()].index;
  return true;
}

Fiber& BlockRunner::idle_fiber() {
  if (idle_.empty()) return new_fiber();
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return *fiber;
}

Fiber& BlockRunner::new_fiber() {
  fibers_.push_back(std::make_unique<Fiber>(stacks_, [this]() -> Fiber& { return fiber_main(); }));
  return *fibers_.back();
}

/// Keeps the first error and makes exactly the waiting threads ready: each unwinds when it is resumed.
void BlockRunner::fail(std::exception_ptr error) {
  if (!failed_) error_ = std::move(error);
  tsan_release(&end_token_);  // the error goes to run()
  failed_ = true;
  ready_warps_ = 0;
  for (unsigned w = 0; w < num_warps_; ++w) {
    Warp& warp = warps_[w];
    warp.ready = 0;
    for (unsigned p = 0; p < static_cast<unsigned>(std::popcount(warp.present)); ++p) {
      const unsigned thread = w * kWarpSize + warp.lane_at[p];
      if (threads_[thread].fiber && thread != thread_id()) warp.ready |= 1U << p;
    }
    if (warp.ready) ready_warps_ |= 1U << warp_position_[w];
  }
}

}  // namespace attn::simt
