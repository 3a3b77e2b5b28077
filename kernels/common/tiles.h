// Tile sizes of the attention kernels of levels 2, 3 and 4, once for the plans (host) and the kernels
// (device).
#pragma once

#include <cstddef>

#include "kernels/common/host_device.h"

namespace attn {

ATTN_HD constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
ATTN_HD constexpr int min_of(int a, int b) { return a < b ? a : b; }

constexpr int kMaxHeadDim = 256;
constexpr int kAttentionThreads = 128;

/// Kernels are compiled for head_dim up to 64, 128 and 256; this is the bucket a head_dim falls into.
ATTN_HD constexpr int head_dim_bucket(int head_dim) {
  return head_dim <= 64 ? 64 : head_dim <= 128 ? 128 : 256;
}

/// Largest k_tile: keys whose K (then V) rows lie in shared memory as floats at once. 64 rows of 128
/// floats are 33 KiB, as are 32 rows of 256: three or four blocks fit on one SM.
ATTN_HD constexpr int max_k_tile(int head_dim) { return head_dim <= 128 ? 64 : 32; }

constexpr int kPrefillQTile = 16;                                 // query rows of one block
constexpr int kPrefillLanes = kAttentionThreads / kPrefillQTile;  // threads that share a row
constexpr int kDecodeHeads = 8;                                   // query heads of one block, at most

/// Rows of the K/V tile in shared memory are padded by 4 floats: threads that read the same column of
/// 8 consecutive rows as float4 then hit 8 different groups of 4 banks.
ATTN_HD constexpr int tile_stride(int head_dim) { return head_dim + 4; }

// Level 3: tensor-core kernels. Fixed tiles, since fragments are registers.
constexpr int kL3KeyTile = 64;        // prefill: keys of one step
constexpr int kL3Threads = 128;       // 4 warps
constexpr int kL3QueryTile = 128;     // prefill: query rows of a block, 32 a warp
constexpr int kL3DecodeRows = 16;     // decode: query heads of a block, at most
constexpr int kL3WarpKeys = 16;       // decode: keys of a step that one warp streams
constexpr int kL3DecodeStages = 2;    // decode: steps that a warp has in flight or in use
constexpr int kL3MinSliceKeys = 128;  // decode: no slice is shorter, the merge would cost more than it brings

/// Decode: a row of the warps' outputs is padded, so that the heads of a column lie in different banks.
ATTN_HD constexpr int l3_decode_output_row(int head_dim) { return head_dim + 4; }
/// Decode: shared memory of a block for `heads` query heads: of each warp two stages of 16 rows of K, 16 of V
/// and q (16-bit values), and its (m, l, o).
ATTN_HD constexpr std::size_t l3_decode_shared_bytes(int head_dim, int heads, int warps) {
  return static_cast<std::size_t>(warps) * (2U * kL3DecodeStages * (2 * kL3WarpKeys + heads) * head_dim +
                                            4U * heads * (l3_decode_output_row(head_dim) + 2));
}

// Level 4 (Hopper): 64 query rows a computing warpgroup; more of them where their registers suffice.
ATTN_HD constexpr int l4_query_tile(int head_dim) { return head_dim == 64 ? 192 : 128; }
constexpr int kL4KeyTile = 128;
constexpr int kPrefillTickets = 2;  // counters that its blocks share

}  // namespace attn
