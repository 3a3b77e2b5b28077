// How a level 3 decode shares out its work on the device: the key tiles of all sequences, laid end to end,
// are cut into equal slices (idea: stream-K matrix products, flashinfer's one resident wave).
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
__device__ inline int decode_tiles(int keys) { return keys > 0 ? ceil_div(keys, kL3KeyTile) : 1; }

struct DecodeSlice {
  int b = 0, tile = 0;  // where the slice starts: this tile of this sequence
  int first = 0;        // the same, counted from tile 0 of sequence 0
  int count = 0;        // tiles; <= 0: nothing left for this slice
  int length = 0;       // tiles of every slice but the last
};

__device__ inline int decode_keys(const DecodeParams& p, int b) {
  return visible_to(p, attention_seq(p, b), 0);
}

/// All kL3Threads threads of the block together; `scratch` [6] ints of shared memory.
__device__ inline DecodeSlice find_slice(const DecodeParams& p, int slice, int num_slices, int* scratch) {
  const int each = ceil_div(p.batch, kL3Threads), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin_b = min_of(p.batch, threadIdx.x * each), end_b = min_of(p.batch, begin_b + each);
  int own = 0;
  for (int b = begin_b; b < end_b; ++b) own += decode_tiles(decode_keys(p, b));
  int up_to = own;  // sum over the lanes up to this one
  for (int d = 1; d < 32; d *= 2) {
    const int below = __shfl_up_sync(0xFFFFFFFFU, up_to, d);
    if (lane >= d) up_to += below;
  }
  if (lane == 31) scratch[warp] = up_to;
  __syncthreads();
  int total = 0, before = up_to - own;  // tiles of the sequences before this thread's
  for (int w = 0; w < kL3Threads / 32; ++w) {
    if (w < warp) before += scratch[w];
    total += scratch[w];
  }
  DecodeSlice s;
  s.length = ceil_div(total, num_slices);
  if (s.length < kL3MinSliceTiles) s.length = kL3MinSliceTiles;
  s.first = slice * s.length;
  s.count = min_of(s.length, total - s.first);
  if (s.first >= before && s.first < before + own) {  // one thread's sequences hold the start
    int b = begin_b;
    for (int tiles = decode_tiles(decode_keys(p, b)); s.first >= before + tiles;
         tiles = decode_tiles(decode_keys(p, b))) {
      before += tiles;
      ++b;
    }
    scratch[4] = b;
    scratch[5] = s.first - before;
  }
  __syncthreads();
  s.b = scratch[4];
  s.tile = scratch[5];
  return s;
}

/// Walks the tiles of a slice in order, from sequence to sequence. The next sequence's length is fetched
/// while this one is walked.
struct TileCursor {
  int b = 0, tile = 0, tiles = 0;
  int keys = 0, next_keys = 0;  // of sequences b and b + 1

  __device__ TileCursor(const DecodeParams& p, const DecodeSlice& slice) : b(slice.b), tile(slice.tile) {
    keys = decode_keys(p, b);
    tiles = decode_tiles(keys);
    if (b + 1 < p.batch) next_keys = decode_keys(p, b + 1);
  }
  __device__ bool at_last_tile() const { return tile == tiles - 1; }
  __device__ void advance(const DecodeParams& p) {
    if (++tile < tiles || b + 1 == p.batch) return;
    tile = 0;
    ++b;
    keys = next_keys;
    tiles = decode_tiles(keys);
    if (b + 1 < p.batch) next_keys = decode_keys(p, b + 1);
  }
};

}  // namespace attn::ATTN_BACKEND
