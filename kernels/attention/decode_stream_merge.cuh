// Level 3 decode: how the states of a block's warps, and then the partials of a sequence that several slices
// cut, become one result inside the launch. A warp joins a head; a lane has kDim / 32 of its columns. The end
// of a slice has nothing else to hide latency with: it waits for memory as seldom as it can.
#pragma once

#include "kernels/attention/decode_slice.cuh"
#include "kernels/attention/decode_stream_state.cuh"

namespace attn::ATTN_BACKEND {

/// A lane's columns of one head, from lane * kDim / 32 on.
template <int kDim>
struct alignas(kDim / 8) HeadColumns {
  static constexpr int kCount = kDim / 32;
  float x[kCount];
};

/// A head's output so far: unnormalised, as in OnlineSoftmax, with m in units of log2.
template <int kDim>
struct HeadPart {
  float m = -INFINITY, l = 0.0F;
  HeadColumns<kDim> o = {};

  __device__ void add(float weight, const HeadColumns<kDim>& columns) {
#pragma unroll
    for (int i = 0; i < HeadColumns<kDim>::kCount; ++i) o.x[i] += weight * columns.x[i];
  }
  __device__ void scale(float factor) {
#pragma unroll
    for (int i = 0; i < HeadColumns<kDim>::kCount; ++i) o.x[i] *= factor;
  }
  /// From (m, l, o) to a normalised o; returns lse in units of log2, -inf when there was no key.
  __device__ float normalize() {
    if (!(l > 0.0F)) return -INFINITY;
    scale(__fdividef(1.0F, l));
    return m + log2_approx(l);
  }
};

/// Joins the warps' states of head g of the block.
template <int kDim, class Shared>
__device__ HeadPart<kDim> merge_warps(const Shared& shared, int g) {
  HeadPart<kDim> part;
#pragma unroll
  for (int w = 0; w < Shared::kWarps; ++w) part.m = fmaxf(part.m, shared.m[w * shared.heads + g]);
  if (part.m == -INFINITY) return part;  // no key at all
#pragma unroll
  for (int w = 0; w < Shared::kWarps; ++w) {
    const float weight = exp2_approx(shared.m[w * shared.heads + g] - part.m);  // 0 for one without keys
    part.l += weight * shared.l[w * shared.heads + g];
    part.add(weight, reinterpret_cast<const HeadColumns<kDim>*>(shared.o_row(w, g))[threadIdx.x % 32]);
  }
  return part;
}

/// Partials in the workspace: slot 2 * slice of the sequence that the slice's start cuts, 2 * slice + 1 of
/// the one that begins in the slice and ends beyond it. Every piece of a sequence but its first has an even
/// slot. o is normalised, lse in units of log2.
template <int kDim>
struct Partials {
  int heads, slots;
  float* o;  // [slots, H, D], then lse [slots, H]

  __device__ Partials(const DecodeParams& p, int num_slices)
      : heads(p.num_heads), slots(2 * num_slices), o(static_cast<float*>(p.workspace)) {}
  __device__ float* lse() const { return o + static_cast<std::int64_t>(slots) * heads * kDim; }

  __device__ void put(int slot, int h, HeadPart<kDim> part) const {
    const int lane = threadIdx.x % 32, row = slot * heads + h;
    const float part_lse = part.normalize();
    reinterpret_cast<HeadColumns<kDim>*>(o + static_cast<std::int64_t>(row) * kDim)[lane] = part.o;
    if (lane == 0) lse()[row] = part_lse;
  }

  /// Joins the pieces of slices first .. last of head h, in this order. Reads go past the L1, which may hold
  /// what lay there before; those of 32 pieces are on their way at once.
  __device__ HeadPart<kDim> merge(int first, int last, int h) const {
    constexpr int kAtOnce = 32, kStep = 4;
    const int lane = threadIdx.x % 32, count = last - first + 1;
    const auto row = [&](int piece) { return (2 * (first + piece) + (piece == 0 ? 1 : 0)) * heads + h; };
    HeadPart<kDim> sum;
    for (int begin = 0; begin < count; begin += kAtOnce) {
      HeadColumns<kDim> parts[kAtOnce];
      const int some = min_of(kAtOnce, count - begin);
      const float own = lane < some ? __ldcg(lse() + row(begin + lane)) : -INFINITY;  // of piece `lane`
#pragma unroll
      for (int u = 0; u < kAtOnce; u += kStep) {
        if (u >= some) break;
#pragma unroll
        for (int i = u; i < u + kStep; ++i)  // beyond the last: the last again, with weight 0
          parts[i] = load_columns(row(begin + min_of(i, some - 1)), lane);
      }
      float top = own;
      for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFU, top, d));
      const float m = fmaxf(sum.m, top), alpha = exp2_approx(sum.m - m), weight_own = exp2_approx(own - m);
      sum.m = m;
      sum.l *= alpha;
      sum.scale(alpha);
#pragma unroll
      for (int u = 0; u < kAtOnce; u += kStep) {
        if (u >= some) break;
#pragma unroll
        for (int i = u; i < u + kStep; ++i) {
          const float weight = __shfl_sync(0xFFFFFFFFU, weight_own, i);
          sum.l += weight;
          sum.add(weight, parts[i]);
        }
      }
    }
    return sum;
  }

 private:
  __device__ HeadColumns<kDim> load_columns(int row, int lane) const {
    const float* from = o + static_cast<std::int64_t>(row) * kDim + lane * HeadColumns<kDim>::kCount;
    if constexpr (kDim == 128) {
      const float4 x = __ldcg(reinterpret_cast<const float4*>(from));
      return {{x.x, x.y, x.z, x.w}};
    } else {
      const float2 x = __ldcg(reinterpret_cast<const float2*>(from));
      return {{x.x, x.y}};
    }
  }
};

template <class T, int kDim>
__device__ inline void write_head(const DecodeParams& p, int b, int h, HeadPart<kDim> part) {
  struct alignas(kDim / 16) Words {
    std::uint32_t pairs[kDim / 64];
  };
  const int lane = threadIdx.x % 32;
  const float lse = part.normalize();
  Words words;
#pragma unroll
  for (int i = 0; i < kDim / 64; ++i) words.pairs[i] = pack_pair<T>(part.o.x[2 * i], part.o.x[2 * i + 1]);
  T* row = static_cast<T*>(p.o) + (static_cast<std::int64_t>(b) * p.num_heads + h) * kDim;
  reinterpret_cast<Words*>(row)[lane] = words;
  if (lane == 0) p.lse[static_cast<std::int64_t>(h) * p.batch + b] = lse * kLn2;
}

/// A sequence that this slice shares with others: it has slices first .. last.
struct CutSequence {
  int b = -1, first = 0, last = 0;
};

/// Merges the warps' states, which lie in shared memory, and writes the result: the output when the slice has
/// the `whole` sequence, else a partial. All warps together; `heads`: see StreamHeads.
template <class T, int kDim, class Shared, class Heads>
__device__ void finish_sequence(const DecodeParams& p, int b, bool whole, int slot,
                                const Partials<kDim>& partials, const Shared& shared, const Heads& heads) {
  __syncthreads();
  for (int g = threadIdx.x / 32; g < heads.count; g += Shared::kWarps) {
    const HeadPart<kDim> part = merge_warps<kDim>(shared, g);
    if (whole) {
      write_head<T>(p, b, heads(g), part);
    } else {
      partials.put(slot, heads(g), part);
    }
  }
}

/// The end of a slice: takes a ticket for each of the (at most two) sequences that it shares; whoever takes
/// the last one of a sequence joins its partials. Each warp for its own heads, by tickets of its own.
/// A fence waits for every copy that is under way: this is called when there is none.
template <class T, int kWarps, int kDim, class Heads>
__device__ void join_cut_sequences(const DecodeParams& p, const CutSequence& by_start,
                                   const CutSequence& by_end, const Partials<kDim>& partials,
                                   const Heads& heads, int group) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warps = min_of(kWarps, min_of(kL3DecodeRows, group));  // with heads
  if (warp >= heads.count || (by_start.b < 0 && by_end.b < 0)) return;
  const auto ticket_of = [&](int b) {
    return (static_cast<std::int64_t>(b) * gridDim.x + blockIdx.x) * warps + warp;
  };
  __syncwarp();
  int comes_last = 0;
  const CutSequence own = lane == 0 ? by_start : by_end;
  if (lane < 2 && own.b >= 0) {
    fence_gpu();  // what the warp wrote is out before anybody can see the ticket
    comes_last =
        atomicAdd(p.tickets + ticket_of(own.b), 1U) == static_cast<std::uint32_t>(own.last - own.first);
    if (comes_last) fence_gpu();
  }
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
    if (!__shfl_sync(0xFFFFFFFFU, comes_last, i)) continue;
    const CutSequence ended = i == 0 ? by_start : by_end;
    for (int g = warp; g < heads.count; g += kWarps)
      write_head<T>(p, ended.b, heads(g), partials.merge(ended.first, ended.last, heads(g)));
    if (lane == 0) p.tickets[ticket_of(ended.b)] = 0;
  }
}

}  // namespace attn::ATTN_BACKEND
