// Decode level 3, streaming: nothing but the rate of memory is left to wait for.
//
// A decode step reads every K and V row once and does 4 * G FLOP with each pair of elements (G query heads
// per KV head): the arithmetic must only keep out of the way. What this level adds to level 2:
//   - Tensor cores, with the heads as columns. Keys are the rows of the score tile, the G heads of a KV head
//     are its 8 (or 16) columns: one row of K or V is read from memory once, from shared memory once, and
//     serves all heads.
//   - Warps that do not wait for each other. Each warp streams its own 16 keys of every step through its own
//     ring of cp.async stages and keeps its own (m, l, o): no block barrier while keys flow. Their states are
//     merged once per sequence.
//   - One line of work, cut evenly (decode_slice.cuh), so that a ragged batch ends everywhere at once.
//   - A merge inside the launch (decode_stream_merge.cuh): whoever finishes a sequence last, by ticket, joins
//     the partials.
//   - grid.x = KV heads: the heads of one slot, neighbours in memory, are read at about the same time.
//
// A value whose weight is 0 is still multiplied: V of real keys must be finite (rows past a length are not
// read).
//
// Bytes: K and V of every real key once for each 16 heads of a group, q and o once; partials of the sequences
// that slices cut, at most 2 * slices * H * (D + 1) * 4 written and read. FLOP: 4 * D * 8 * Hkv a key on the
// tensor cores for up to 8 heads a group (4 * D * H of them of use): 8 FLOP a byte, a twentieth of what they
// can do at this rate. Measured on an H200 against level 2: 4,416 GB/s of 864 (64 sequences of 8,192, D 128,
// blocks of 16; 96% of what a read reaches), 3,635 of 244 (one of 32,768). Versions and figures: NOTES.md
// beside this.
#pragma once

#include "kernels/attention/decode_stream_merge.cuh"
#include "kernels/common/plan.h"

namespace attn::ATTN_BACKEND {

/// log2 of a block_size that is a power of two, else -1.
__device__ inline int block_shift(int block_size) {
  return block_size & (block_size - 1) ? -1 : __ffs(block_size) - 1;
}

/// Where a warp's next keys lie: looked up one step before they are copied, so that the table's latency
/// hides.
struct StreamRow {
  std::int64_t row = 0;  // of K and V, in units of [Hkv, D]
  int keys = 0;          // that exist, of 16; <= 0: none

  __device__ StreamRow() = default;
  template <int kWarps>
  __device__ StreamRow(const DecodeParams& p, const TileCursor<kWarps>& at, int warp, int shift) {
    const int pos = (at.tile * kWarps + warp) * kL3WarpKeys;
    keys = at.keys - pos;
    if (keys <= 0) return;
    if (p.form != DecodeForm::paged) {
      row = static_cast<std::int64_t>(at.b) * p.max_len + pos;
      return;
    }
    // 16 keys that start at a multiple of 16 lie in one block: one table entry serves the warp.
    const std::int32_t* table = p.block_tables + static_cast<std::int64_t>(at.b) * p.block_table_width;
    row = shift < 0 ? p.kv.slot(table, pos)
                    : (static_cast<std::int64_t>(table[pos >> shift]) << shift) + (pos & ((1 << shift) - 1));
  }
};

/// Starts a warp's copies of K and V rows of one KV head: a lane brings the same 16-byte chunk of every
/// kRowsAtOnce-th row.
template <class T, int kDim>
struct StreamCopier {
  static constexpr int kChunks = kDim / 8, kRowsAtOnce = 32 / kChunks;
  const T *k, *v;     // this lane's chunk in its first row of the cache
  std::int64_t step;  // elements from row to row

  __device__ StreamCopier(const DecodeParams& p, int kv_head)
      : step(static_cast<std::int64_t>(p.num_kv_heads) * kDim) {
    const int lane = threadIdx.x % 32;
    const std::int64_t own = lane / kChunks * step + kv_head * kDim + lane % kChunks * 8;
    k = static_cast<const T*>(p.k) + own;
    v = static_cast<const T*>(p.v) + own;
  }
  /// 16 rows; those that do not exist become zeros and are not read.
  __device__ void copy(const StreamRow& from, T* k_to, T* v_to) const {
    copy(k + from.row * step, from.keys, k_to);
    copy(v + from.row * step, from.keys, v_to);
  }

 private:
  __device__ void copy(const T* from, int keys, T* to) const {
    const int first = threadIdx.x % 32 / kChunks, chunk = threadIdx.x % kChunks ^ first;
    to += first * kDim;
#pragma unroll
    for (int r = 0; r < kL3WarpKeys; r += kRowsAtOnce)  // swizzled<kDim>(first + r, chunk of this lane)
      cp_async_16_once(to + r * kDim + (chunk ^ (r & 7)) * 8, from + r * step, first + r < keys);
  }
};

/// Query heads that one block serves: up to 16 of a KV head's group.
struct StreamHeads {
  int kv_head, count;
  int first, step;  // number of head g of them is first + g * step

  __device__ StreamHeads(const DecodeParams& p, const StreamDivisors& by, int unit) {
    kv_head = by.by_group_tiles.quotient(unit);
    const int first_g = (unit - kv_head * by.group_tiles) * kL3DecodeRows;
    count = min_of(kL3DecodeRows, by.group - first_g);
    const bool grouped = p.head_map == HeadMap::grouped;  // q_head_of(first_g + g) = first + g * step
    first = grouped ? kv_head * by.group + first_g : kv_head + first_g * p.num_kv_heads;
    step = grouped ? 1 : p.num_kv_heads;
  }
  __device__ int operator()(int g) const { return first + g * step; }
};

/// The q rows of one sequence, [heads, D], by one warp.
template <class T, int kDim>
__device__ inline void stream_q(const DecodeParams& p, int b, const StreamHeads& heads, T* to) {
  const T* q = static_cast<const T*>(p.q) + static_cast<std::int64_t>(b) * p.num_heads * kDim;
#pragma unroll 1
  for (int i = threadIdx.x % 32; i < heads.count * kDim / 8; i += 32) {
    const int g = i / (kDim / 8), chunk = i % (kDim / 8);
    cp_async_16(to + g * kDim + chunk * 8, q + heads(g) * kDim + chunk * 8, true);
  }
}

/// grid (Hkv * ceil(group / 16), slices), block 32 * kWarps. A block streams one slice for one unit: a KV
/// head, or 16 of its query heads. PRECOND: level_of(p) == 3; workspace and tickets as plan_decode says when
/// there are several slices; at most 8 * kHeadTiles heads in a unit.
template <class T, int kDim, int kHeadTiles, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, kWarps > 4   ? 1
                                               : kDim == 64 ? 4
                                                            : 2)
    decode_l3_stream_kernel(DecodeParams p, DecodePlan plan, StreamDivisors by) {
  ATTN_DYNAMIC_SHARED(unsigned char, shared_base);
  constexpr int kAhead = kL3DecodeStages - 1;
  const int warp = threadIdx.x / 32, number = static_cast<int>(blockIdx.y);
  const SliceSearch<kWarps> search(p);
  const StreamHeads heads(p, by, blockIdx.x);
  const StreamShared<T, kDim, kWarps> shared(shared_base, min_of(kL3DecodeRows, by.group));
  const StreamCopier<T, kDim> copier(p, heads.kv_head);
  const int shift = block_shift(p.kv.block_size);
  const DecodeSlice slice = search.find(p, number, plan.num_slices, by.by_slices);
  if (slice.count <= 0) return;  // the whole block

  // Two walks over the same tiles: one copies, kAhead steps before the other, which computes.
  TileCursor<kWarps> ahead(p, slice), at = ahead;
  StreamRow next(p, ahead, warp, shift);
  int copied = 0;
  const auto copy_next = [&] {
    if (copied < slice.count) {
      copier.copy(next, shared.k(warp, copied), shared.v(warp, copied));
      if (ahead.tile == 0 || copied == 0) stream_q<T, kDim>(p, ahead.b, heads, shared.q(warp, copied));
      ++copied;
      ahead.advance(p);
      if (copied < slice.count) next = StreamRow(p, ahead, warp, shift);
    }
    cp_async_commit_group();
  };
  for (int i = 0; i < kAhead; ++i) copy_next();

  const Partials<kDim> partials(p, plan.num_slices);
  CutSequence cut_by_start, cut_by_end;
  int first_tile = at.tile;  // of this sequence in this slice
  StreamState<T, kDim, kHeadTiles> state;
  for (int step = 0; step < slice.count; ++step, at.advance(p)) {
    copy_next();
    // What the sequence's end needs to know, while its last keys are on their way.
    if (at.tile == 0) first_tile = 0;
    const bool begins = at.tile == first_tile, ends = at.at_last_tile() || step == slice.count - 1;
    const bool has_first = first_tile == 0, whole = has_first && at.at_last_tile();
    if (ends && !whole) {
      const int begin = slice.first + step - at.tile;  // of the sequence, on the line
      const CutSequence cut{at.b, slice.slice_of(begin), slice.slice_of(begin + at.tiles - 1)};
      (has_first ? cut_by_end : cut_by_start) = cut;
    }
    cp_async_wait_group<kAhead>();
    __syncwarp();
    if (begins) state.start(shared.q(warp, step), heads.count);
    const int keys = at.keys - (at.tile * kWarps + warp) * kL3WarpKeys;
    if (keys > 0) state.add(shared.k(warp, step), shared.v(warp, step), keys, p.scale * kLog2E);
    __syncwarp();  // before the next copies overwrite what other lanes still read
    if (!ends) continue;
    __syncthreads();  // everybody is done with the states of the sequence before
    state.put(shared, warp);
    finish_sequence<T>(p, at.b, whole, 2 * number + (has_first ? 1 : 0), partials, shared, heads);
  }
  join_cut_sequences<T, kWarps>(p, cut_by_start, cut_by_end, partials, heads, by.group);
}

}  // namespace attn::ATTN_BACKEND
