// Page addressing, once: the kernels, the plans, the tests and the pool panel all use this struct,
// so the picture cannot disagree with the kernel (idea: flashinfer's paged_kv_t).
#pragma once

#include <cstdint>

#include "kernels/common/host_device.h"

namespace attn {

/// Shape of one layer's cache: k_cache and v_cache are each [num_blocks, block_size, num_kv_heads, head_dim].
struct PagedKv {
  int num_blocks = 0;
  int block_size = 0;
  int num_kv_heads = 0;
  int head_dim = 0;

  /// Slot of logical position `pos` of the sequence whose block_table row is `row`:
  /// row[pos / block_size] * block_size + pos % block_size. 64-bit: slot * row size overflows int32.
  ATTN_HD std::int64_t slot(const std::int32_t* row, int pos) const {
    return static_cast<std::int64_t>(row[pos / block_size]) * block_size + pos % block_size;
  }
  /// Element offset of (slot, kv_head, 0) inside k_cache or v_cache.
  ATTN_HD std::int64_t offset(std::int64_t slot, int kv_head) const {
    return (slot * num_kv_heads + kv_head) * head_dim;
  }
  ATTN_HD std::int64_t num_slots() const { return static_cast<std::int64_t>(num_blocks) * block_size; }
};

}  // namespace attn
