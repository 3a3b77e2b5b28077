// Where the rows of an attention launch live. Prefill and decode are the same mathematics; they differ in
// which query rows there are, which keys each may see, and where those keys lie in memory. That is all in
// this file, so the kernels can be about arithmetic.
#pragma once

#include "kernels/common/device_text.h"
#include "kernels/common/params.h"
#include "kernels/common/tiles.h"

namespace attn::ATTN_BACKEND {

/// Addresses of one sequence's K and V rows: in the paged cache through its block_table row, or at
/// consecutive rows of a packed or dense tensor. 64-bit throughout.
struct KvRows {
  PagedKv shape;                        // packed and dense: only num_kv_heads and head_dim are used
  const std::int32_t* table = nullptr;  // [width] of this sequence; null = consecutive rows
  std::int64_t first_row = 0;           // of this sequence, when consecutive

  /// Element offset of (position, kv_head, 0). Positions at or past the length are never asked for, so
  /// the table's -1 padding is never used.
  __device__ std::int64_t offset(int pos, int kv_head) const {
    return shape.offset(table ? shape.slot(table, pos) : first_row + pos, kv_head);
  }
};

/// One sequence of the batch: its query rows in q and o, and its keys.
struct AttentionSeq {
  std::int64_t first_q = 0;  // packed row of query 0
  int q_len = 0;
  int k_len = 0;  // keys that exist for this launch (pads included when they are attended)
  KvRows kv;
};

/// Varlen: query rows from cu_seqlens_q, lengths of both from the differences. With a block table
/// cu_seqlens_k gives lengths only. A device length beyond the host's maximum is cut to it, so no address is
/// formed past what the launcher checked.
__device__ inline AttentionSeq attention_seq(const PrefillParams& p, int b) {
  AttentionSeq seq;
  seq.first_q = p.cu_seqlens_q[b];
  seq.q_len = min_of(p.cu_seqlens_q[b + 1] - p.cu_seqlens_q[b], p.max_seqlen_q);
  seq.k_len = min_of(p.cu_seqlens_k[b + 1] - p.cu_seqlens_k[b], p.max_seqlen_k);
  if (p.block_tables) {
    seq.kv = {p.kv, p.block_tables + static_cast<std::int64_t>(b) * p.block_table_width, 0};
  } else {
    seq.kv = {{0, 0, p.num_kv_heads, p.head_dim}, nullptr, p.cu_seqlens_k[b]};
  }
  return seq;
}

/// Decode: one query per sequence. dense_padded attends all max_len columns whatever the length.
__device__ inline AttentionSeq attention_seq(const DecodeParams& p, int b) {
  AttentionSeq seq;
  seq.first_q = b;
  seq.q_len = 1;
  seq.k_len = p.form == DecodeForm::dense_padded ? p.max_len : min_of(p.context_lens[b], p.max_len);
  if (p.form == DecodeForm::paged) {
    seq.kv = {p.kv, p.block_tables + static_cast<std::int64_t>(b) * p.block_table_width, 0};
  } else {
    seq.kv = {{0, 0, p.num_kv_heads, p.head_dim}, nullptr, static_cast<std::int64_t>(b) * p.max_len};
  }
  return seq;
}

/// Keys 0 .. n-1 are visible to query i of the sequence; 0 also for a negative length.
template <class Params>
__device__ inline int visible_to(const Params& p, const AttentionSeq& seq, int i) {
  return seq.k_len <= 0 ? 0 : visible_keys(p.mask, i, seq.q_len, seq.k_len);
}

/// Query head number g of a KV head's group: the inverse of kv_head_of.
__device__ inline int q_head_of(HeadMap map, int kv_head, int g, int num_heads, int num_kv_heads) {
  return map == HeadMap::grouped ? kv_head * (num_heads / num_kv_heads) + g : kv_head + g * num_kv_heads;
}

// Sizes under one name for both ops.
ATTN_HD inline std::int64_t num_q_rows(const PrefillParams& p) { return p.total_q; }
ATTN_HD inline std::int64_t num_q_rows(const DecodeParams& p) { return p.batch; }
ATTN_HD inline int max_queries(const PrefillParams& p) { return p.max_seqlen_q; }
ATTN_HD inline int max_queries(const DecodeParams&) { return 1; }
ATTN_HD inline int max_keys(const PrefillParams& p) { return p.max_seqlen_k; }
ATTN_HD inline int max_keys(const DecodeParams& p) { return p.max_len; }

}  // namespace attn::ATTN_BACKEND
