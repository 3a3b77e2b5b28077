// Runs one thread block at a time on the calling OS thread: its CUDA threads are fibers that give way only
// at barriers and warp operations.
//
// The first thread runs until it waits; only then does a second fiber start, and a fiber that finishes its
// thread takes the next one, so a kernel without barriers needs one fiber. Barriers count arrivals. When
// nobody can run and somebody waits, the block has diverged: the threads, what they wait for and where, or
// that they have exited, go into the error (idea of fibers: HIP-CPU, whose barrier is a bare yield).
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/simt/async_copy.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/guarded_memory.h"
#include "kernels/simt/simt.h"

namespace attn::simt {

/// Unwinds the stack of a thread whose block has failed. Not an std::exception, so kernels let it pass.
struct Abandoned {};

constexpr unsigned kWarpSize = 32;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxWarps = kMaxThreads / kWarpSize;

/// One launch as every block of it sees it.
struct Launch {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes = 0;
  KernelCall call;
  std::vector<DeviceBuffer*> watched;  // buffers whose guards are checked
};

/// "(1,2,0)"
std::string index_text(unsigned x, unsigned y, unsigned z);

class BlockRunner {
 public:
  explicit BlockRunner(const SimtOptions& options);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Runs block number `block` (x fastest). Throws what the kernel threw, or DeviceError for a fault.
  void run(const Launch& launch, std::uint64_t block);

  /// The runner whose block is running on this OS thread; DeviceError outside a kernel.
  static BlockRunner& active(const char* what) {
    if (!active_) refuse_outside_kernel(what);
    return *active_;
  }

  void* dynamic_shared() const;

  // The collective operations of collectives.h, called from the running thread.
  int block_barrier(const char* what, BarrierVote vote, bool predicate, const Site& site);
  unsigned active_lanes() const;
  /// Posts `value` and `source`, waits until every lane of `mask` has posted at the same site, and
  /// returns what `deliver(warp, lanes)` put into result[] for this lane; the last to arrive runs it.
  template <class Deliver>
  std::uint64_t collect(const char* what, unsigned mask, std::uint64_t value, unsigned source,
                        const Site& site, Deliver deliver);
  unsigned lane() const { return lane_; }
  /// Of the running thread.
  AsyncCopies& async_copies() { return threads_[thread_id()].copies; }
  [[noreturn]] void refuse(const std::string& message) const;

 private:
  /// A warp operation that some lanes of its mask have reached.
  struct Group {
    unsigned mask = 0;
    unsigned arrived = 0;    // lanes
    unsigned positions = 0;  // the same lanes as positions in the order
    Site site;
  };
  struct Warp {
    unsigned ready = 0;    // positions that can run: not started, or woken
    unsigned present = 0;  // lanes that the block has here, from 0 on; the same bits as positions
    unsigned exited = 0;   // lanes
    unsigned open = 0;     // groups in use
    std::array<Group, kWarpSize> groups;
    std::array<std::uint8_t, kWarpSize> lane_at{};  // position -> lane
    std::array<std::uint64_t, kWarpSize> value{};   // posted by lane
    std::array<std::uint8_t, kWarpSize> source{};   // posted by lane
    std::array<std::uint64_t, kWarpSize> result{};  // delivered to lane
  };
  struct Thread {
    Fiber* fiber = nullptr;  // null before the start and after the exit
    on_simt::uint3 index{};
    const char* what = nullptr;  // the operation it waits in, for the report
    unsigned mask = 0;
    Site site;
    AsyncCopies copies;
  };

  void prepare(const Launch& launch, std::uint64_t block);
  void take_shape(const Dim3& block);
  void choose_order(std::uint64_t block);
  void set_block_names();
  [[noreturn]] static void refuse_outside_kernel(const char* what);
  Fiber& fiber_main();
  void run_thread();
  bool pick_next();
  Fiber& idle_fiber();
  Fiber& new_fiber();
  static Group& group_of(Warp& warp, unsigned mask, const Site& site);
  void wait(const char* what, unsigned mask, const Site& site);
  void open_warp(unsigned positions);
  void open_block();
  void run_picked();
  void fail(std::exception_ptr error);
  void check_guards(bool name_thread);
  unsigned thread_id() const { return warp_ * kWarpSize + lane_; }
  std::string where(bool name_thread) const;
  std::exception_ptr divergence() const;

  static constinit thread_local BlockRunner* active_;

  SimtOptions options_;
  StackPool stacks_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;   // ready to start a thread
  std::vector<Fiber*> spent_;  // under TSan, where each thread of a block needs its own fiber
  Fiber main_;
  Fiber* running_ = nullptr;
  bool stopping_ = false;

  const Launch* launch_ = nullptr;
  Dim3 shape_{0, 0, 0};  // of the block that threads_ and warps_ are laid out for
  on_simt::uint3 block_index_{};
  std::unique_ptr<GuardedBlock> shared_;
  unsigned num_threads_ = 0;
  unsigned num_warps_ = 0;
  unsigned alive_ = 0;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::array<std::uint8_t, kMaxWarps> warp_at_{};        // position -> warp
  std::array<std::uint8_t, kMaxWarps> warp_position_{};  // warp -> position
  unsigned ready_warps_ = 0;                             // positions of warps with ready threads

  // The running thread.
  unsigned warp_ = 0;
  unsigned position_ = 0;  // of its lane in the warp's order
  unsigned lane_ = 0;

  // The block barrier. Tokens are addresses that TSan orders threads by, one per parity of the barrier.
  unsigned barrier_arrived_ = 0;
  Site barrier_site_;
  unsigned votes_ = 0;          // predicates that held, of those arrived
  unsigned counted_votes_ = 0;  // the same of the last barrier that opened
  unsigned barrier_parity_ = 0;
  std::array<char, 2> barrier_token_{};
  char start_token_ = 0;
  char end_token_ = 0;

  bool failed_ = false;
  std::exception_ptr error_;
};

}  // namespace attn::simt
