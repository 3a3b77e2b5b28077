// Level 4 prefill: the warpgroups that compute. Two products are under way during every softmax: the scores
// of one tile of keys, and the values of the tile before, whose weights they take from registers.
#pragma once

#include "kernels/attention/hopper_work.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace attn::on_cuda {

/// A value that is the same in all lanes, so that the compiler knows: addresses for wgmma lie in registers
/// that a warp has once.
__device__ inline int uniform(int value) { return __shfl_sync(0xFFFFFFFFU, value, 0); }

/// A warpgroup that computes: 64 rows, of which a thread holds two, lane / 4 and lane / 4 + 8 of its
/// warp's 16.
template <class T, class Shape>
struct HopperConsumer {
  static constexpr int kDim = Shape::kDim, kKeys = Shape::kKeys;
  static constexpr int kAtomRow = kDim / 64 * 1024;  // bytes of 8 rows of K or V
  using Shared = HopperShared<T, Shape>;
  const Shared& shared;
  int number;                    // of the consumers
  int item = 0, first_step = 0;  // work so far; tiles of K before this one
  float o[kDim / 2];
  float s[kKeys / 2];
  std::uint32_t weights[kKeys / 16][4];
  float m[2], l[2];
  bool there[2] = {};  // K and V that the next turn needs, when last looked

  __device__ void turn_wait() const { named_barrier_sync(kTurn + number, 256); }
  __device__ void turn_pass() const { named_barrier_arrive(kTurn + (number + 1) % Shape::kConsumers, 256); }

  // Products are started without a condition, and without a branch since the fence, or ptxas would run them
  // one by one. What there is no work for computes with what lies there, is not waited for and not used.
  __device__ void start_scores(int of_item, int step) {
    const std::uint64_t q = wgmma_operand(shared.q_rows(of_item, number), 16, 1024),
                        k = wgmma_operand(shared.k(step), 16, kAtomRow);
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i)  // 16 values are 32 bytes of a 128-byte run; units are 16 bytes
      wgmma_ss<T>(s, q + i / 4 * (8 * 1024 / 16) + i % 4 * 2, k + i / 4 * (1024 / 16) + i % 4 * 2, i > 0);
    wgmma_commit_group();
  }
  /// first: o is overwritten, whatever the work before left there.
  __device__ void start_values(int step, bool first) {
    const std::uint64_t v = wgmma_operand(shared.v(step), 1024, kAtomRow);
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j)
      wgmma_rs<T>(o, weights[j], v + j * (2 * kAtomRow / 16), j > 0 || !first);
    wgmma_commit_group();
  }
  /// Asks for the tiles of the next turn early: an answer takes as long as 100 multiplications.
  __device__ void look_ahead(int step) { shared.test(step + 1, step, there); }
  __device__ void release(std::uint64_t* empty) const {
    if (threadIdx.x % 32 == 0) mbarrier_arrive(empty);
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

  /// Scores become weights 2^(score - m), 16 keys after 16: the exponentials of the next overlap with the
  /// rest of the last. sum: of this lane's weights of both rows.
  __device__ void weigh(float scale, float (&sum)[2]) {
    const float base[2] = {m[0] == -INFINITY ? 0.0F : m[0], m[1] == -INFINITY ? 0.0F : m[1]};
    float parts[2][2] = {};
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int half = r % 2;
        const float x = exp2_approx(fmaf(s[8 * j + 2 * r], scale, -base[half]));
        const float y = exp2_approx(fmaf(s[8 * j + 2 * r + 1], scale, -base[half]));
        parts[half][r / 2] += x + y;
        weights[j][r] = pack_pair<T>(x, y);
      }
#pragma unroll
    for (int half = 0; half < 2; ++half) sum[half] = parts[half][0] + parts[half][1];
  }
  /// m becomes the maximum of all scores so far; alpha: what o and l must be multiplied by.
  __device__ void raise_maxima(float scale, float (&alpha)[2]) {
    float top[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float x[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};  // four short chains instead of a long one
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
        x[j % 4] = fmaxf(x[j % 4], fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1]));
      top[half] = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
    }
#pragma unroll
    for (int d = 1; d < 4; d *= 2)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        top[half] = fmaxf(top[half], __shfl_xor_sync(0xFFFFFFFFU, top[half], d));
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      top[half] = fmaxf(m[half], top[half] * scale);
      alpha[half] = top[half] == -INFINITY ? 1.0F : exp2_approx(m[half] - top[half]);
      m[half] = top[half];
    }
  }
  /// The softmax of one tile. Any m gives the same quotient o / l, as long as no weight leaves the range of T
  /// upwards; one that is too small to be kept is too small beside the row's largest, which is 1 or more. So
  /// only the first tile looks for the maximum before it weighs. Later ones weigh by the m there is, which
  /// does not wait for anything. Weights are positive, so a bound on a lane's sum bounds each of them, an
  /// overflow to infinity included: when one is passed, m is raised, o and l are rescaled and the scores,
  /// still there, weighed again.
  __device__ void take_in(bool first, float scale) {
    constexpr float kMost = 256.0F;  // sum of 32 weights; a half ends at 65,504
    float sum[2], alpha[2];
    if (first) {
      raise_maxima(scale, alpha);
      weigh(scale, l);
      return;
    }
    weigh(scale, sum);
    if (__any_sync(0xFFFFFFFFU, sum[0] > kMost || sum[1] > kMost)) {
      raise_maxima(scale, alpha);
#pragma unroll
      for (int i = 0; i < kDim / 2; ++i) o[i] *= alpha[i / 2 % 2];
      l[0] *= alpha[0];
      l[1] *= alpha[1];
      weigh(scale, sum);
    }
    l[0] += sum[0];
    l[1] += sum[1];
  }

  __device__ void release_k(int step) const { release(shared.empty + Shared::k_barrier(step)); }
  __device__ void release_v(int step) const { release(shared.empty + Shared::v_barrier(step)); }

  /// All tiles of keys of one work, but for the products at its beginning and its end. own_steps: tiles that
  /// some row of the 64 sees, `steps` or one less. visible(row of the 64): keys that the row sees.
  template <class Visible>
  __device__ void run(int steps, int own_steps, float scale, Visible visible) {
    const int seen_by_all = visible(0);
    const auto mask_tile = [&](int i) {
      const int begin = i * kKeys;
      if (begin + kKeys > seen_by_all) mask([&](int r) { return visible(r) - begin; });
    };
    if (steps > 0) {
      release_k(first_step);
      look_ahead(first_step);
      mask_tile(0);
      take_in(true, scale);
    }
    for (int i = 1; i < own_steps; ++i) {
      const int step = first_step + i;
      turn_wait();
      if (!there[0]) shared.wait_k(step);
      if (!there[1]) shared.wait_v(step - 1);
      fence();
      start_scores(item, step);
      start_values(step - 1, i == 1);
      turn_pass();
      wgmma_wait_group<1>(s);
      release_k(step);
      look_ahead(step);
      mask_tile(i);
      wgmma_wait_group<0>(o);  // the weights of the last tile are used up, too
      release_v(step - 1);
      take_in(false, scale);
    }
    if (own_steps < steps) {  // the last tile is for other rows alone
      turn_wait();
      turn_pass();
      shared.wait_k(first_step + own_steps);  // else the release would count for the tile before
      release_k(first_step + own_steps);
    }
  }
  __device__ void fence() {
    hold(o);
    hold(s);
    hold(weights);
    wgmma_fence();
  }

  /// A row tile of one head after the other until there is no more. The products of one step are started in
  /// turns, and run on while this warpgroup does something else: the scores of a tile and the values of the
  /// one before; at the end of a work the values of its last tile and the scores of the next work's first.
  __device__ void run_all(const PrefillParams& p) {
    if (number == Shape::kConsumers - 1) turn_pass();  // the first turn is consumer 0's
    int next_steps = receive(0);
    turn_wait();
    if (next_steps > 0) shared.wait_k(0);
    fence();
    start_scores(0, 0);
    turn_pass();
    while (next_steps >= 0) {
      const HopperWork& work = shared.work[item % 2];
      const int steps = next_steps, own = work.first + 64 * number;  // its first row
      const int q_len = work.q_len, k_len = work.k_len;
      const auto visible = [&](int r) { return visible_keys(p.mask, own + r, q_len, k_len); };
      const int own_steps =
          uniform(steps > 0 ? max(1, ceil_div(visible(min_of(63, q_len - 1 - own)), kKeys)) : 0);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        m[half] = -INFINITY;
        l[half] = 0.0F;
      }
      wgmma_wait_group<0>(s);
      run(steps, own_steps, p.scale * kLog2E, visible);
      next_steps = receive(item + 1);
      const int own_last = first_step + own_steps - 1;
      turn_wait();
      if (steps > 0) shared.wait_v(own_last);
      if (next_steps > 0) shared.wait_k(first_step + steps);
      fence();
      start_values(own_last, own_steps <= 1);
      start_scores(item + 1, first_step + steps);
      turn_pass();
      wgmma_wait_group<1>(o);
      if (steps > 0) release_v(own_last);
      if (own_steps < steps) {
        shared.wait_v(own_last + 1);
        release_v(own_last + 1);
      }
      finish(p, work, own, steps > 0);
      fence_proxy_async();  // the next q is copied over what was laid down here
      mbarrier_arrive(shared.q_empty + item % 2);
      ++item;
      first_step += steps;
    }
    wgmma_wait_group<0>(s);
    if (number == 0) turn_wait();  // takes the last turn that was passed on
  }
  /// Tiles of keys of a work, when its q has come; -1: there is no such work.
  __device__ int receive(int of_item) const {
    mbarrier_wait(shared.q_full + of_item % 2, Shared::item_parity(of_item));
    const HopperWork& work = shared.work[of_item % 2];
    return uniform(work.b < 0 ? -1 : work.steps);
  }

  /// Normalised rows to where this warpgroup's q was, then out in whole rows.
  /// Rows without a key, !any_key, are zeros.
  __device__ void finish(const PrefillParams& p, const HopperWork& work, int own, bool any_key) {
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x % 128 / 32 * 16;
    const int rows = work.q_len - own, h = work.h;
    const std::int64_t row_step = static_cast<std::int64_t>(p.num_heads) * kDim, row_0 = work.first_q + own;
    T* out = static_cast<T*>(p.o) + row_0 * row_step + h * kDim;
    float* lse = p.lse + h * static_cast<std::int64_t>(p.total_q) + row_0;
    T* to = shared.q_rows(item, number);
    named_barrier_sync(kOutput + number, 128);  // all four warps have read q for the last time
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = l[half] + __shfl_xor_sync(0xFFFFFFFFU, l[half], 1);
      sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
      const float factor = sum > 0.0F ? 1.0F / sum : 0.0F;
      const int row = warp_row + lane / 4 + 8 * half;
      if (lane % 4 == 0 && row < rows) lse[row] = sum > 0.0F ? m[half] * kLn2 + logf(sum) : -INFINITY;
#pragma unroll
      for (int i = 0; i < kDim / 8; ++i) {
        const std::uint32_t pair =
            any_key ? pack_pair<T>(o[4 * i + 2 * half] * factor, o[4 * i + 2 * half + 1] * factor) : 0;
        memcpy(to + q_chunk(row, i) + lane % 4 * 2, &pair, sizeof pair);
      }
    }
    __syncwarp();
    for (int r = lane / Shape::kChunks; r < 16 && warp_row + r < rows; r += 32 / Shape::kChunks) {
      const int chunk = lane % Shape::kChunks;
      store_chunk(out + (warp_row + r) * row_step + chunk * 8, load_chunk(to + q_chunk(warp_row + r, chunk)));
    }
  }
};

}  // namespace attn::on_cuda

#endif
