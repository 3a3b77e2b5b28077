// Barriers, shuffles and votes: the names kernel text uses, over the type-free calls of collectives.cpp.
// Each takes its call site by default argument, so a divergence error can name file and line.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

namespace attn::simt {

using Site = std::source_location;

enum class BarrierVote : std::uint8_t { none, all, any, count };

/// Waits until every thread of the block is at this barrier; returns the vote over `predicate`.
int block_barrier(const char* what, BarrierVote vote, bool predicate, const Site& site);

void warp_barrier(unsigned mask, const Site& site);

enum class ShuffleKind : std::uint8_t { index, up, down, exclusive_or };

/// Exchange of up to 8 bytes between the lanes of `mask`. A source lane outside the mask is undefined in
/// CUDA; here it gives poison (all bits set), which is NaN in every type.
std::uint64_t shuffle_bits(ShuffleKind kind, unsigned mask, std::uint64_t bits, int operand, int width,
                           const Site& site);

/// The lanes of `mask` whose predicate holds.
unsigned ballot(const char* what, unsigned mask, bool predicate, const Site& site);

enum class ReduceKind : std::uint8_t {
  add,
  min_signed,
  max_signed,
  min_unsigned,
  max_unsigned,
  bit_and,
  bit_or
};
std::uint32_t warp_reduce(const char* what, ReduceKind kind, unsigned mask, std::uint32_t value,
                          const Site& site);

/// An operation of all 32 lanes: each hands in a pointer to its part, and the last to arrive does the work of
/// all of them with `all(parts)`, parts[lane]. Refused in a warp with fewer than 32 lanes.
void whole_warp(const char* what, void* mine, void (*all)(void* const* parts), const Site& site);

/// Lanes of this warp that have not exited. CUDA promises less (any converged subset).
unsigned active_lanes();

template <class T>
T shuffle(ShuffleKind kind, unsigned mask, T value, int operand, int width, const Site& site) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = shuffle_bits(kind, mask, bits, operand, width, site);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace attn::simt

namespace attn::on_simt {

inline constexpr int warpSize = 32;

inline void __syncthreads(simt::Site site = simt::Site::current()) {
  simt::block_barrier("__syncthreads", simt::BarrierVote::none, false, site);
}
inline int __syncthreads_and(int predicate, simt::Site site = simt::Site::current()) {
  return simt::block_barrier("__syncthreads_and", simt::BarrierVote::all, predicate != 0, site);
}
inline int __syncthreads_or(int predicate, simt::Site site = simt::Site::current()) {
  return simt::block_barrier("__syncthreads_or", simt::BarrierVote::any, predicate != 0, site);
}
inline int __syncthreads_count(int predicate, simt::Site site = simt::Site::current()) {
  return simt::block_barrier("__syncthreads_count", simt::BarrierVote::count, predicate != 0, site);
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFU, simt::Site site = simt::Site::current()) {
  simt::warp_barrier(mask, site);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, simt::Site site = simt::Site::current()) {
  return simt::shuffle(simt::ShuffleKind::index, mask, value, lane, width, site);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  simt::Site site = simt::Site::current()) {
  return simt::shuffle(simt::ShuffleKind::exclusive_or, mask, value, lane_mask, width, site);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 simt::Site site = simt::Site::current()) {
  return simt::shuffle(simt::ShuffleKind::up, mask, value, static_cast<int>(delta), width, site);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   simt::Site site = simt::Site::current()) {
  return simt::shuffle(simt::ShuffleKind::down, mask, value, static_cast<int>(delta), width, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, simt::Site site = simt::Site::current()) {
  return simt::ballot("__ballot_sync", mask, predicate != 0, site);
}
inline int __any_sync(unsigned mask, int predicate, simt::Site site = simt::Site::current()) {
  return simt::ballot("__any_sync", mask, predicate != 0, site) != 0;
}
inline int __all_sync(unsigned mask, int predicate, simt::Site site = simt::Site::current()) {
  return simt::ballot("__all_sync", mask, predicate == 0, site) == 0;
}
inline unsigned __activemask() { return simt::active_lanes(); }

inline int __reduce_add_sync(unsigned mask, int value, simt::Site site = simt::Site::current()) {
  return static_cast<int>(simt::warp_reduce("__reduce_add_sync", simt::ReduceKind::add, mask,
                                            static_cast<unsigned>(value), site));
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value, simt::Site site = simt::Site::current()) {
  return simt::warp_reduce("__reduce_add_sync", simt::ReduceKind::add, mask, value, site);
}
inline int __reduce_min_sync(unsigned mask, int value, simt::Site site = simt::Site::current()) {
  return static_cast<int>(simt::warp_reduce("__reduce_min_sync", simt::ReduceKind::min_signed, mask,
                                            static_cast<unsigned>(value), site));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value, simt::Site site = simt::Site::current()) {
  return simt::warp_reduce("__reduce_min_sync", simt::ReduceKind::min_unsigned, mask, value, site);
}
inline int __reduce_max_sync(unsigned mask, int value, simt::Site site = simt::Site::current()) {
  return static_cast<int>(simt::warp_reduce("__reduce_max_sync", simt::ReduceKind::max_signed, mask,
                                            static_cast<unsigned>(value), site));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value, simt::Site site = simt::Site::current()) {
  return simt::warp_reduce("__reduce_max_sync", simt::ReduceKind::max_unsigned, mask, value, site);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, simt::Site site = simt::Site::current()) {
  return simt::warp_reduce("__reduce_and_sync", simt::ReduceKind::bit_and, mask, value, site);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, simt::Site site = simt::Site::current()) {
  return simt::warp_reduce("__reduce_or_sync", simt::ReduceKind::bit_or, mask, value, site);
}

// The atomics above are sequentially consistent, so a fence only has to stop the compiler; TSan does not
// know stand-alone fences.
inline void __threadfence_block() { std::atomic_signal_fence(std::memory_order_seq_cst); }
inline void __threadfence() { std::atomic_signal_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace attn::on_simt
