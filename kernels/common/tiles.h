// Tile sizes of the level 2 attention kernels, once for the plans (host) and the kernels (device).
#pragma once

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

}  // namespace attn
