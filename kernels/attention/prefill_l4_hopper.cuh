// Prefill level 4, Hopper: the matrix products of level 3 by warpgroups, fed by others.
//
// What sm_90a adds, and what it is for:
//   - wgmma: 128 threads multiply 64 rows by a tile straight from shared memory. No ldmatrix, no fragments
//     of K and V in registers, and the product runs on while the warps do something else.
//   - Warp specialisation: one warpgroup only copies (it gives its registers away by setmaxnreg), the others
//     only compute. They meet at mbarriers, two a buffer: full (copies have landed), empty (last read).
//   - Ping-pong: while one computing warpgroup does its softmax, another's products have the tensor cores.
//     Named barriers pass the turn.
//   - Within a warpgroup, Q K^T of the next tile and P V of the last are in flight during a softmax.
// Copies are cp.async, not TMA: a block table scatters K and V in runs of 16 rows, lengths end anywhere, and
// rows past a length must become zeros.
//
// Bytes and FLOP: those of level 3. CUDA only, built for sm_90a; elsewhere level 3 runs.
// Measured on an H200 against level 3: 566 TFLOP/s of 360 (causal, 4 x 4,096, D 128), 594 of 348 (1,024 rows
// on 8,192 keys in blocks of 16). Versions and figures: NOTES.md beside this.
#pragma once

#include "kernels/attention/attention_rows.cuh"
#include "kernels/common/chunk.cuh"
#include "kernels/common/wgmma.cuh"

namespace attn::on_cuda {

/// Shape of a block: kConsumers warpgroups of 64 query rows, and one that copies.
template <int kDimV, int kConsumersV>
struct HopperShape {
  static constexpr int kDim = kDimV, kConsumers = kConsumersV;
  static constexpr int kRows = 64 * kConsumers, kKeys = 128, kStages = 2;
  static constexpr int kThreads = 128 * (kConsumers + 1);
  static constexpr int kCopyRegs = kConsumers == 2 ? 40 : 32, kComputeRegs = kConsumers == 2 ? 232 : 160;
  static constexpr int kChunks = kDim / 8;    // 16-byte chunks of a row
  static constexpr int kTile = kKeys * kDim;  // elements
  static constexpr std::size_t kSharedBytes = 1024 + 2 * (kRows * kDim + 2 * kStages * kTile) + 128;
};

/// Position of chunk `chunk` of row `row` in a tile [kDim / 64][rows, 64].
__device__ inline int wgmma_chunk(int rows, int row, int chunk) {
  return chunk / 8 * rows * 64 + swizzled<64>(row, chunk % 8);
}

template <class T, class Shape>
struct HopperShared {
  T* q;                  // [kDim / 64][rows, 64]; each consumer's 64 rows are its own 64-row tile
  T* kv;                 // [stages] of K, then [stages] of V
  std::uint64_t* full;   // [q, then stages of K, then stages of V]
  std::uint64_t* empty;  // the same order; that of q is not used

  __device__ explicit HopperShared(unsigned char* base) {
    base += (1024 - (shared_address(base) & 1023U)) & 1023U;
    q = reinterpret_cast<T*>(base);
    kv = q + Shape::kRows * Shape::kDim;
    full = reinterpret_cast<std::uint64_t*>(kv + 2 * Shape::kStages * Shape::kTile);
    empty = full + 1 + 2 * Shape::kStages;
  }
  __device__ T* k(int step) const { return kv + step % Shape::kStages * Shape::kTile; }
  __device__ T* v(int step) const { return k(step) + Shape::kStages * Shape::kTile; }
  __device__ T* q_rows(int consumer) const { return q + consumer * 64 * Shape::kDim; }
  static __device__ int k_barrier(int step) { return 1 + step % Shape::kStages; }
  static __device__ int v_barrier(int step) { return k_barrier(step) + Shape::kStages; }
  static __device__ unsigned parity(int step) { return step / Shape::kStages % 2; }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The warpgroup that copies.
template <class T, class Shape, bool kPaged>
struct HopperCopier {
  const PrefillParams& p;
  const AttentionSeq& seq;
  const HopperShared<T, Shape>& shared;
  int kv_head;
  int pending = -1;  // barrier of the copies issued last, not yet announced

  /// Paged: element offset of the row where this lane's 16 keys of tile `step` start; they lie in one block.
  __device__ std::int64_t find_rows(int step) const {
    const int pos = step * Shape::kKeys + threadIdx.x % (Shape::kKeys / 16) * 16;
    return kPaged && pos < seq.k_len ? seq.kv.shape.slot(seq.kv.table, pos) * row_step() : 0;
  }
  __device__ std::int64_t row_step() const { return static_cast<std::int64_t>(p.num_kv_heads) * Shape::kDim; }
  /// The copies before the last `kLeft` groups have landed: wgmma may read them.
  template <int kLeft>
  __device__ void announce(int next) {
    cp_async_wait_group<kLeft>();
    fence_proxy_async();
    if (pending >= 0) mbarrier_arrive(shared.full + pending);
    pending = next;
  }
  __device__ void copy_q(std::int64_t first_row, int h, int rows) {
    const std::int64_t row_step = static_cast<std::int64_t>(p.num_heads) * Shape::kDim;
    const int chunk = threadIdx.x % Shape::kChunks;
    const T* q = static_cast<const T*>(p.q) + first_row * row_step + h * Shape::kDim + chunk * 8;
    for (int r = threadIdx.x / Shape::kChunks; r < Shape::kRows; r += 128 / Shape::kChunks)
      cp_async_16(shared.q_rows(r / 64) + wgmma_chunk(64, r % 64, chunk), q + r * row_step, r < rows);
    cp_async_commit_group();
    pending = 0;
  }
  __device__ void copy(int step, const void* from, T* to, int barrier, std::int64_t rows) {
    if (step >= Shape::kStages)
      mbarrier_wait(shared.empty + barrier, HopperShared<T, Shape>::parity(step) ^ 1U);
    const int chunk = threadIdx.x % Shape::kChunks, first = threadIdx.x / Shape::kChunks;
    constexpr int kRowsAtOnce = 128 / Shape::kChunks;  // 8 or 16: a pass stays within 16 rows
    const std::int64_t step_elements = row_step();
    const T* source = static_cast<const T*>(from) + kv_head * Shape::kDim + chunk * 8;
    if constexpr (!kPaged) source += (seq.kv.first_row + step * Shape::kKeys) * step_elements;
    source += first * step_elements;
    to += wgmma_chunk(Shape::kKeys, first, chunk);  // the swizzle of row first + i * kRowsAtOnce is the same
    const std::int64_t jump = kRowsAtOnce * step_elements;
    const int real = seq.k_len - step * Shape::kKeys - first;  // rows that exist from this thread's first on
#pragma unroll 4  // more would not fit into the few registers of this warpgroup
    for (int i = 0; i < Shape::kKeys / kRowsAtOnce; ++i) {
      const T* row = source;
      if constexpr (kPaged) {
        row += __shfl_sync(0xFFFFFFFFU, rows, i * kRowsAtOnce / 16) + i % (16 / kRowsAtOnce) * jump;
      } else {
        source += jump;
      }
      cp_async_16(to + i * kRowsAtOnce * 64, row, i * kRowsAtOnce < real);
    }
    cp_async_commit_group();
    announce<1>(barrier);
  }
  __device__ void run(int steps) {
    std::int64_t rows = find_rows(0), next = find_rows(1);  // looked up a tile before they are needed
    copy(0, p.k, shared.k(0), HopperShared<T, Shape>::k_barrier(0), rows);
    for (int step = 0; step < steps; ++step) {
      const std::int64_t after = find_rows(step + 2);
      if (step + 1 < steps)
        copy(step + 1, p.k, shared.k(step + 1), HopperShared<T, Shape>::k_barrier(step + 1), next);
      copy(step, p.v, shared.v(step), HopperShared<T, Shape>::v_barrier(step), rows);
      rows = next;
      next = after;
    }
    announce<0>(-1);
  }
};

/// A warpgroup that computes: 64 rows, of which a thread holds two, lane / 4 and lane / 4 + 8 of its
/// warp's 16.
template <class T, class Shape>
struct HopperConsumer {
  static constexpr int kDim = Shape::kDim, kKeys = Shape::kKeys;
  const HopperShared<T, Shape>& shared;
  int number;  // of the consumers
  float o[kDim / 2];
  float s[kKeys / 2];
  std::uint32_t weights[kKeys / 16][4];
  float m[2], l[2];

  __device__ void turn_wait() const { named_barrier_sync(1 + number, 256); }
  __device__ void turn_pass() const { named_barrier_arrive(1 + (number + 1) % Shape::kConsumers, 256); }

  __device__ void start_scores(int step) {
    mbarrier_wait(shared.full + shared.k_barrier(step), shared.parity(step));
    const std::uint64_t q = wgmma_operand(shared.q_rows(number), 16), k = wgmma_operand(shared.k(step), 16);
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i)  // 16 values are 32 bytes of a 128-byte run
      wgmma_ss<T>(s, q + i / 4 * (64 * 128 / 16) + i % 4 * 2, k + i / 4 * (kKeys * 128 / 16) + i % 4 * 2,
                  i > 0);
    wgmma_commit_group();
  }
  __device__ void start_values(int step) {
    mbarrier_wait(shared.full + shared.v_barrier(step), shared.parity(step));
    const std::uint64_t v = wgmma_operand(shared.v(step), kKeys * 128);
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) wgmma_rs<T>(o, weights[j], v + j * (16 * 128 / 16), 1);
    wgmma_commit_group();
  }
  __device__ void release(int barrier) const {
    if (threadIdx.x % 32 == 0) mbarrier_arrive(shared.empty + barrier);
  }

  template <class Visible>
  __device__ void mask(Visible visible) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int end = visible(threadIdx.x % 128 / 32 * 16 + lane / 4 + 8 * half) - lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
        for (int r = 0; r < 2; ++r)
          if (8 * j + r >= end) s[4 * j + 2 * half + r] = -INFINITY;
    }
  }

  /// s becomes weights. alpha: what o must be multiplied by once nothing adds to it any more; returns whether
  /// that is needed (see level 3: seldom).
  __device__ bool softmax(float scale, float (&alpha)[2]) {
    constexpr float kSlack = 8.0F;
    float top[2];
    bool grown = false;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float x = fmaxf(s[2 * half], s[2 * half + 1]);
#pragma unroll
      for (int j = 1; j < kKeys / 8; ++j) x = fmaxf(x, fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1]));
      x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, 1));
      x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFU, x, 2));
      top[half] = fmaxf(m[half], x * scale);
      grown = grown || top[half] > m[half] + kSlack;
    }
    const bool rescale = __any_sync(0xFFFFFFFFU, grown);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      alpha[half] = 1.0F;
      if (rescale) {
        if (top[half] != -INFINITY) alpha[half] = exp2_approx(m[half] - top[half]);
        m[half] = top[half];
      }
      const float base = m[half] == -INFINITY ? 0.0F : m[half];
      float sum = 0.0F;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float& x = s[4 * j + 2 * half + r];
          x = exp2_approx(fmaf(x, scale, -base));
          sum += x;
        }
      l[half] = l[half] * alpha[half] + sum;
    }
    return rescale;
  }
  __device__ void scale_output(const float (&alpha)[2]) {
#pragma unroll
    for (int i = 0; i < kDim / 2; ++i) o[i] *= alpha[i / 2 % 2];
  }
  __device__ void pack_weights() {
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) weights[j][r] = pack_pair<T>(s[8 * j + 2 * r], s[8 * j + 2 * r + 1]);
  }

  /// All tiles. visible(row of the 64, first key of a tile): keys of the tile that the row sees.
  template <class Visible>
  __device__ void run(int steps, int seen_by_all, float scale, Visible visible) {
    const auto weigh = [&](int step, float(&alpha)[2]) {
      const int begin = step * kKeys;
      if (begin + kKeys > seen_by_all) mask([&](int r) { return visible(r) - begin; });
      return softmax(scale, alpha);
    };
    float alpha[2];
    mbarrier_wait(shared.full, 0);
    turn_wait();
    fence();
    start_scores(0);
    turn_pass();
    wgmma_wait_group<0>(s);
    release(shared.k_barrier(0));
    weigh(0, alpha);  // o is 0: nothing to rescale
    pack_weights();
    for (int step = 1; step < steps; ++step) {
      turn_wait();
      fence();
      start_scores(step);
      start_values(step - 1);
      turn_pass();
      wgmma_wait_group<1>(s);
      release(shared.k_barrier(step));
      const bool rescale = weigh(step, alpha);
      wgmma_wait_group<0>(o);
      release(shared.v_barrier(step - 1));
      if (rescale) scale_output(alpha);
      pack_weights();
    }
    if (number == 0) turn_wait();  // takes the last turn that was passed on
    fence();
    start_values(steps - 1);
    wgmma_wait_group<0>(o);
  }
  __device__ void fence() {
    hold(o);
    hold(s);
    hold(weights);
    wgmma_fence();
  }

  /// Normalised rows to where this warpgroup's q was, then out in whole rows.
  template <class StoreLse>
  __device__ void finish(T* out, std::int64_t row_step, int rows, StoreLse store_lse) {
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x % 128 / 32 * 16;
    T* to = shared.q_rows(number);
    named_barrier_sync(5 + number, 128);  // all four warps have read q for the last time
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = l[half] + __shfl_xor_sync(0xFFFFFFFFU, l[half], 1);
      sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
      const float factor = sum > 0.0F ? 1.0F / sum : 0.0F;
      const int row = warp_row + lane / 4 + 8 * half;
      if (lane % 4 == 0 && row < rows) store_lse(row, sum > 0.0F ? m[half] * kLn2 + logf(sum) : -INFINITY);
#pragma unroll
      for (int i = 0; i < kDim / 8; ++i) {
        const std::uint32_t pair =
            pack_pair<T>(o[4 * i + 2 * half] * factor, o[4 * i + 2 * half + 1] * factor);
        memcpy(to + wgmma_chunk(64, row, i) + lane % 4 * 2, &pair, sizeof pair);
      }
    }
    __syncwarp();
    for (int r = lane / Shape::kChunks; r < 16 && warp_row + r < rows; r += 32 / Shape::kChunks) {
      const int chunk = lane % Shape::kChunks;
      store_chunk(out + (warp_row + r) * row_step + chunk * 8,
                  load_chunk(to + wgmma_chunk(64, warp_row + r, chunk)));
    }
  }
};

#endif

/// grid (H, q tiles of the longest sequence, B).
/// PRECOND: as for level 3, on compute capability 9.0.
template <class T, class Shape, bool kPaged>
__global__ void __launch_bounds__(Shape::kThreads, 1) prefill_l4_hopper_kernel(PrefillParams p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  ATTN_DYNAMIC_SHARED(unsigned char, shared_base);
  const HopperShared<T, Shape> shared(shared_base);
  const int h = blockIdx.x, first = (gridDim.y - 1 - blockIdx.y) * Shape::kRows;
  const AttentionSeq seq = attention_seq(p, blockIdx.z);
  if (first >= seq.q_len) return;  // the whole block
  const int rows = min_of(Shape::kRows, seq.q_len - first);
  const int steps = ceil_div(visible_to(p, seq, first + rows - 1), Shape::kKeys);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 1 + 2 * Shape::kStages; ++i) {
      mbarrier_init(shared.full + i, 128);
      mbarrier_init(shared.empty + i, 4 * Shape::kConsumers);
    }
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    setmaxnreg_dec<Shape::kCopyRegs>();
    if (steps > 0) {
      HopperCopier<T, Shape, kPaged> copier{p, seq, shared,
                                            kv_head_of(p.head_map, h, p.num_heads, p.num_kv_heads)};
      copier.copy_q(seq.first_q + first, h, rows);
      copier.run(steps);
    }
  } else {
    setmaxnreg_inc<Shape::kComputeRegs>();
    HopperConsumer<T, Shape> consumer{shared, static_cast<int>(threadIdx.x) / 128 - 1};
#pragma unroll
    for (int i = 0; i < Shape::kDim / 2; ++i) consumer.o[i] = 0.0F;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      consumer.m[half] = -INFINITY;
      consumer.l[half] = 0.0F;
    }
    const int own = first + 64 * consumer.number;  // its first row
    if (steps > 0) {
      if (consumer.number == Shape::kConsumers - 1) consumer.turn_pass();  // the first turn is consumer 0's
      consumer.run(steps, visible_to(p, seq, own), p.scale * kLog2E,
                   [&](int r) { return visible_to(p, seq, own + r); });
    }
    const std::int64_t row_step = static_cast<std::int64_t>(p.num_heads) * Shape::kDim,
                       row_0 = seq.first_q + own;
    consumer.finish(
        static_cast<T*>(p.o) + row_0 * row_step + h * Shape::kDim, row_step, seq.q_len - own,
        [&](int r, float lse) { p.lse[h * static_cast<std::int64_t>(p.total_q) + row_0 + r] = lse; });
  }
#else
  __trap();  // launchers ask hopper_code() first
#endif
}

/// Never launched: its static shared memory tells whether this program holds code for sm_90a.
__global__ void hopper_probe_kernel() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ volatile int present;
  present = 1;
#endif
}
inline bool hopper_code() {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, hopper_probe_kernel) != cudaSuccess) {
    cudaGetLastError();  // not a fault of the next launch
    return false;
  }
  return attributes.sharedSizeBytes > 0;
}

}  // namespace attn::on_cuda
