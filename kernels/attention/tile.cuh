// The pieces that both tiled kernels are made of.
#pragma once

#include "kernels/attention/attention_rows.cuh"
#include "kernels/common/chunk.cuh"

namespace attn::ATTN_BACKEND {

/// Copies n rows of D elements into shared memory as floats, all threads together; neighbouring threads take
/// neighbouring 16-byte chunks. `row_offset(r)` is row r's element offset in `from`. The caller synchronises.
template <class T, class RowOffset>
__device__ inline void load_rows(const T* from, RowOffset row_offset, int n, int head_dim, int stride,
                                 float* to) {  // to: [n, stride]
  const int chunks = head_dim / Chunk<T>::kSize;
  for (int c = threadIdx.x; c < n * chunks; c += kAttentionThreads) {
    const int r = c / chunks, d = c % chunks * Chunk<T>::kSize;
    const Chunk<T> chunk = load_chunk(from + row_offset(r) + d);
    for (int i = 0; i < Chunk<T>::kSize; ++i) to[r * stride + d + i] = to_float(chunk.values[i]);
  }
}

/// Dot product of two rows in shared memory. Four running sums: shorter chains of dependent adds, and less
/// rounding than one long sum.
__device__ inline float dot_rows(const float* a, const float* b, int head_dim) {  // a, b: [D]
  float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  for (int d = 0; d < head_dim; d += 4) {
    const float4 x = load_float4(a + d), y = load_float4(b + d);
    sum.x += x.x * y.x;
    sum.y += x.y * y.y;
    sum.z += x.z * y.z;
    sum.w += x.w * y.w;
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

/// A thread's share of one output row while it is being accumulated: columns 4 * (lane + i * lanes) .. + 3
/// for i = 0 .. kChunks-1, as far as they exist.
template <int kChunks>
struct OutputSlice {
  float4 sum[kChunks];  // unnormalised

  __device__ void clear() {
    for (int i = 0; i < kChunks; ++i) sum[i] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  }
  __device__ void scale(float factor) {
    for (int i = 0; i < kChunks; ++i) {
      sum[i].x *= factor;
      sum[i].y *= factor;
      sum[i].z *= factor;
      sum[i].w *= factor;
    }
  }
  /// Adds weight * v for this thread's columns of row v.
  __device__ void add(float weight, const float* v, int lane, int lanes, int head_dim) {  // v: [D] shared
    for (int i = 0; i < kChunks; ++i) {
      const int d = 4 * (lane + i * lanes);
      if (d >= head_dim) continue;
      const float4 x = load_float4(v + d);
      sum[i].x += weight * x.x;
      sum[i].y += weight * x.y;
      sum[i].z += weight * x.z;
      sum[i].w += weight * x.w;
    }
  }
  /// Writes factor * sum as type U.
  template <class U>
  __device__ void write(float factor, U* o, int lane, int lanes, int head_dim) const {  // o: [D]
    for (int i = 0; i < kChunks; ++i) {
      const int d = 4 * (lane + i * lanes);
      if (d >= head_dim) continue;
      o[d] = from_float<U>(factor * sum[i].x);
      o[d + 1] = from_float<U>(factor * sum[i].y);
      o[d + 2] = from_float<U>(factor * sum[i].z);
      o[d + 3] = from_float<U>(factor * sum[i].w);
    }
  }
  /// Sum of squares of this thread's columns; columns that do not exist are 0.
  __device__ float squares() const {
    float s = 0.0F;
    for (int i = 0; i < kChunks; ++i)
      s += sum[i].x * sum[i].x + sum[i].y * sum[i].y + sum[i].z * sum[i].z + sum[i].w * sum[i].w;
    return s;
  }
};

/// Maximum of n scores, by one thread.
__device__ inline float max_of_row(const float* scores, int n) {  // [n]
  float m = -INFINITY;
  for (int j = 0; j < n; ++j) m = fmaxf(m, scores[j]);
  return m;
}

}  // namespace attn::ATTN_BACKEND
