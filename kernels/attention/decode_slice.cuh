// How a level 3 decode shares out its work on the device: the key tiles of all sequences, laid end to end,
// are cut into equal slices (idea: stream-K matrix products, flashinfer's one resident wave). A tile is what
// the warps of a block take in one step, 16 keys each.
//
//     sequence      0           1   2               3
//     tiles         | . . . . . | . | . . . . . . . | . . . |
//     slices of 4   | 0 0 0 0 1 | 1 | 1 1 2 2 2 2 3 | 3 3 3 |
//
// The host need not know the lengths, so a recorded CUDA graph stays right while contexts grow. A slice meets
// at most two sequences that other slices share: the one its start cuts and the one its end cuts.
#pragma once

#include "kernels/attention/attention_rows.cuh"
#include "kernels/common/fast_divide.h"

namespace attn::ATTN_BACKEND {

/// A sequence without keys takes one tile too: somebody has to write its (0, -inf).
template <int kWarps>
__device__ int decode_tiles(int keys) {
  return keys > 0 ? ceil_div(keys, kWarps * kL3WarpKeys) : 1;
}

/// Fetched apart from what is computed with it, so that nobody waits for it too early.
__device__ inline int decode_length(const DecodeParams& p, int b) {
  return p.form == DecodeForm::dense_padded ? p.max_len : p.context_lens[b];
}
/// Keys that the query of a sequence of this length sees.
__device__ inline int decode_keys(const DecodeParams& p, int length) {
  length = min_of(length, p.max_len);
  return length <= 0 ? 0 : visible_keys(p.mask, 0, 1, length);
}

/// What a block would divide by before it can start its first copies, known to the host.
struct StreamDivisors {
  int group = 1;        // query heads of a KV head
  int group_tiles = 1;  // of up to 16 of them
  FastDivide by_group_tiles, by_slices;

  StreamDivisors(const DecodeParams& p, int num_slices)
      : group(p.num_heads / p.num_kv_heads),
        group_tiles(ceil_div(group, kL3DecodeRows)),
        by_group_tiles(group_tiles),
        by_slices(num_slices) {}
};

struct DecodeSlice {
  int b = 0, tile = 0;  // where the slice starts: this tile of this sequence
  int keys = 0;         // of this sequence
  int first = 0;        // the same, counted from tile 0 of sequence 0
  int count = 0;        // tiles; <= 0: nothing left for this slice
  int length = 0;       // tiles of every slice but the last

  /// The slice that holds this tile of the line.
  __device__ int slice_of(int line_tile) const { return line_tile / length; }
};

/// Finds slices. Every warp for itself, all 32 lanes: no warp waits for another before its first copies. A
/// lane counts the tiles of its share of the sequences.
template <int kWarps>
class SliceSearch {
 public:
  __device__ explicit SliceSearch(const DecodeParams& p) {
    const int each = ceil_div(p.batch, 32), lane = threadIdx.x % 32;
    begin_b_ = min_of(p.batch, lane * each);
    end_b_ = min_of(p.batch, begin_b_ + each);
    if (begin_b_ < end_b_) first_length_ = decode_length(p, begin_b_);
  }
  __device__ DecodeSlice find(const DecodeParams& p, int slice, int num_slices, FastDivide by_slices) const;

 private:
  int begin_b_, end_b_, first_length_ = 0;
};

template <int kWarps>
__device__ DecodeSlice SliceSearch<kWarps>::find(const DecodeParams& p, int slice, int num_slices,
                                                 FastDivide by_slices) const {
  const int lane = threadIdx.x % 32, first_keys = decode_keys(p, first_length_);
  int own = begin_b_ < end_b_ ? decode_tiles<kWarps>(first_keys) : 0;
#pragma unroll 1
  for (int b = begin_b_ + 1; b < end_b_; ++b)
    own += decode_tiles<kWarps>(decode_keys(p, decode_length(p, b)));
  int up_to = own;  // sum over the lanes up to this one
  for (int d = 1; d < 32; d *= 2) {
    const int below = __shfl_up_sync(0xFFFFFFFFU, up_to, d);
    if (lane >= d) up_to += below;
  }
  const int total = __shfl_sync(0xFFFFFFFFU, up_to, 31);
  constexpr int kMinTiles = ceil_div(kL3MinSliceKeys, kWarps * kL3WarpKeys);
  DecodeSlice s;
  s.length = by_slices.quotient(total + num_slices - 1);
  if (s.length < kMinTiles) s.length = kMinTiles;
  s.first = slice * s.length;
  s.count = min_of(s.length, total - s.first);
  const bool holds_start = s.first >= up_to - own && s.first < up_to;  // one lane's sequences do
  if (holds_start) {
    s.b = begin_b_;
    s.tile = s.first - (up_to - own);
    s.keys = first_keys;
#pragma unroll 1
    for (int tiles; s.tile >= (tiles = decode_tiles<kWarps>(s.keys));
         s.keys = decode_keys(p, decode_length(p, ++s.b)))
      s.tile -= tiles;
  }
  const unsigned holders = __ballot_sync(0xFFFFFFFFU, holds_start);
  const int holder = holders ? __ffs(static_cast<int>(holders)) - 1 : 0;
  s.b = __shfl_sync(0xFFFFFFFFU, s.b, holder);
  s.tile = __shfl_sync(0xFFFFFFFFU, s.tile, holder);
  s.keys = __shfl_sync(0xFFFFFFFFU, s.keys, holder);
  return s;
}

/// Walks the tiles of a slice in order, from sequence to sequence. The next sequence's length is fetched
/// while this one is walked.
template <int kWarps>
struct TileCursor {
  int b = 0, tile = 0, tiles = 0;
  int keys = 0, next_length = 0;  // of sequences b and b + 1

  __device__ TileCursor(const DecodeParams& p, const DecodeSlice& slice)
      : b(slice.b), tile(slice.tile), tiles(decode_tiles<kWarps>(slice.keys)), keys(slice.keys) {
    if (b + 1 < p.batch) next_length = decode_length(p, b + 1);
  }
  __device__ bool at_last_tile() const { return tile == tiles - 1; }
  __device__ void advance(const DecodeParams& p) {
    if (++tile < tiles || b + 1 == p.batch) return;
    tile = 0;
    ++b;
    keys = decode_keys(p, next_length);
    tiles = decode_tiles<kWarps>(keys);
    if (b + 1 < p.batch) next_length = decode_length(p, b + 1);
  }
};

}  // namespace attn::ATTN_BACKEND
