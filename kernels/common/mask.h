// Which keys a query may see, once for kernels, oracle-free host code and the mask panel.
#pragma once

#include <cstdint>

#include "kernels/common/host_device.h"

namespace attn {

/// Corner that a causal mask hangs from when q_len != k_len. bottom_right is flash-attention since
/// 2.1 and the right one with a cached prefix; top_left is PyTorch's is_causal=True; none sees all.
enum class MaskAlignment : std::uint8_t { bottom_right, top_left, none };

/// How query heads map to KV heads: grouped is h / (H / Hkv) (right); modulo is h % Hkv (the classic bug).
enum class HeadMap : std::uint8_t { grouped, modulo };

/// Number of keys that query row i (0-based in its sequence) sees: keys 0 .. count-1. 0 for empty rows.
ATTN_HD inline int visible_keys(MaskAlignment mask, int i, int q_len, int k_len) {
  int count = k_len;
  if (mask == MaskAlignment::bottom_right) count = i + 1 + k_len - q_len;
  if (mask == MaskAlignment::top_left) count = i + 1;
  if (count < 0) count = 0;
  return count < k_len ? count : k_len;
}

ATTN_HD inline int kv_head_of(HeadMap map, int q_head, int num_heads, int num_kv_heads) {
  return map == HeadMap::grouped ? q_head / (num_heads / num_kv_heads) : q_head % num_kv_heads;
}

}  // namespace attn
