// Level 4 prefill: the warps that copy. They ask the tensor memory accelerator (TMA) for boxes of rows; that
// takes no registers and no instruction a row. Packed K and V: one box a tile, asked for by the first warp.
// Paged: one a cache block, in turns by all four warps, since a warp needs some 150 cycles to ask. What TMA
// cannot do is stop at a sequence's end. Rows past it must be zeros in V (0 * NaN of a neighbour is NaN): a
// sequence's last tile, when it is not full, is copied by all four warps with cp.async.
#pragma once

#include "kernels/attention/hopper_work.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace attn::on_cuda {

template <class T, class Shape>
class HopperCopier {
 public:
  using Shared = HopperShared<T, Shape>;
  __device__ HopperCopier(const PrefillParams& params, const HopperExtras& more, const Shared& parts)
      : p(params), extras(more), shared(parts) {}

  /// The first warp leads: it fetches work and fills q. The others follow it.
  __device__ void run() {
    HopperQueue<Shape::kRows> queue(p, extras);
    if (leads()) queue.ask();
    for (int item = 0;; ++item) {
      if (leads()) {
        hand_out(queue, item);
      } else {
        mbarrier_wait(shared.q_full + item % 2, Shared::item_parity(item));
      }
      const HopperWork work = shared.work[item % 2];
      if (work.b < 0) break;
      copy_tiles(work);
      step_0 += work.steps;
      if (!leads()) mbarrier_arrive(shared.q_empty + item % 2);
    }
    if (threadIdx.x == 0) queue.leave();
  }

 private:
  static constexpr bool kPaged = Shape::kPaged;
  static constexpr int kTurns = kPaged ? Shape::kCopyWarps : 1;  // warps that ask for boxes

  static __device__ bool leads() { return threadIdx.x < 32; }
  static __device__ bool asks() { return kPaged || leads(); }

  __device__ void hand_out(HopperQueue<Shape::kRows>& queue, int item) {
    const HopperWork work = queue.receive();
    if (item >= 2) mbarrier_wait(shared.q_empty + item % 2, Shared::item_parity(item) ^ 1U);
    if (threadIdx.x == 0) shared.work[item % 2] = work;
    if (work.b >= 0) {
      queue.ask();
      copy_q(work, item);
    } else if (threadIdx.x == 0) {
      mbarrier_arrive(shared.q_full + item % 2);
    }
    __syncwarp();  // the warp reads the work as the others do
  }
  __device__ void copy_q(const HopperWork& work, int item) {
    constexpr int kHalves = Shape::kDim / 64, kBoxes = Shape::kConsumers * kHalves;
    const int lane = threadIdx.x, consumer = lane / kHalves, half = lane % kHalves;
    std::uint64_t* barrier = shared.q_full + item % 2;
    if (lane == 0) mbarrier_arrive_expect(barrier, Shape::kRows * Shape::kDim * 2);
    __syncwarp();
    if (lane < kBoxes)
      tma_load(shared.q_rows(item, consumer) + half * 64 * 64, extras.q, barrier,
               {half * 64, work.h, work.first_q + work.first + consumer * 64});
  }
  __device__ void copy_tiles(const HopperWork& work) {
    int row = box_row(work, 0), next = box_row(work, 1);  // looked up a tile before they are needed
    if (work.steps > 0) copy_k(work, 0, row);
    for (int tile = 0; tile < work.steps; ++tile) {
      const int after = box_row(work, tile + 2);
      if (tile + 1 < work.steps) copy_k(work, tile + 1, next);
      copy_v(work, tile, row);
      row = next;
      next = after;
    }
  }
  __device__ void copy_k(const HopperWork& work, int tile, int row) {
    const int step = step_0 + tile;
    if (asks()) shared.wait_empty_k(step);
    copy_tile(work, tile, extras.k, p.k, shared.k(step), shared.full + Shared::k_barrier(step), row);
  }
  __device__ void copy_v(const HopperWork& work, int tile, int row) {
    const int step = step_0 + tile;
    if (asks()) shared.wait_empty_v(step);
    copy_tile(work, tile, extras.v, p.v, shared.v(step), shared.full + Shared::v_barrier(step), row);
  }

  static __device__ bool is_full(const HopperWork& work, int tile) {
    return (tile + 1) * Shape::kKeys <= work.k_len;
  }
  __device__ std::int64_t row_step() const { return static_cast<std::int64_t>(p.num_kv_heads) * Shape::kDim; }
  __device__ std::int64_t key_row(const HopperWork& work, int pos) const {
    if (!kPaged) return static_cast<std::int64_t>(work.first_k) + pos;
    const std::int32_t* table = p.block_tables + static_cast<std::int64_t>(work.b) * p.block_table_width;
    const int block = extras.by_block_size.quotient(pos);
    return static_cast<std::int64_t>(table[block]) * p.kv.block_size + (pos - block * p.kv.block_size);
  }
  // Boxes of a tile, and which of them this lane asks for: the warps take turns.
  __device__ int boxes() const { return kPaged ? 1 << extras.box_shift : 1; }
  __device__ int box_rows() const { return kPaged ? Shape::kKeys >> extras.box_shift : Shape::kKeys; }
  static __device__ int own_box() {
    return static_cast<int>(threadIdx.x) % 32 * kTurns + static_cast<int>(threadIdx.x) / 32;
  }
  /// Where the rows of this lane's box start in K and V, in units of [Hkv, D].
  __device__ int box_row(const HopperWork& work, int tile) const {
    const int pos = tile * Shape::kKeys + own_box() * box_rows();
    return own_box() < boxes() && pos < work.k_len ? static_cast<int>(key_row(work, pos)) : 0;
  }

  /// PRECOND: who asks for boxes has waited until the tile is free.
  __device__ void copy_tile(const HopperWork& work, int tile, const CUtensorMap& map, const void* from, T* to,
                            std::uint64_t* full, int row) {
    if (!is_full(work, tile)) return copy_rest(work, tile, from, to, full);
    if (!asks()) return;
    const int warp = threadIdx.x / 32, box = own_box();
    const int own_boxes = (boxes() - warp + kTurns - 1) / kTurns;  // of this warp
    if (threadIdx.x % 32 == 0) mbarrier_arrive_expect(full, own_boxes * box_rows() * Shape::kDim * 2);
    __syncwarp();
    if (box < boxes()) tma_load(to + box * box_rows() * Shape::kDim, map, full, {0, row, 0, 0, work.kv_head});
  }
  /// A tile's rows up to the sequence's end, and zeros behind it. All four warps, once all have come here.
  __device__ void copy_rest(const HopperWork& work, int tile, const void* from, T* to, std::uint64_t* full) {
    named_barrier_sync(kCopyBegin, 128);
    const int chunk = threadIdx.x % Shape::kChunks;
    const T* source = static_cast<const T*>(from) + work.kv_head * Shape::kDim + chunk * 8;
#pragma unroll 1
    for (int r = threadIdx.x / Shape::kChunks; r < Shape::kKeys; r += 128 / Shape::kChunks) {
      const int pos = tile * Shape::kKeys + r;
      const bool exists = pos < work.k_len;
      cp_async_16(to + key_chunk<Shape::kDim>(r, chunk),
                  source + (exists ? key_row(work, pos) * row_step() : 0), exists);
    }
    cp_async_commit_group();
    cp_async_wait_group<0>();
    fence_proxy_async();  // wgmma may read them
    named_barrier_sync(kCopyEnd, 128);
    if (asks() && threadIdx.x % 32 == 0) mbarrier_arrive(full);
  }

  const PrefillParams& p;
  const HopperExtras& extras;
  const Shared& shared;
  int step_0 = 0;  // tiles of K before this work
};

}  // namespace attn::on_cuda

#endif
