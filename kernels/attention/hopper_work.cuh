// Level 4 prefill: the shape of a block, what lies in its shared memory, and which tile of queries it takes
// next.
#pragma once

#include "kernels/attention/attention_rows.cuh"
#include "kernels/common/chunk.cuh"
#include "kernels/common/fast_divide.h"
#include "kernels/common/wgmma.cuh"

namespace attn::on_cuda {

/// What the host adds to the params of a launch: tensor maps for the copies (hopper_maps.h), divisions that
/// cost nothing. A box of q is 64 rows of 64 columns of a head; one of K and V is a whole tile, or one of its
/// 2^box_shift parts that each lie in one cache block.
struct HopperExtras {
  CUtensorMap q, k, v;
  int box_shift;
  FastDivide by_heads, by_kv_heads, by_group, by_block_size;
};

/// Shape of a block: kConsumers warpgroups of 64 query rows, and one that copies.
template <int kDimV, int kConsumersV, int kStagesKV, int kStagesVV, bool kPagedV>
struct HopperShape {
  static constexpr int kDim = kDimV, kConsumers = kConsumersV;
  static constexpr int kStagesK = kStagesKV, kStagesV = kStagesVV, kStages = kStagesK + kStagesV;
  static constexpr bool kPaged = kPagedV;
  static constexpr int kRows = 64 * kConsumers, kKeys = 128;
  static constexpr int kCopyWarps = 4, kCopyThreads = 32 * kCopyWarps;
  static constexpr int kThreads = kCopyThreads + 128 * kConsumers;
  static constexpr int kCopyRegs = kConsumers == 2 ? 56 : 32, kComputeRegs = kConsumers == 2 ? 224 : 160;
  static constexpr int kChunks = kDim / 8;    // 16-byte chunks of a row
  static constexpr int kTile = kKeys * kDim;  // elements
  static constexpr std::size_t kSharedBytes =
      1024 + 2 * (std::size_t{2} * kRows * kDim + std::size_t{kStages} * kTile) + 256;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Named barriers. The turn of consumer n, and its four warps among themselves, are kTurn + n and kOutput +
/// n.
enum HopperBarrier { kTurn = 1, kOutput = 4, kCopyBegin = 8, kCopyEnd = 9 };

// Shared memory of wgmma is made of atoms: 8 rows of 64 swizzled 16-bit values, 1,024 bytes. Where 16-byte
// chunk `chunk` of row `row` is, in elements:
/// Of a consumer's q: [kDim / 64 columns of atoms][8 atoms].
__device__ inline int q_chunk(int row, int chunk) {
  return chunk / 8 * 64 * 64 + swizzled<64>(row, chunk % 8);
}
/// Of a tile of K or V: [16 rows of atoms][kDim / 64]. Neighbouring rows lie together, so a cache block of 16
/// is one box for the copy engine.
template <int kDim>
__device__ inline int key_chunk(int row, int chunk) {
  return (row / 8 * (kDim / 64) + chunk / 8) * 8 * 64 + swizzled<64>(row % 8, chunk % 8);
}

/// A tile of query rows of one head: one unit of a block's work.
struct HopperWork {
  int b;  // -1: there is no more
  int h, kv_head;
  int first;  // row of the sequence
  int q_len, k_len, first_q, first_k;
  int steps;  // tiles of keys that some row of it sees
};

/// What the parts of a block share. Q has two buffers, so that a tile's rows are there when the one before is
/// still being written out; K and V go through a ring that runs on from tile to tile.
template <class T, class Shape>
struct HopperShared {
  T* q_base;               // [2] of [consumers][kDim / 64][64, 64]
  T* kv;                   // [stages] of K, then those of V: [kKeys / 8][kDim / 64][8, 64]
  HopperWork* work;        // [2], with q
  std::uint64_t* q_full;   // [2]
  std::uint64_t* q_empty;  // [2]
  std::uint64_t* full;     // [stages] of K, then of V
  std::uint64_t* empty;    // the same order

  __device__ explicit HopperShared(unsigned char* base) {
    base += (1024 - (shared_address(base) & 1023U)) & 1023U;
    q_base = reinterpret_cast<T*>(base);
    kv = q_base + 2 * Shape::kRows * Shape::kDim;
    q_full = reinterpret_cast<std::uint64_t*>(kv + Shape::kStages * Shape::kTile);
    q_empty = q_full + 2;
    full = q_empty + 2;
    empty = full + Shape::kStages;
    work = reinterpret_cast<HopperWork*>(empty + Shape::kStages);
  }
  __device__ void init() const {  // one thread
    for (int i = 0; i < 2; ++i) {
      mbarrier_init(q_full + i, 1);
      mbarrier_init(q_empty + i, Shape::kThreads - 32);  // all threads but those of the warp that fills it
    }
    for (int i = 0; i < Shape::kStages; ++i) {
      mbarrier_init(full + i, Shape::kPaged ? Shape::kCopyWarps : 1);  // warps that ask for boxes
      mbarrier_init(empty + i, 4 * Shape::kConsumers);
    }
  }
  __device__ T* q_rows(int item, int consumer) const {
    return q_base + (item % 2 * Shape::kConsumers + consumer) * 64 * Shape::kDim;
  }
  // Of tile number `step` of all that the block sees: its place in the ring, number and parity of its
  // barrier.
  __device__ T* k(int step) const { return kv + k_barrier(step) * Shape::kTile; }
  __device__ T* v(int step) const { return kv + v_barrier(step) * Shape::kTile; }
  static __device__ int k_barrier(int step) { return step % Shape::kStagesK; }
  static __device__ int v_barrier(int step) { return Shape::kStagesK + step % Shape::kStagesV; }
  static __device__ unsigned k_parity(int step) { return step / Shape::kStagesK % 2; }
  static __device__ unsigned v_parity(int step) { return step / Shape::kStagesV % 2; }
  __device__ void wait_k(int step) const { mbarrier_wait(full + k_barrier(step), k_parity(step)); }
  __device__ void wait_v(int step) const { mbarrier_wait(full + v_barrier(step), v_parity(step)); }
  /// Whether K of one and V of the other tile are there.
  __device__ void test(int k_step, int v_step, bool (&there)[2]) const {
    mbarrier_test(full + k_barrier(k_step), k_parity(k_step), full + v_barrier(v_step), v_parity(v_step),
                  there);
  }
  __device__ void wait_empty_k(int step) const {
    if (step >= Shape::kStagesK) mbarrier_wait(empty + k_barrier(step), k_parity(step) ^ 1U);
  }
  __device__ void wait_empty_v(int step) const {
    if (step >= Shape::kStagesV) mbarrier_wait(empty + v_barrier(step), v_parity(step) ^ 1U);
  }
  static __device__ unsigned item_parity(int item) { return item / 2 % 2; }
};

/// Hands out tiles: a counter in global memory, so that blocks take the next one when they are ready for it.
/// Sequence by sequence (their K and V stay in the L2), of each the longest tiles first, heads innermost. One
/// warp, all 32 lanes: a lane knows the number of tiles of one of 32 sequences.
template <int kRows>
class HopperQueue {
 public:
  __device__ HopperQueue(const PrefillParams& p, const HopperExtras& extras) : p_(p), extras_(extras) {
    load();
  }
  /// Takes a number; receive() looks up what it stands for, when the answer has had time to come.
  __device__ void ask() {
    if (threadIdx.x % 32 == 0) taken_ = static_cast<int>(atomicAdd(p_.tickets, 1U));
  }
  __device__ HopperWork receive() {
    const int taken = __shfl_sync(0xFFFFFFFFU, taken_, 0);
    while (taken - before_ >= __shfl_sync(0xFFFFFFFFU, up_to_, 31)) {  // beyond these 32 sequences
      before_ += __shfl_sync(0xFFFFFFFFU, up_to_, 31);
      first_b_ += 32;
      if (first_b_ >= p_.batch) return {-1};
      load();
    }
    const unsigned beyond = __ballot_sync(0xFFFFFFFFU, taken - before_ < up_to_);
    const int lane = __ffs(static_cast<int>(beyond)) - 1;
    const int nth = taken - before_ - __shfl_sync(0xFFFFFFFFU, up_to_ - own_, lane);  // of the sequence
    HopperWork work;
    work.b = first_b_ + lane;
    const int tile = extras_.by_heads.quotient(nth);
    work.h = nth - tile * p_.num_heads;
    work.kv_head = p_.head_map == HeadMap::grouped ? extras_.by_group.quotient(work.h)
                                                   : extras_.by_kv_heads.remainder(work.h);
    const AttentionSeq seq = attention_seq(p_, work.b);
    work.first = (ceil_div(seq.q_len, kRows) - 1 - tile) * kRows;
    work.q_len = seq.q_len;
    work.k_len = seq.k_len;
    work.first_q = static_cast<int>(seq.first_q);
    work.first_k = static_cast<int>(seq.kv.first_row);
    const int last = min_of(work.first + kRows, seq.q_len) - 1;
    work.steps = ceil_div(visible_to(p_, seq, last), kL4KeyTile);
    return work;
  }
  /// One thread of the block, when it has got all its work: the last block leaves the counters at 0.
  __device__ void leave() const {
    if (atomicAdd(p_.tickets + 1, 1U) == gridDim.x - 1) {
      p_.tickets[0] = 0;
      p_.tickets[1] = 0;
    }
  }

 private:
  __device__ void load() {
    const int b = first_b_ + static_cast<int>(threadIdx.x % 32);
    own_ = 0;
    if (b < p_.batch) {
      const int q_len = min_of(p_.cu_seqlens_q[b + 1] - p_.cu_seqlens_q[b], p_.max_seqlen_q);
      if (q_len > 0) own_ = ceil_div(q_len, kRows) * p_.num_heads;
    }
    up_to_ = own_;
    for (int d = 1; d < 32; d *= 2) {
      const int below = __shfl_up_sync(0xFFFFFFFFU, up_to_, d);
      if (static_cast<int>(threadIdx.x % 32) >= d) up_to_ += below;
    }
  }
  const PrefillParams& p_;
  const HopperExtras& extras_;
  int taken_ = 0;                 // lane 0
  int first_b_ = 0, before_ = 0;  // sequence of lane 0; tiles of the sequences before it
  int own_ = 0, up_to_ = 0;       // tiles of this lane's sequence; of those up to it, from lane 0 on
};

#endif

}  // namespace attn::on_cuda
