// Prefill level 3, tensor cores: both matrix products of attention as mma.sync, everything else out of their
// way.
//
// The loop is that of level 2. What this level adds, in the order in which it pays:
//   - S = Q K^T and O += P V are mma_m16n8k16 on 16-bit inputs with float sums. A warp owns 32 query rows and
//     all keys of a tile, so a row's maximum and sum need 4 lanes only, and S and O live in registers.
//   - P stays in registers: two fragments of S side by side, narrowed to 16 bits, are the fragment of P that
//     the second product wants. No score is ever stored.
//   - ldmatrix feeds the fragments from swizzled shared memory (V through its transposing form: nobody
//     transposes V). 32 rows a warp read each fragment of K and V for two mma tiles: half the traffic of 16.
//   - cp.async fills the next K and V tile while this one is used; one block barrier a tile.
//   - exp(scale * s - m) as one FMA and one exp2, scale and log2(e) folded. O is rescaled only when a row's
//     maximum has grown by more than a factor 2^8 since its last rescale (idea: FlashAttention 4): m need not
//     be the maximum, any value near it gives the same quotient, and weights up to 2^8 keep their relative
//     precision in 16 bits.
//   - Tiles beyond the block's last visible key are never loaded, tiles beyond a warp's are skipped by
//     it, and only those that meet a mask's edge test it. The longest query tiles start first.
//
// Masked pairs of a tile meet their V with weight 0: V of a sequence's own keys must be finite, also where a
// row may not see them (levels 1 and 2 do not touch those). Rows past a length are not read.
//
// Bytes: q and o once, K and V once per 128 query rows, from the L2 mostly. FLOP: 4 * D per (row, key) of the
// tiles touched: a visible pair costs 4 * D, and the diagonal's tiles are half empty.
// Measured on an H200 against level 2: 360 TFLOP/s of 9.7 (causal, 4 x 4,096, D 128). Versions and figures:
// NOTES.md beside this.
#pragma once

#include "kernels/attention/attention_rows.cuh"
#include "kernels/common/chunk.cuh"
#include "kernels/common/plan.h"
#include "kernels/common/tensor_core.cuh"

namespace attn::ATTN_BACKEND {

/// Shape of a block. kKeepQ: q fragments stay in registers instead of being read again for each tile.
template <int kDimV, int kWarpsV, int kRowTilesV, int kKeysV, int kBlocksV, bool kKeepQV>
struct MmaShape {
  static constexpr int kDim = kDimV;
  static constexpr int kWarps = kWarpsV, kThreads = 32 * kWarps;
  static constexpr int kRowTiles = kRowTilesV;           // mma tiles of 16 rows that a warp owns
  static constexpr int kRows = kWarps * kRowTiles * 16;  // of a block
  static constexpr int kKeys = kKeysV;                   // of a tile
  static constexpr int kBlocks = kBlocksV;               // resident on an SM
  static constexpr bool kKeepQ = kKeepQV;
  static constexpr int kChunks = kDim / 8;                // 16-byte chunks of a row
  static constexpr int kRowsAtOnce = kThreads / kChunks;  // copied by one pass of the block
  static constexpr std::size_t kSharedBytes = 2 * kDim * (kRows + 4 * kKeys);
};

/// Shared memory of one block: q [rows, D], then two buffers of K [keys, D] and V [keys, D], all swizzled.
template <class T, class Shape>
struct MmaShared {
  T* q;
  __device__ T* k(int step) const { return q + (Shape::kRows + step % 2 * 2 * Shape::kKeys) * Shape::kDim; }
  __device__ T* v(int step) const { return k(step) + Shape::kKeys * Shape::kDim; }
};

/// Starts the copies of one K and V tile. Rows past the sequence's length become zeros and are not read.
template <class T, class Shape, bool kPaged>
struct KeyTiles {
  const T* k;  // of this thread's 16-byte chunk of the KV head
  const T* v;
  std::int64_t step;  // elements from row to row
  const AttentionSeq& seq;
  std::int64_t rows;  // paged: row of K and V where this lane's 16 keys of the next tile start

  __device__ KeyTiles(const PrefillParams& p, const AttentionSeq& of, int kv_head)
      : step(static_cast<std::int64_t>(p.num_kv_heads) * Shape::kDim), seq(of), rows(0) {
    const std::int64_t at = kv_head * Shape::kDim + threadIdx.x % Shape::kChunks * 8;
    k = static_cast<const T*>(p.k) + at;
    v = static_cast<const T*>(p.v) + at;
    find_rows(0);
  }

  /// 16 keys from a multiple of 16 lie in one block: each lane looks one such group up, a tile ahead.
  __device__ void find_rows(int tile) {
    if constexpr (kPaged) {
      const int pos = tile * Shape::kKeys + threadIdx.x % (Shape::kKeys / 16) * 16;
      rows = pos < seq.k_len ? seq.kv.shape.slot(seq.kv.table, pos) : 0;
    }
  }

  __device__ void copy(int tile, T* k_to, T* v_to) {
    const int chunk = threadIdx.x % Shape::kChunks;
#pragma unroll
    for (int i = 0; i < Shape::kKeys / Shape::kRowsAtOnce; ++i) {
      const int r = threadIdx.x / Shape::kChunks + i * Shape::kRowsAtOnce, pos = tile * Shape::kKeys + r;
      std::int64_t row = seq.kv.first_row + pos;
      if constexpr (kPaged) row = __shfl_sync(0xFFFFFFFFU, rows, r / 16) + r % 16;
      const bool real = pos < seq.k_len;
      cp_async_16(k_to + swizzled<Shape::kDim>(r, chunk), k + row * step, real);
      cp_async_16(v_to + swizzled<Shape::kDim>(r, chunk), v + row * step, real);
    }
    find_rows(tile + 1);
  }
};

/// What one warp carries through the tiles, in mma fragments. Row number `half` (0, 1) of row tile t is
/// 16 * t + lane / 4 + 8 * half; columns 8 * i + 2 * (lane % 4) .. + 1.
template <class T, class Shape>
struct MmaState {
  static constexpr int kRowTiles = Shape::kRowTiles, kDim = Shape::kDim, kKeys = Shape::kKeys;
  float o[kRowTiles][kDim / 8][4];
  float s[kRowTiles][kKeys / 8][4];  // scores, then weights
  float m[kRowTiles][2];             // what weights are measured against, in units of log2; -inf: no key yet
  float l[kRowTiles][2];             // this lane's share of the sum
  std::uint32_t q[Shape::kKeepQ ? kDim / 16 : 1][kRowTiles][4];

  __device__ void clear() {
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t) {
#pragma unroll
      for (int i = 0; i < kDim / 8; ++i)
        for (int r = 0; r < 4; ++r) o[t][i][r] = 0.0F;
      for (int half = 0; half < 2; ++half) {
        m[t][half] = -INFINITY;
        l[t][half] = 0.0F;
      }
    }
  }
  __device__ void load_q(const T* q_rows, int i, std::uint32_t (&to)[kRowTiles][4]) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t)
      ldmatrix_x4(to[t], q_rows + swizzled<kDim>(16 * t + lane % 16, 2 * i + lane / 16));
  }
  __device__ void keep_q(const T* q_rows) {
    if constexpr (Shape::kKeepQ) {
#pragma unroll
      for (int i = 0; i < kDim / 16; ++i) load_q(q_rows, i, q[i]);
    }
  }

  /// s = q k^T.
  __device__ void scores(const T* q_rows, const T* k_rows) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t)
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
        for (int r = 0; r < 4; ++r) s[t][j][r] = 0.0F;
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      if constexpr (!Shape::kKeepQ) load_q(q_rows, i, q[0]);
#pragma unroll
      for (int j = 0; j < kKeys / 16; ++j) {
        std::uint32_t k[4];
        ldmatrix_x4(k, k_rows + swizzled<kDim>(16 * j + lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2));
#pragma unroll
        for (int t = 0; t < kRowTiles; ++t) {
          mma_m16n8k16<T>(s[t][2 * j], q[Shape::kKeepQ ? i : 0][t], {k[0], k[1]});
          mma_m16n8k16<T>(s[t][2 * j + 1], q[Shape::kKeepQ ? i : 0][t], {k[2], k[3]});
        }
      }
    }
  }

  /// Scores of keys that a row does not see become -inf. visible(row of the warp) counts from the tile's
  /// start.
  template <class Visible>
  __device__ void mask(Visible visible) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int end = visible(16 * t + lane / 4 + 8 * half) - lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < kKeys / 8; ++j)
          for (int r = 0; r < 2; ++r)
            if (8 * j + r >= end) s[t][j][2 * half + r] = -INFINITY;
      }
  }

  /// Online softmax: s becomes weights, m, l and o take the tile in.
  __device__ void softmax(float scale) {
    constexpr float kSlack = 8.0F;  // a weight may reach 2^8
    float top[kRowTiles][2];
    bool grown = false;
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float x = fmaxf(s[t][0][2 * half], s[t][0][2 * half + 1]);
#pragma unroll
        for (int j = 1; j < kKeys / 8; ++j) x = fmaxf(x, fmaxf(s[t][j][2 * half], s[t][j][2 * half + 1]));
        x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, 1));
        x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, 2));
        top[t][half] = fmaxf(m[t][half], x * scale);
        grown = grown || top[t][half] > m[t][half] + kSlack;  // from -inf: whenever there is a key
      }
    if (__any_sync(0xFFFFFFFFU, grown)) rescale(top);
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float base = m[t][half] == -INFINITY ? 0.0F : m[t][half];  // a row without a key yet
        float sum = 0.0F;
#pragma unroll
        for (int j = 0; j < kKeys / 8; ++j)
          for (int r = 0; r < 2; ++r) {
            float& x = s[t][j][2 * half + r];
            x = exp2_approx(fmaf(x, scale, -base));
            sum += x;
          }
        l[t][half] += sum;
      }
  }
  __device__ void rescale(const float (&top)[kRowTiles][2]) {
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // A row that no key has reached stays at -inf; its o and l are 0 whatever alpha is.
        const float alpha = top[t][half] == -INFINITY ? 1.0F : exp2_approx(m[t][half] - top[t][half]);
        m[t][half] = top[t][half];
        l[t][half] *= alpha;
#pragma unroll
        for (int i = 0; i < kDim / 8; ++i)
          for (int r = 0; r < 2; ++r) o[t][i][2 * half + r] *= alpha;
      }
  }

  /// o += weights * v.
  __device__ void values(const T* v_rows) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
      std::uint32_t weights[kRowTiles][4];
#pragma unroll
      for (int t = 0; t < kRowTiles; ++t)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          weights[t][r] = pack_pair<T>(s[t][2 * j + r / 2][r % 2 * 2], s[t][2 * j + r / 2][r % 2 * 2 + 1]);
#pragma unroll
      for (int i = 0; i < kDim / 16; ++i) {
        std::uint32_t v[4];
        ldmatrix_x4_trans(v, v_rows + swizzled<kDim>(16 * j + lane % 16, 2 * i + lane / 16));
#pragma unroll
        for (int t = 0; t < kRowTiles; ++t) {
          mma_m16n8k16<T>(o[t][2 * i], weights[t], {v[0], v[1]});
          mma_m16n8k16<T>(o[t][2 * i + 1], weights[t], {v[2], v[3]});
        }
      }
    }
  }

  /// Normalised rows of type T to where q was (this warp's rows, which no other warp reads).
  template <class StoreLse>
  __device__ void finish(T* rows, StoreLse store_lse) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < kRowTiles; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float sum = l[t][half] + __shfl_xor_sync(0xFFFFFFFFU, l[t][half], 1);
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
        const float factor = sum > 0.0F ? 1.0F / sum : 0.0F;
        const int row = 16 * t + lane / 4 + 8 * half;
        if (lane % 4 == 0) store_lse(row, sum > 0.0F ? m[t][half] * kLn2 + logf(sum) : -INFINITY);
#pragma unroll
        for (int i = 0; i < kDim / 8; ++i) {
          const std::uint32_t pair = pack_pair<T>(o[t][i][2 * half] * factor, o[t][i][2 * half + 1] * factor);
          memcpy(rows + swizzled<kDim>(row, i) + lane % 4 * 2, &pair, sizeof pair);
        }
      }
  }
};

/// grid (H, q tiles of the longest sequence, B).
/// PRECOND: level_of(p) == 3; head_dim == Shape::kDim; kPaged says whether there is a block table.
template <class T, class Shape, bool kPaged>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks) prefill_l3_mma_kernel(PrefillParams p) {
  ATTN_DYNAMIC_SHARED(T, shared_base);
  constexpr int kDim = Shape::kDim, kWarpRows = 16 * Shape::kRowTiles;
  const int h = blockIdx.x, first = (gridDim.y - 1 - blockIdx.y) * Shape::kRows;
  const AttentionSeq seq = attention_seq(p, blockIdx.z);
  if (first >= seq.q_len) return;  // the whole block
  const int rows = min_of(Shape::kRows, seq.q_len - first);
  const int steps =
      ceil_div(visible_to(p, seq, first + rows - 1), Shape::kKeys);  // the last row sees the most
  const MmaShared<T, Shape> shared{shared_base};

  const std::int64_t q_row_step = static_cast<std::int64_t>(p.num_heads) * kDim;
  const std::int64_t q_at = ((seq.first_q + first) * p.num_heads + h) * kDim;
  for (int r = threadIdx.x / Shape::kChunks; steps > 0 && r < Shape::kRows; r += Shape::kRowsAtOnce) {
    const int chunk = threadIdx.x % Shape::kChunks;
    cp_async_16(shared.q + swizzled<kDim>(r, chunk),
                static_cast<const T*>(p.q) + q_at + r * q_row_step + chunk * 8, r < rows);
  }
  KeyTiles<T, Shape, kPaged> tiles(p, seq, kv_head_of(p.head_map, h, p.num_heads, p.num_kv_heads));
  if (steps > 0) tiles.copy(0, shared.k(0), shared.v(0));
  cp_async_commit_group();

  const int warp_first = threadIdx.x / 32 * kWarpRows, warp_rows = min_of(kWarpRows, rows - warp_first);
  const int warp_keys = warp_rows > 0 ? visible_to(p, seq, first + warp_first + warp_rows - 1) : 0;
  const int seen_by_all = visible_to(p, seq, first + warp_first);  // its first row sees the least
  T* q_rows = shared.q + warp_first * kDim;
  const float scale = p.scale * kLog2E;
  MmaState<T, Shape> state;
  state.clear();
  for (int step = 0; step < steps; ++step) {
    cp_async_wait_group<0>();
    __syncthreads();  // the tile is there for all, and nobody reads the other buffer any more
    if (step + 1 < steps) tiles.copy(step + 1, shared.k(step + 1), shared.v(step + 1));
    cp_async_commit_group();
    if (step == 0) state.keep_q(q_rows);
    const int begin = step * Shape::kKeys;
    if (begin >= warp_keys) continue;
    state.scores(q_rows, shared.k(step));
    if (begin + Shape::kKeys > seen_by_all)
      state.mask([&](int r) { return visible_to(p, seq, first + warp_first + r) - begin; });
    state.softmax(scale);
    state.values(shared.v(step));
  }
  __syncwarp();
  const std::int64_t row_0 = seq.first_q + first + warp_first;
  state.finish(q_rows, [&](int r, float lse) {
    if (r < warp_rows) p.lse[h * static_cast<std::int64_t>(p.total_q) + row_0 + r] = lse;
  });
  __syncwarp();
  const int lane = threadIdx.x % 32;
  for (int r = lane / Shape::kChunks; r < warp_rows; r += 32 / Shape::kChunks) {
    const int chunk = lane % Shape::kChunks;
    store_chunk(static_cast<T*>(p.o) + q_at + (warp_first + r) * q_row_step + chunk * 8,
                load_chunk(q_rows + swizzled<kDim>(r, chunk)));
  }
}

}  // namespace attn::ATTN_BACKEND
