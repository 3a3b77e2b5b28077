#include "kernels/simt/collectives.h"

#include <bit>
#include <cstring>

#include "kernels/common/check.h"
#include "kernels/simt/block_runner.h"

namespace attn::simt {
namespace {

bool same_site(const Site& a, const Site& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

/// Calls f(lane) for every bit of `lanes`.
template <class F>
void for_each_lane(unsigned lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

constexpr const char* shuffle_name(ShuffleKind kind) {
  switch (kind) {
    case ShuffleKind::index:
      return "__shfl_sync";
    case ShuffleKind::up:
      return "__shfl_up_sync";
    case ShuffleKind::down:
      return "__shfl_down_sync";
    case ShuffleKind::exclusive_or:
      return "__shfl_xor_sync";
  }
  return "shuffle";
}

/// The lane to read from, by the rules of PTX shfl.sync: only the low five bits of the operand count, and a
/// source outside the reader's segment of `width` lanes means the reader's own value.
unsigned source_lane(ShuffleKind kind, unsigned lane, int operand, int width) {
  const unsigned b = static_cast<unsigned>(operand) & (kWarpSize - 1);
  const unsigned in_segment = static_cast<unsigned>(width) - 1;
  const unsigned first = lane & ~in_segment;
  const unsigned last = lane | in_segment;
  switch (kind) {
    case ShuffleKind::index:
      return first | (b & in_segment);
    case ShuffleKind::up:
      return lane >= first + b ? lane - b : lane;
    case ShuffleKind::down:
      return lane + b <= last ? lane + b : lane;
    case ShuffleKind::exclusive_or:
      return (lane ^ b) <= last ? lane ^ b : lane;
  }
  return lane;
}

std::uint32_t combine(ReduceKind kind, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  switch (kind) {
    case ReduceKind::add:
      return a + b;
    case ReduceKind::min_signed:
      return sb < sa ? b : a;
    case ReduceKind::max_signed:
      return sa < sb ? b : a;
    case ReduceKind::min_unsigned:
      return b < a ? b : a;
    case ReduceKind::max_unsigned:
      return a < b ? b : a;
    case ReduceKind::bit_and:
      return a & b;
    case ReduceKind::bit_or:
      return a | b;
  }
  return a;
}

}  // namespace

// The switching part of BlockRunner lives here, in one piece with its callers, so that it is inlined into
// them: see Fiber::arrive.

[[gnu::always_inline]] inline void BlockRunner::wait(const char* what, unsigned mask, const Site& site) {
  Thread& me = threads_[thread_id()];
  me.what = what;
  me.mask = mask;
  me.site = site;
  if (options_.strict) check_guards(true);
  if (!pick_next()) {
    fail(divergence());
    throw Abandoned{};
  }
  run_picked();
}

/// The running thread gives way to the one just picked, if that is another.
[[gnu::always_inline]] inline void BlockRunner::run_picked() {
  Thread& next = threads_[thread_id()];
  if (!next.fiber) next.fiber = &idle_fiber();
  if (next.fiber == running_) return;
  Fiber& from = *running_;
  running_ = next.fiber;
  from.switch_to(*running_);
  if (failed_) throw Abandoned{};
}

// Whoever arrives last does not simply go on: what comes after a barrier starts again with the first thread
// in the order, so that the order decides what a missing barrier further down would do.

/// Called by the last to arrive: these positions of its warp, its own among them, may go on.
inline void BlockRunner::open_warp(unsigned positions) {
  warps_[warp_].ready |= positions;
  ready_warps_ |= 1U << warp_position_[warp_];
  position_ = kWarpSize - 1;
  pick_next();
  run_picked();
}

/// The same for the whole block.
inline void BlockRunner::open_block() {
  for (Warp& warp : warps_) warp.ready = warp.present;
  ready_warps_ = 0xFFFFFFFFU >> (kMaxWarps - num_warps_);
  warp_ = warp_at_[0];
  position_ = kWarpSize - 1;
  pick_next();
  run_picked();
}

inline int BlockRunner::block_barrier(const char* what, BarrierVote vote, bool predicate, const Site& site) {
  if (barrier_arrived_ == 0) barrier_site_ = site;
  char* token = &barrier_token_[barrier_parity_];
  tsan_release(token);
  // A thread at another call site is not counted: the barrier never fills, and the report names both sites.
  if (same_site(site, barrier_site_)) {
    ++barrier_arrived_;
    if (predicate) ++votes_;
  }
  if (barrier_arrived_ == num_threads_) {
    counted_votes_ = votes_;
    votes_ = 0;
    barrier_arrived_ = 0;
    barrier_parity_ ^= 1U;
    if (options_.strict) check_guards(true);
    open_block();
  } else {
    wait(what, 0, site);
  }
  tsan_acquire(token);
  switch (vote) {
    case BarrierVote::all:
      return counted_votes_ == num_threads_;
    case BarrierVote::any:
      return counted_votes_ > 0;
    default:
      return static_cast<int>(counted_votes_);
  }
}

/// The group that gathers for this operation. Lanes with disjoint masks may be in different ones, and so may
/// lanes that run ahead: nearly always there is one.
BlockRunner::Group& BlockRunner::group_of(Warp& warp, unsigned mask, const Site& site) {
  for (unsigned open = warp.open; open != 0; open &= open - 1) {
    Group& group = warp.groups[static_cast<unsigned>(std::countr_zero(open))];
    if (group.mask == mask && same_site(group.site, site)) return group;
  }
  const auto free = static_cast<unsigned>(std::countr_one(warp.open));  // 32 lanes wait in at most 32 groups
  warp.open |= 1U << free;
  warp.groups[free] = {mask, 0, 0, site};
  return warp.groups[free];
}

template <class Deliver>
std::uint64_t BlockRunner::collect(const char* what, unsigned mask, std::uint64_t value, unsigned source,
                                   const Site& site, Deliver deliver) {
  Warp& warp = warps_[warp_];
  const unsigned lane = lane_;
  if (!((mask >> lane) & 1U)) {
    refuse(fmt::format("{} with mask {:#010x}, which leaves the caller out", what, mask));
  }
  Group& group = group_of(warp, mask, site);
  tsan_release(&warp);
  warp.value[lane] = value;
  warp.source[lane] = static_cast<std::uint8_t>(source);
  group.arrived |= 1U << lane;
  group.positions |= 1U << position_;
  const unsigned lanes = mask & warp.present;
  if (group.arrived == lanes) {
    deliver(warp, lanes);
    const unsigned positions = group.positions;
    warp.open &= ~(1U << (&group - warp.groups.data()));
    if (options_.strict) check_guards(true);
    open_warp(positions);
  } else {
    wait(what, mask, site);
  }
  tsan_acquire(&warp);
  return warp.result[lane];
}

unsigned BlockRunner::active_lanes() const { return warps_[warp_].present & ~warps_[warp_].exited; }

void* dynamic_shared() { return BlockRunner::active("ATTN_DYNAMIC_SHARED").dynamic_shared(); }

int block_barrier(const char* what, BarrierVote vote, bool predicate, const Site& site) {
  return BlockRunner::active(what).block_barrier(what, vote, predicate, site);
}

void warp_barrier(unsigned mask, const Site& site) {
  BlockRunner::active("__syncwarp").collect("__syncwarp", mask, 0, 0, site, [](auto&, unsigned) {});
}

std::uint64_t shuffle_bits(ShuffleKind kind, unsigned mask, std::uint64_t bits, int operand, int width,
                           const Site& site) {
  const char* what = shuffle_name(kind);
  BlockRunner& runner = BlockRunner::active(what);
  if (width < 1 || width > static_cast<int>(kWarpSize) ||
      !std::has_single_bit(static_cast<unsigned>(width))) {
    runner.refuse(fmt::format("{} with width {}; it must be a power of two up to 32", what, width));
  }
  return runner.collect(what, mask, bits, source_lane(kind, runner.lane(), operand, width), site,
                        [](auto& warp, unsigned lanes) {
                          for_each_lane(lanes, [&](unsigned lane) {
                            const unsigned from = warp.source[lane];
                            warp.result[lane] = (lanes >> from) & 1U ? warp.value[from] : ~std::uint64_t{0};
                          });
                        });
}

unsigned ballot(const char* what, unsigned mask, bool predicate, const Site& site) {
  const auto deliver = [](auto& warp, unsigned lanes) {
    unsigned votes = 0;
    for_each_lane(lanes, [&](unsigned lane) { votes |= static_cast<unsigned>(warp.value[lane]) << lane; });
    for_each_lane(lanes, [&](unsigned lane) { warp.result[lane] = votes; });
  };
  return static_cast<unsigned>(BlockRunner::active(what).collect(what, mask, predicate, 0, site, deliver));
}

std::uint32_t warp_reduce(const char* what, ReduceKind kind, unsigned mask, std::uint32_t value,
                          const Site& site) {
  const auto deliver = [kind](auto& warp, unsigned lanes) {
    auto total = static_cast<std::uint32_t>(warp.value[static_cast<unsigned>(std::countr_zero(lanes))]);
    for_each_lane(lanes & (lanes - 1), [&](unsigned lane) {
      total = combine(kind, total, static_cast<std::uint32_t>(warp.value[lane]));
    });
    for_each_lane(lanes, [&](unsigned lane) { warp.result[lane] = total; });
  };
  return static_cast<std::uint32_t>(BlockRunner::active(what).collect(what, mask, value, 0, site, deliver));
}

void whole_warp(const char* what, void* mine, void (*all)(void* const* parts), const Site& site) {
  BlockRunner& runner = BlockRunner::active(what);
  const auto deliver = [&](auto& warp, unsigned lanes) {
    if (~lanes)
      runner.refuse(fmt::format("{} in a warp of {} threads; it needs 32", what, std::popcount(lanes)));
    void* parts[kWarpSize];
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      parts[lane] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(warp.value[lane]));
    all(parts);
  };
  runner.collect(what, ~0U, reinterpret_cast<std::uintptr_t>(mine), 0, site, deliver);
}

unsigned active_lanes() { return BlockRunner::active("__activemask").active_lanes(); }

}  // namespace attn::simt
