// Level 3 decode: what a block keeps in shared memory, and what a warp keeps of its keys in registers.
#pragma once

#include "kernels/common/chunk.cuh"
#include "kernels/common/tensor_core.cuh"
#include "kernels/common/tiles.h"

namespace attn::ATTN_BACKEND {

/// Shared memory of one block: l3_decode_shared_bytes(kDim, heads, kWarps) of it.
template <class T, int kDim, int kWarpsV>
struct StreamShared {
  static constexpr int kWarps = kWarpsV;
  static constexpr int kTile = kL3WarpKeys * kDim;  // elements of a warp's K (or V) rows of one stage

  int heads;  // that there is room for
  T* stages;  // [warps][stages] of: K [16, D] and V [16, D], swizzled, then q [heads, D]
  float* o;   // [warps][heads, D + 4]  merge: the warps' unnormalised outputs
  float* m;   // [warps][heads]         in units of log2
  float* l;   // [warps][heads]

  __device__ StreamShared(unsigned char* base, int num_heads)
      : heads(num_heads),
        stages(reinterpret_cast<T*>(base)),
        o(reinterpret_cast<float*>(stages + kWarps * kL3DecodeStages * stage_size())),
        m(o + kWarps * heads * l3_decode_output_row(kDim)),
        l(m + kWarps * heads) {}
  __device__ int stage_size() const { return 2 * kTile + heads * kDim; }
  __device__ T* k(int warp, int step) const {
    return stages + (warp * kL3DecodeStages + step % kL3DecodeStages) * stage_size();
  }
  __device__ T* v(int warp, int step) const { return k(warp, step) + kTile; }
  __device__ T* q(int warp, int step) const { return k(warp, step) + 2 * kTile; }
  __device__ float* o_row(int warp, int g) const {
    return o + (warp * heads + g) * l3_decode_output_row(kDim);
  }
};

/// One warp's state over its keys of the current sequence, in mma fragments. Keys are the rows of the score
/// tile and head_dim those of the output tile; query heads are the columns, 8 a tile: with up to 8 heads in a
/// group nothing is computed for nobody. Index [t]: tile of 8 heads; lane = 4 * r + c holds heads 2c, 2c + 1.
template <class T, int kDim, int kHeadTiles>
struct StreamState {
  std::uint32_t q[kHeadTiles][kDim / 16][2];
  float o[kHeadTiles][kDim / 16][4];  // columns of o 16 * i + r, then + 8; of both heads
  float m[kHeadTiles][2];             // maximum in units of log2
  float l[kHeadTiles][2];             // this lane's share of the sum

  __device__ void start(const T* q_rows, int heads) {  // q_rows: [heads, D] in shared memory
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < kHeadTiles; ++t) {
      const int g = 8 * t + lane / 4;
      const auto* row = reinterpret_cast<const std::uint32_t*>(q_rows + g * kDim) + lane % 4;
#pragma unroll
      for (int i = 0; i < kDim / 16; ++i)
#pragma unroll
        for (int r = 0; r < 2; ++r) q[t][i][r] = g < heads ? row[8 * i + 4 * r] : 0;
#pragma unroll
      for (int i = 0; i < kDim / 16; ++i)
#pragma unroll
        for (int r = 0; r < 4; ++r) o[t][i][r] = 0.0F;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        m[t][j] = -INFINITY;
        l[t][j] = 0.0F;
      }
    }
  }

  /// Takes in 16 keys of which the first `keys` exist. scale in units of log2.
  __device__ void add(const T* k_rows, const T* v_rows, int keys, float scale) {
    const int lane = threadIdx.x % 32;
    float s[kHeadTiles][4] = {};  // keys r, r + 8 of heads 2c, 2c + 1
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      std::uint32_t k[4];
      ldmatrix_x4(k, k_rows + swizzled<kDim>(lane % 16, 2 * i + lane / 16));
#pragma unroll
      for (int t = 0; t < kHeadTiles; ++t) mma_m16n8k16<T>(s[t], k, q[t][i]);
    }
    if (keys < kL3WarpKeys) {
#pragma unroll
      for (int t = 0; t < kHeadTiles; ++t)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          if (lane / 4 + r / 2 * 8 >= keys) s[t][r] = -INFINITY;
    }
    std::uint32_t weights[kHeadTiles][2];
#pragma unroll
    for (int t = 0; t < kHeadTiles; ++t) weigh(t, s[t], scale, weights[t]);
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      std::uint32_t v[4];  // transposed: rows are columns of V
      ldmatrix_x4_trans(v, v_rows + swizzled<kDim>(lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2));
#pragma unroll
      for (int t = 0; t < kHeadTiles; ++t) mma_m16n8k16<T>(o[t][i], v, weights[t]);
    }
  }

  /// Lays the state down for the merge of the block's warps.
  template <class Shared>
  __device__ void put(const Shared& shared, int warp) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int t = 0; t < kHeadTiles; ++t)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float sum = l[t][j];
        for (int d = 4; d < 32; d *= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, d);
        const int g = 8 * t + lane % 4 * 2 + j;
        if (g >= shared.heads) continue;
        const int row = warp * shared.heads + g;
        if (lane / 4 == 0) {
          shared.m[row] = m[t][j];
          shared.l[row] = sum;
        }
        float* to = shared.o_row(warp, g) + lane / 4;
#pragma unroll
        for (int i = 0; i < kDim / 16; ++i) {
          to[i * 16] = o[t][i][j];
          to[i * 16 + 8] = o[t][i][2 + j];
        }
      }
  }

 private:
  /// Scores of 16 keys become weights, as b fragment of the product with V; o and l are rescaled.
  __device__ void weigh(int t, const float (&s)[4], float scale, std::uint32_t (&weights)[2]) {
    float w[4], alpha[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      float top = fmaxf(s[j], s[2 + j]);
      for (int d = 4; d < 32; d *= 2) top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFU, top, d));
      const float m_new = fmaxf(m[t][j], top * scale);  // finite: at least one key exists
      alpha[j] = exp2_approx(m[t][j] - m_new);
      m[t][j] = m_new;
      w[j] = exp2_approx(s[j] * scale - m_new);
      w[2 + j] = exp2_approx(s[2 + j] * scale - m_new);
      l[t][j] = l[t][j] * alpha[j] + (w[j] + w[2 + j]);
    }
    weights[0] = transposed(pack_pair<T>(w[0], w[1]));
    weights[1] = transposed(pack_pair<T>(w[2], w[3]));
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i)
#pragma unroll
      for (int r = 0; r < 4; ++r) o[t][i][r] *= alpha[r % 2];
  }
  /// 8 x 8 values of 16 bits: a lane brings columns 2c, 2c + 1 of row r and takes rows 2c, 2c + 1 of column
  /// r.
  __device__ static std::uint32_t transposed(std::uint32_t pair) {
    const int lane = threadIdx.x % 32, from = lane % 4 * 8 + lane / 8;
    const std::uint32_t low = __shfl_sync(0xFFFFFFFFU, pair, from),
                        high = __shfl_sync(0xFFFFFFFFU, pair, from + 4);
    return lane / 4 % 2 ? low >> 16U | (high & 0xFFFF0000U) : (low & 0xFFFFU) | high << 16U;
  }
};

}  // namespace attn::ATTN_BACKEND
