// Decode level 3, streaming: nothing but the rate of memory is left to wait for.
//
// A decode step reads every K and V row once and does 4 * G FLOP with each pair of elements (G query heads
// per KV head): the arithmetic must only keep out of the way. What this level adds to level 2:
//   - Tensor cores. The G heads of a KV head are rows of a 16-row mma tile (the rest is zeros): one row of K
//     or V is read from memory once, from shared memory once, and serves all heads.
//   - Warps that do not wait for each other. Each warp streams its own 16 keys of every 64 through its own
//     ring of cp.async stages and keeps its own (m, l, o): no block barrier while keys flow. The four states
//     are merged once per sequence.
//   - One line of work, cut evenly (decode_slice.cuh), so that a ragged batch ends everywhere at once.
//   - A merge inside the launch: whoever finishes a sequence last, by ticket, joins the partials.
//   - grid.x = KV heads: the heads of one slot, neighbours in memory, are read at about the same time.
//
// Bytes: K and V of every real key once, q and o once; partials of the sequences that slices cut, at most
// 2 * slices * H * (D + 1) * 4 written and read. FLOP: 4 * D * 16 * Hkv a key on the tensor cores (4 * D * H
// of them of use): 16 FLOP a byte, a tenth of what they can do at this rate.
// Measured on an H200 against level 2: 4,440 GB/s of 853 (64 sequences of 8,192, D 128, blocks of 16; 97%
// of what a read reaches), 3,197 of 240 (one of 32,768). Versions and figures: NOTES.md beside this.
#pragma once

#include "kernels/attention/decode_slice.cuh"
#include "kernels/common/chunk.cuh"
#include "kernels/common/plan.h"
#include "kernels/common/tensor_core.cuh"

namespace attn::ATTN_BACKEND {

/// Shared memory of one block.
template <class T, int kDim>
struct StreamShared {
  static constexpr int kWarps = kL3Threads / 32, kStages = kL3DecodeStages;
  static constexpr int kTile = kL3WarpKeys * kDim;  // elements of a warp's K (or V) rows of one stage

  int heads;
  T* stages;     // [warps][stages] of: K [16, D] and V [16, D], swizzled, then q [heads, D]
  float* o;      // [warps][heads, D]   merge: the warps' unnormalised outputs
  float* m;      // [warps][16]         in units of log2
  float* l;      // [warps][16]
  int* scratch;  // [6]

  __device__ StreamShared(unsigned char* base, int num_heads) : heads(num_heads) {
    stages = reinterpret_cast<T*>(base);
    o = reinterpret_cast<float*>(stages + kWarps * kStages * stage_size(heads));
    m = o + kWarps * heads * kDim;
    l = m + kWarps * kL3DecodeRows;
    scratch = reinterpret_cast<int*>(l + kWarps * kL3DecodeRows);
  }
  ATTN_HD static constexpr int stage_size(int heads) { return 2 * kTile + heads * kDim; }
  static std::size_t bytes(int heads) {
    return kWarps * (sizeof(T) * kStages * stage_size(heads) +
                     sizeof(float) * (heads * kDim + 2 * kL3DecodeRows)) +
           8 * sizeof(int);
  }
  __device__ T* k(int warp, int step) const {
    return stages + (warp * kStages + step % kStages) * stage_size(heads);
  }
  __device__ T* v(int warp, int step) const { return k(warp, step) + kTile; }
  __device__ T* q(int warp, int step) const { return k(warp, step) + 2 * kTile; }
};

/// Where a warp's next keys lie: looked up one step before they are copied, so that the table's latency
/// hides.
struct StreamRow {
  std::int64_t row = 0;  // of K and V, in units of [Hkv, D]
  int keys = 0;          // that exist, of 16; <= 0: none

  __device__ StreamRow() = default;
  __device__ StreamRow(const DecodeParams& p, const TileCursor& at, int warp) {
    const int pos = at.tile * kL3KeyTile + warp * kL3WarpKeys;
    keys = at.keys - pos;
    if (keys <= 0) return;
    // 16 keys that start at a multiple of 16 lie in one block: one table entry serves the warp.
    row = p.form == DecodeForm::paged
              ? p.kv.slot(p.block_tables + static_cast<std::int64_t>(at.b) * p.block_table_width, pos)
              : static_cast<std::int64_t>(at.b) * p.max_len + pos;
  }
};

/// Starts the copies of a warp's 16 K and V rows; rows that do not exist become zeros and are not read.
template <class T, int kDim>
__device__ inline void stream_rows(const DecodeParams& p, const StreamRow& from, int kv_head, T* k_to,
                                   T* v_to) {
  constexpr int kChunks = kDim / 8, kRowsAtOnce = 32 / kChunks;  // chunks of a row; rows of one pass
  const int lane = threadIdx.x % 32, chunk = lane % kChunks;
  const std::int64_t step = static_cast<std::int64_t>(p.num_kv_heads) * kDim;
  const std::int64_t first = from.row * step + kv_head * kDim + chunk * 8;
#pragma unroll
  for (int r = lane / kChunks; r < kL3WarpKeys; r += kRowsAtOnce)
    cp_async_16(k_to + swizzled<kDim>(r, chunk), static_cast<const T*>(p.k) + first + r * step,
                r < from.keys);
#pragma unroll
  for (int r = lane / kChunks; r < kL3WarpKeys; r += kRowsAtOnce)
    cp_async_16(v_to + swizzled<kDim>(r, chunk), static_cast<const T*>(p.v) + first + r * step,
                r < from.keys);
}

/// The same for the q rows of one sequence, [H, D].
template <class T, int kDim, class HeadOf>
__device__ inline void stream_q(const DecodeParams& p, int b, int heads, HeadOf head_of, T* to) {
  const T* q = static_cast<const T*>(p.q) + static_cast<std::int64_t>(b) * p.num_heads * kDim;
  for (int i = threadIdx.x % 32; i < heads * kDim / 8; i += 32) {
    const int g = i / (kDim / 8), chunk = i % (kDim / 8);
    cp_async_16(to + g * kDim + chunk * 8, q + head_of(g) * kDim + chunk * 8, true);
  }
}

/// One warp's state over its keys of the current sequence, in mma fragments. Index half = 0, 1: rows (heads)
/// lane / 4 and lane / 4 + 8.
template <class T, int kDim>
struct StreamState {
  std::uint32_t q[kDim / 16][4];
  float o[kDim / 8][4];  // columns 8 * i + 2 * (lane % 4) .. + 1 of both rows
  float m[2], l[2];      // maximum in units of log2; this lane's share of the sum

  __device__ void start(const T* q_rows, int heads) {  // q_rows: [heads, D] in shared memory
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int g = lane / 4 + r % 2 * 8, column = lane % 4 * 2 + r / 2 * 8;
#pragma unroll
      for (int i = 0; i < kDim / 16; ++i) {
        q[i][r] = 0;
        if (g < heads) memcpy(&q[i][r], q_rows + g * kDim + i * 16 + column, 4);
      }
    }
#pragma unroll
    for (int i = 0; i < kDim / 8; ++i)
      for (int r = 0; r < 4; ++r) o[i][r] = 0.0F;
    for (int half = 0; half < 2; ++half) {
      m[half] = -INFINITY;
      l[half] = 0.0F;
    }
  }

  /// Takes in 16 keys of which the first `keys` exist. scale in units of log2.
  __device__ void add(const T* k_rows, const T* v_rows, int keys, float scale) {
    const int lane = threadIdx.x % 32;
    float s[2][4] = {};  // 16 heads x 16 keys
    {
      const int row = lane / 16 * 8 + lane % 8, chunk = lane / 8 % 2;
#pragma unroll
      for (int i = 0; i < kDim / 16; ++i) {
        std::uint32_t k[4];
        ldmatrix_x4(k, k_rows + swizzled<kDim>(row, 2 * i + chunk));
        mma_m16n8k16<T>(s[0], q[i], {k[0], k[1]});
        mma_m16n8k16<T>(s[1], q[i], {k[2], k[3]});
      }
    }
    if (keys < kL3WarpKeys) {
      for (int t = 0; t < 2; ++t)
        for (int r = 0; r < 4; ++r)
          if (t * 8 + lane % 4 * 2 + r % 2 >= keys) s[t][r] = -INFINITY;
    }
    std::uint32_t weights[4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = fmaxf(fmaxf(s[0][2 * half], s[0][2 * half + 1]), fmaxf(s[1][2 * half], s[1][2 * half + 1]));
      top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFU, top, 1));
      top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFU, top, 2));
      const float m_new = fmaxf(m[half], top * scale);  // finite: at least one key exists
      const float alpha = exp2_approx(m[half] - m_new);
      m[half] = m_new;
      float w[2][2];
      for (int t = 0; t < 2; ++t)
        for (int r = 0; r < 2; ++r) w[t][r] = exp2_approx(s[t][2 * half + r] * scale - m_new);
      l[half] = l[half] * alpha + ((w[0][0] + w[0][1]) + (w[1][0] + w[1][1]));
      weights[half] = pack_pair<T>(w[0][0], w[0][1]);
      weights[2 + half] = pack_pair<T>(w[1][0], w[1][1]);
#pragma unroll
      for (int i = 0; i < kDim / 8; ++i) {
        o[i][2 * half] *= alpha;
        o[i][2 * half + 1] *= alpha;
      }
    }
    const int row = lane / 8 % 2 * 8 + lane % 8, chunk = lane / 16;
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      std::uint32_t v[4];
      ldmatrix_x4_trans(v, v_rows + swizzled<kDim>(row, 2 * i + chunk));
      mma_m16n8k16<T>(o[2 * i], weights, {v[0], v[1]});
      mma_m16n8k16<T>(o[2 * i + 1], weights, {v[2], v[3]});
    }
  }

  /// Lays the state down for the merge of the block's warps.
  __device__ void put(const StreamShared<T, kDim>& shared, int warp) const {
    const int lane = threadIdx.x % 32;
    for (int half = 0; half < 2; ++half) {
      float sum = l[half] + __shfl_xor_sync(0xFFFFFFFFU, l[half], 1);
      sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
      const int g = lane / 4 + half * 8;
      if (lane % 4 == 0) {
        shared.m[warp * kL3DecodeRows + g] = m[half];
        shared.l[warp * kL3DecodeRows + g] = sum;
      }
      if (g >= shared.heads) continue;
      float* to = shared.o + (warp * shared.heads + g) * kDim + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < kDim / 8; ++i) {
        to[i * 8] = o[i][2 * half];
        to[i * 8 + 1] = o[i][2 * half + 1];
      }
    }
  }
};

/// Four output columns and lse of one head.
struct HeadPart {
  float4 o;
  float lse;  // natural log
};

/// Joins the warps' states for columns d .. d + 3 of head g.
template <class T, int kDim>
__device__ inline HeadPart merge_warps(const StreamShared<T, kDim>& shared, int g, int d) {
  constexpr int kWarps = StreamShared<T, kDim>::kWarps;
  float m = -INFINITY;
  for (int w = 0; w < kWarps; ++w) m = fmaxf(m, shared.m[w * kL3DecodeRows + g]);
  float4 o = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  if (m == -INFINITY) return {o, -INFINITY};  // no key at all
  float l = 0.0F;
  for (int w = 0; w < kWarps; ++w) {
    const float weight = exp2_approx(shared.m[w * kL3DecodeRows + g] - m);  // 0 for a warp without keys
    const float4 x = load_float4(shared.o + (w * shared.heads + g) * kDim + d);
    l += weight * shared.l[w * kL3DecodeRows + g];
    o.x += weight * x.x;
    o.y += weight * x.y;
    o.z += weight * x.z;
    o.w += weight * x.w;
  }
  const float factor = 1.0F / l;
  return {make_float4(o.x * factor, o.y * factor, o.z * factor, o.w * factor), m * kLn2 + logf(l)};
}

/// Partials in the workspace: slot 2 * slice of the sequence that the slice's start cuts, 2 * slice + 1 of
/// the one that begins in the slice and ends beyond it. Every piece of a sequence but its first has an even
/// slot.
struct Partials {
  float* o;    // [2 * slices, H, D]
  float* lse;  // [2 * slices, H]

  __device__ Partials(const DecodeParams& p, int num_slices)
      : o(static_cast<float*>(p.workspace)),
        lse(o + std::int64_t{2} * num_slices * p.num_heads * p.head_dim) {}

  /// Joins pieces first .. last (slices) of head h. Read past the L1, which may hold what lay there before.
  __device__ HeadPart merge(const DecodeParams& p, int first, int last, int h, int d) const {
    const auto slot = [&](int s) { return (2 * s + (s == first ? 1 : 0)) * std::int64_t{p.num_heads} + h; };
    float top = -INFINITY;
#pragma unroll 8
    for (int s = first; s <= last; ++s) top = fmaxf(top, __ldcg(lse + slot(s)));
    HeadPart sum{make_float4(0.0F, 0.0F, 0.0F, 0.0F), 0.0F};
#pragma unroll 8
    for (int s = first; s <= last; ++s) {
      const float weight = expf(__ldcg(lse + slot(s)) - top);
      const float4 x = __ldcg(reinterpret_cast<const float4*>(o + slot(s) * p.head_dim + d));
      sum.lse += weight;
      sum.o.x += weight * x.x;
      sum.o.y += weight * x.y;
      sum.o.z += weight * x.z;
      sum.o.w += weight * x.w;
    }
    const float factor = 1.0F / sum.lse;
    return {make_float4(sum.o.x * factor, sum.o.y * factor, sum.o.z * factor, sum.o.w * factor),
            top + logf(sum.lse)};
  }
};

template <class T>
__device__ inline void write_head(const DecodeParams& p, int b, int h, int d, const HeadPart& part) {
  const std::int64_t row = static_cast<std::int64_t>(b) * p.num_heads + h;
  const std::uint32_t pairs[2] = {pack_pair<T>(part.o.x, part.o.y), pack_pair<T>(part.o.z, part.o.w)};
  memcpy(static_cast<T*>(p.o) + row * p.head_dim + d, pairs, sizeof pairs);
  if (d == 0) p.lse[static_cast<std::int64_t>(h) * p.batch + b] = part.lse;
}

/// What a slice has done of a sequence when the sequence or the slice ends.
struct SlicePiece {
  int b;
  int begin, tiles;          // the whole sequence's tiles on the line that slices cut
  bool has_first, has_last;  // of them in this piece
};

/// Merges the warps' states that lie in shared memory, and writes the result: the output when the piece is
/// the whole sequence, else a partial; the last piece to arrive then joins all. All threads of the block.
template <class T, int kDim, class HeadOf>
__device__ inline void finish_piece(const DecodeParams& p, const DecodePlan& plan, const DecodeSlice& slice,
                                    const SlicePiece& piece, const StreamShared<T, kDim>& shared,
                                    HeadOf head_of) {
  const auto for_each_part = [&](auto f) {  // 4 columns of a head a thread
    for (int i = threadIdx.x; i < shared.heads * kDim / 4; i += kL3Threads)
      f(i / (kDim / 4), head_of(i / (kDim / 4)), i % (kDim / 4) * 4);
  };
  __syncthreads();
  if (piece.has_first && piece.has_last) {
    for_each_part([&](int g, int h, int d) { write_head<T>(p, piece.b, h, d, merge_warps(shared, g, d)); });
    __syncthreads();  // before the next sequence's states overwrite these
    return;
  }
  const Partials partials(p, plan.num_slices);
  const std::int64_t slot = 2 * blockIdx.y + (piece.has_first ? 1 : 0);
  for_each_part([&](int g, int h, int d) {
    const HeadPart part = merge_warps(shared, g, d);
    *reinterpret_cast<float4*>(partials.o + (slot * p.num_heads + h) * kDim + d) = part.o;
    if (d == 0) partials.lse[slot * p.num_heads + h] = part.lse;
  });
  const int first = piece.begin / slice.length, last = (piece.begin + piece.tiles - 1) / slice.length;
  std::uint32_t* ticket = p.tickets + static_cast<std::int64_t>(piece.b) * gridDim.x + blockIdx.x;
  __threadfence();  // this thread's part of the partial is out before anybody can see the ticket
  __syncthreads();
  if (threadIdx.x == 0)
    shared.scratch[0] = atomicAdd(ticket, 1U) == static_cast<std::uint32_t>(last - first) ? 1 : 0;
  __syncthreads();
  if (!shared.scratch[0]) return;
  __threadfence();
  for_each_part(
      [&](int, int h, int d) { write_head<T>(p, piece.b, h, d, partials.merge(p, first, last, h, d)); });
  if (threadIdx.x == 0) *ticket = 0;
}

/// grid (Hkv * ceil(group / 16), slices), block 128.
/// PRECOND: level_of(p) == 3; workspace and tickets as plan_decode says when there are several slices.
template <class T, int kDim>
__global__ void __launch_bounds__(kL3Threads, l3_decode_blocks(kDim))
    decode_l3_stream_kernel(DecodeParams p, DecodePlan plan) {
  ATTN_DYNAMIC_SHARED(unsigned char, shared_base);
  const int group = p.num_heads / p.num_kv_heads, group_tiles = ceil_div(group, kL3DecodeRows);
  const int kv_head = blockIdx.x / group_tiles, first_g = blockIdx.x % group_tiles * kL3DecodeRows;
  const int heads = min_of(kL3DecodeRows, group - first_g);
  const int warp = threadIdx.x / 32;
  const StreamShared<T, kDim> shared(shared_base, heads);
  constexpr int kAhead = StreamShared<T, kDim>::kStages - 1;
  const auto head_of = [&](int g) {
    return q_head_of(p.head_map, kv_head, first_g + g, p.num_heads, p.num_kv_heads);
  };
  const DecodeSlice slice = find_slice(p, blockIdx.y, plan.num_slices, shared.scratch);
  if (slice.count <= 0) return;  // the whole block

  // Two walks over the same tiles: one copies, kAhead steps before the other, which computes.
  TileCursor ahead(p, slice);
  StreamRow next(p, ahead, warp);
  int copied = 0;
  const auto copy_next = [&] {
    if (copied < slice.count) {
      stream_rows<T, kDim>(p, next, kv_head, shared.k(warp, copied), shared.v(warp, copied));
      if (ahead.tile == 0 || copied == 0)
        stream_q<T, kDim>(p, ahead.b, heads, head_of, shared.q(warp, copied));
      ++copied;
      ahead.advance(p);
      if (copied < slice.count) next = StreamRow(p, ahead, warp);
    }
    cp_async_commit_group();
  };
  for (int i = 0; i < kAhead; ++i) copy_next();

  TileCursor at(p, slice);
  int first_tile = at.tile;  // of this sequence in this slice
  StreamState<T, kDim> state;
  for (int step = 0; step < slice.count; ++step, at.advance(p)) {
    copy_next();
    cp_async_wait_group<kAhead>();
    __syncwarp();
    if (at.tile == 0) first_tile = 0;
    if (at.tile == first_tile) state.start(shared.q(warp, step), heads);
    const int keys = at.keys - at.tile * kL3KeyTile - warp * kL3WarpKeys;
    if (keys > 0) state.add(shared.k(warp, step), shared.v(warp, step), keys, p.scale * kLog2E);
    __syncwarp();  // before the next copies overwrite what other lanes still read
    if (at.at_last_tile() || step == slice.count - 1) {
      state.put(shared, warp);
      const SlicePiece piece{at.b, slice.first + step - at.tile, at.tiles, first_tile == 0,
                             at.at_last_tile()};
      finish_piece(p, plan, slice, piece, shared, head_of);
    }
  }
}

__global__ void clear_tickets_kernel(std::uint32_t* tickets, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) tickets[i] = 0;
}

}  // namespace attn::ATTN_BACKEND
