// How a level 3 decode shares out its work on the device: the key tiles of all sequences, laid end to end,
// are cut into equal slices (idea: stream-K matrix products, flashinfer's one resident wave). A tile is what
// the warps of a block take in one step, 16 keys each.
//
//     sequence      0             1    2                 3
//     tiles         | . . . . . | . | . . . . . . . | . . . |
//     slices of 4   |0 0 0 0 1 1|1 1|2 2 2 2 3 3 3 3|...
//
// The host need not know the lengths, so a recorded CUDA graph stays right while contexts grow. A slice meets
// at most two sequences that other slices share: the one its start cuts and the one its end cuts.
#pragma once

#include "kernels/attention/attention_rows.cuh"

namespace attn::ATTN_BACKEND {

/// A sequence without keys takes one tile too: somebody has to write its (0, -inf).
template <int kWarps>
__device__ int decode_tiles(int keys) {
  return keys > 0 ? ceil_div(keys, kWarps * kL3WarpKeys) : 1;
}

__device__ inline int decode_keys(const DecodeParams& p, int b) {
  return visible_to(p, attention_seq(p, b), 0);
}

struct DecodeSlice {
  int b = 0, tile = 0;  // where the slice starts: this tile of this sequence
  int first = 0;        // the same, counted from tile 0 of sequence 0
  int count = 0;        // tiles; <= 0: nothing left for this slice
  int length = 0;       // tiles of every slice but the last

  /// The slice that holds this tile of the line.
  __device__ int slice_of(int line_tile) const { return line_tile / length; }
};

/// Every warp for itself, all 32 lanes: no warp waits for another before its first copies.
template <int kWarps>
__device__ DecodeSlice find_slice(const DecodeParams& p, int slice, int num_slices) {
  const int each = ceil_div(p.batch, 32), lane = threadIdx.x % 32;
  const int begin_b = min_of(p.batch, lane * each), end_b = min_of(p.batch, begin_b + each);
  int own = 0;  // tiles of this lane's sequences
#pragma unroll 1
  for (int b = begin_b; b < end_b; ++b) own += decode_tiles<kWarps>(decode_keys(p, b));
  int up_to = own;  // sum over the lanes up to this one
  for (int d = 1; d < 32; d *= 2) {
    const int below = __shfl_up_sync(0xFFFFFFFFU, up_to, d);
    if (lane >= d) up_to += below;
  }
  const int total = __shfl_sync(0xFFFFFFFFU, up_to, 31);
  constexpr int kMinTiles = ceil_div(kL3MinSliceKeys, kWarps * kL3WarpKeys);
  DecodeSlice s;
  s.length = ceil_div(total, num_slices);
  if (s.length < kMinTiles) s.length = kMinTiles;
  s.first = slice * s.length;
  s.count = min_of(s.length, total - s.first);
  const bool holds_start = s.first >= up_to - own && s.first < up_to;  // one lane's sequences do
  if (holds_start) {
    s.b = begin_b;
    s.tile = s.first - (up_to - own);
#pragma unroll 1
    for (int tiles; s.tile >= (tiles = decode_tiles<kWarps>(decode_keys(p, s.b))); ++s.b) s.tile -= tiles;
  }
  const unsigned holders = __ballot_sync(0xFFFFFFFFU, holds_start);
  const int holder = holders ? __ffs(static_cast<int>(holders)) - 1 : 0;
  s.b = __shfl_sync(0xFFFFFFFFU, s.b, holder);
  s.tile = __shfl_sync(0xFFFFFFFFU, s.tile, holder);
  return s;
}

/// Walks the tiles of a slice in order, from sequence to sequence. The next sequence's length is fetched
/// while this one is walked.
template <int kWarps>
struct TileCursor {
  int b = 0, tile = 0, tiles = 0;
  int keys = 0, next_keys = 0;  // of sequences b and b + 1

  __device__ TileCursor(const DecodeParams& p, const DecodeSlice& slice) : b(slice.b), tile(slice.tile) {
    keys = decode_keys(p, b);
    tiles = decode_tiles<kWarps>(keys);
    if (b + 1 < p.batch) next_keys = decode_keys(p, b + 1);
  }
  __device__ bool at_last_tile() const { return tile == tiles - 1; }
  __device__ void advance(const DecodeParams& p) {
    if (++tile < tiles || b + 1 == p.batch) return;
    tile = 0;
    ++b;
    keys = next_keys;
    tiles = decode_tiles<kWarps>(keys);
    if (b + 1 < p.batch) next_keys = decode_keys(p, b + 1);
  }
};

}  // namespace attn::ATTN_BACKEND
