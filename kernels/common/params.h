// Arguments of every launcher. All pointers are device pointers unless said otherwise; every shape is
// row-major; T is the tensor's DType (float, half or bfloat16). N tokens, B sequences, H query heads,
// Hkv key/value heads, D head_dim, bs block_size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/dtype.h"
#include "kernels/common/mask.h"
#include "kernels/common/paged_kv.h"

namespace attn {

/// Writes each token's K and V row to its cache slot; slot -1 is skipped (nano-vllm store_kvcache).
struct StoreKvCacheParams {
  DType dtype = DType::f32;
  int num_tokens = 0;
  PagedKv kv = {};
  const void* k = nullptr;                     // T [N, Hkv, D]
  const void* v = nullptr;                     // T [N, Hkv, D]
  const std::int32_t* slot_mapping = nullptr;  // [N]
  void* k_cache = nullptr;                     // T [num_blocks, bs, Hkv, D]
  void* v_cache = nullptr;                     // T [num_blocks, bs, Hkv, D]
};

/// Paged to dense: copies seqlens[b] rows of each sequence, zero-fills rows up to max_len.
struct GatherKvParams {
  DType dtype = DType::f32;
  int batch = 0;
  int max_len = 0;
  int block_table_width = 0;
  PagedKv kv = {};
  const void* k_cache = nullptr;               // T [num_blocks, bs, Hkv, D]
  const void* v_cache = nullptr;               // T [num_blocks, bs, Hkv, D]
  const std::int32_t* block_tables = nullptr;  // [B, block_table_width], -1 padded
  const std::int32_t* seqlens = nullptr;       // [B]
  void* k_dense = nullptr;                     // T [B, max_len, Hkv, D]
  void* v_dense = nullptr;                     // T [B, max_len, Hkv, D]
  // Optional host hint for the launch record; 0 = unknown, the upper bound from the shapes is used.
  std::int64_t total_k_hint = 0;  // sum of the key lengths
};

/// Dense to packed: concatenates the first (cu_seqlens_k[b+1]-cu_seqlens_k[b]) rows of each sequence.
struct FlattenKvParams {
  DType dtype = DType::f32;
  int batch = 0;
  int max_len = 0;
  int num_kv_heads = 0;
  int head_dim = 0;
  const void* k_dense = nullptr;               // T [B, max_len, Hkv, D]
  const void* v_dense = nullptr;               // T [B, max_len, Hkv, D]
  const std::int32_t* cu_seqlens_k = nullptr;  // [B+1]
  void* k_flat = nullptr;                      // T [cu_seqlens_k[B], Hkv, D]
  void* v_flat = nullptr;                      // T [cu_seqlens_k[B], Hkv, D]
  // Optional host hint for the launch record; 0 = unknown, the upper bound from the shapes is used.
  std::int64_t total_k_hint = 0;  // sum of the key lengths
};

/// repeat_interleave along the head axis: out[r, h, :] = in[r, h / (H/Hkv), :].
struct RepeatKvParams {
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;
  HeadMap head_map = HeadMap::grouped;
  const void* in = nullptr;  // T [rows, Hkv, D]
  void* out = nullptr;       // T [rows, H, D]
};

/// Side buffers an attention kernel fills when its StateProbe is on; null = not wanted. Entries the
/// kernel does not visit (masked keys, columns past a row's length) are left as they were.
struct ProbeBuffers {
  int max_k = 0;                 // columns of scores and weights
  int max_tiles = 0;             // columns of the tile arrays (plan says how many)
  float* scores = nullptr;       // [H, Nq, max_k] scale * q.k
  float* weights = nullptr;      // [H, Nq, max_k] softmax weights
  float* tile_m = nullptr;       // [H, Nq, max_tiles] running max after the tile
  float* tile_l = nullptr;       // [H, Nq, max_tiles] running sum after the tile
  float* tile_alpha = nullptr;   // [H, Nq, max_tiles] rescale applied to the old l and o
  float* tile_o_norm = nullptr;  // [H, Nq, max_tiles] |o| (unnormalised) after the tile
  bool wanted() const { return scores || weights || tile_m || tile_l || tile_alpha || tile_o_norm; }
};

/// Varlen causal attention over packed queries (flash_attn_varlen_func's job). K/V packed when
/// block_tables is null, else read from the paged cache with lengths from cu_seqlens_k.
struct PrefillParams {
  DType dtype = DType::f32;
  int level = 2;  // 1 naive, 2 tiled online softmax, 3 tensor cores, 4 Hopper; level_of says which one runs
  int batch = 0;
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;  // multiple of 8, at most 256
  int total_q = 0;   // cu_seqlens_q[B]
  int max_seqlen_q = 0;
  int max_seqlen_k = 0;
  float scale = 0.0F;  // usually 1/sqrt(D)
  MaskAlignment mask = MaskAlignment::bottom_right;
  HeadMap head_map = HeadMap::grouped;
  const void* q = nullptr;                     // T [Nq, H, D]
  const void* k = nullptr;                     // T [Nk, Hkv, D] packed, or k_cache
  const void* v = nullptr;                     // T [Nk, Hkv, D] packed, or v_cache
  PagedKv kv = {};                             // used when block_tables is set
  const std::int32_t* block_tables = nullptr;  // [B, block_table_width] or null
  int block_table_width = 0;
  const std::int32_t* cu_seqlens_q = nullptr;  // [B+1]
  const std::int32_t* cu_seqlens_k = nullptr;  // [B+1]
  void* o = nullptr;                           // T [Nq, H, D]; rows without a visible key = 0
  float* lse = nullptr;                        // [H, Nq] natural log; -inf for empty rows
  void* workspace = nullptr;                   // plan_prefill(...).workspace_bytes
  std::size_t workspace_bytes = 0;
  // Level 4 hands out its work by counters here: [kPrefillTickets], 0 before and 0 again after each launch,
  // of one stream. Null: a small launch clears the workspace first, which costs 2 us.
  std::uint32_t* tickets = nullptr;
  ProbeBuffers probe = {};
  int k_tile = 0;  // keys per online-softmax tile (level 2); 0 = plan chooses
  // Optional host hints for the launch record; 0 = unknown, the upper bound from the shapes is used.
  std::int64_t total_k_hint = 0;  // sum of the key lengths
  std::int64_t pairs_hint = 0;    // sum of visible (query, key) pairs of one head
};

/// The three ways a decode step can read its context.
enum class DecodeForm : std::uint8_t {
  dense_padded,  // dense K/V, every one of max_len columns attended, zero pads too (the gather variant)
  dense_masked,  // dense K/V, columns >= context_lens[b] excluded
  paged,         // straight from the cache through block_tables
};

/// One query per sequence.
struct DecodeParams {
  DType dtype = DType::f32;
  int level =
      2;  // 1 naive, 2 tiled online softmax, 3 streaming tensor cores (where level_of says so, else 2)
  DecodeForm form = DecodeForm::paged;
  int batch = 0;
  int num_heads = 0;
  int num_kv_heads = 0;  // H after repeat_kv
  int head_dim = 0;
  int max_len = 0;     // dense: columns; paged: max context_len
  int num_splits = 0;  // 0 = let plan_decode choose
  float scale = 0.0F;
  MaskAlignment mask = MaskAlignment::none;  // top_left (break-it) sees key 0 only
  HeadMap head_map = HeadMap::grouped;
  const void* q = nullptr;                     // T [B, H, D]
  const void* k = nullptr;                     // T dense [B, max_len, Hkv, D], or k_cache
  const void* v = nullptr;                     // T dense [B, max_len, Hkv, D], or v_cache
  PagedKv kv = {};                             // paged only
  const std::int32_t* block_tables = nullptr;  // paged: [B, block_table_width]
  int block_table_width = 0;
  const std::int32_t* context_lens = nullptr;  // [B]
  void* o = nullptr;                           // T [B, H, D]
  float* lse = nullptr;                        // [H, B]
  void* workspace = nullptr;                   // plan_decode(...).workspace_bytes
  std::size_t workspace_bytes = 0;
  // Level 3 counts the finished slices of a sequence here: [B * H] at least, 0 before and 0 again after
  // each launch, of one stream. Null: a small launch clears a part of the workspace first, which costs 2 us.
  std::uint32_t* tickets = nullptr;
  ProbeBuffers probe = {};
  int k_tile = 0;  // keys per online-softmax tile (level 2); 0 = plan chooses
  // Optional host hint for the launch record; 0 = unknown, the upper bound from the shapes is used.
  std::int64_t total_k_hint = 0;  // sum of the key lengths
};

/// Merges split-KV partial states; (0, -inf) is neutral, all empty gives o = 0, lse = -inf.
struct MergeStatesParams {
  DType dtype = DType::f32;  // of o
  int num_splits = 0;
  int batch = 0;
  int num_heads = 0;
  int head_dim = 0;
  const float* partial_o = nullptr;    // [S, B, H, D] each normalised
  const float* partial_lse = nullptr;  // [S, H, B] natural log
  void* o = nullptr;                   // T [B, H, D]
  float* lse = nullptr;                // [H, B]
};

struct EmbedParams {
  DType dtype = DType::f32;
  int num_tokens = 0;
  int hidden = 0;
  int vocab = 0;
  const std::int32_t* input_ids = nullptr;  // [N]
  const void* table = nullptr;              // T [vocab, hidden]
  void* out = nullptr;                      // T [N, hidden]
};

/// RMSNorm over the last axis. Also qk_norm: rows = N * heads, width = head_dim (Qwen3).
struct RmsNormParams {
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  int width = 0;
  float eps = 1e-5F;
  const void* in = nullptr;      // T [rows, width]
  const void* weight = nullptr;  // T [width]
  void* out = nullptr;           // T [rows, width]; may equal in
};

/// Half-split (NeoX) rotary embedding in place; cos/sin computed in float.
struct RopeParams {
  DType dtype = DType::f32;
  int num_tokens = 0;
  int num_heads = 0;  // heads of x
  int head_dim = 0;
  const std::int32_t* positions = nullptr;  // [N]
  const float* inv_freq = nullptr;          // [D/2], rope scaling already applied
  void* x = nullptr;                        // T [N, heads, D]
};

/// out = silu(gate) * up, from one row [gate | up].
struct SiluMulParams {
  DType dtype = DType::f32;
  int num_tokens = 0;
  int width = 0;                  // intermediate_size
  const void* gate_up = nullptr;  // T [N, 2 * width]
  void* out = nullptr;            // T [N, width]
};

/// out = a + b (residual); with bias_width > 0, b is one row of that width added to every row.
struct AddParams {
  DType dtype = DType::f32;
  std::int64_t count = 0;
  int bias_width = 0;
  const void* a = nullptr;  // T [count]
  const void* b = nullptr;  // T [count], or T [bias_width]
  void* out = nullptr;      // T [count]; may equal a
};

/// Splits fused rows [q | k | v] or picks rows: out[i, :] = in[rows[i], :] (LM head takes last rows).
struct TakeRowsParams {
  DType dtype = DType::f32;
  int num_rows = 0;
  int width = 0;
  const std::int32_t* rows = nullptr;  // [num_rows]
  const void* in = nullptr;            // T [*, width]
  void* out = nullptr;                 // T [num_rows, width]
};

/// temperature 0 = greedy (lowest id wins ties); else Gumbel-max with a counter-based RNG keyed by
/// (seed, counter[b], token), after optional top_k / top_p filtering. Same on every device.
struct SampleParams {
  int batch = 0;
  int vocab = 0;
  const float* logits = nullptr;           // [B, vocab]
  const float* temperature = nullptr;      // [B]
  const std::int32_t* top_k = nullptr;     // [B], 0 = off; null = off
  const float* top_p = nullptr;            // [B], 1 = off; null = off
  const std::uint64_t* counter = nullptr;  // [B] (request id << 32) + position
  std::uint64_t seed = 0;
  std::int32_t* token_ids = nullptr;  // [B]
};

/// y = x * w^T, row-major, float accumulation: x T [m, k], w T [n, k], y T [m, n] (or float when y_f32).
struct MatmulParams {
  DType dtype = DType::f32;
  int m = 0;
  int n = 0;
  int k = 0;
  const void* x = nullptr;
  const void* w = nullptr;
  void* y = nullptr;
  bool y_f32 = false;
};

}  // namespace attn
