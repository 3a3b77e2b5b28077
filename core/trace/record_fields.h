// The one list of fields of every recorded struct; ByteWriter and ByteReader (binary.h) both walk it.
// Adding, removing or reordering a field changes the file: raise kTraceVersion (chunk_file.h) with it.
#pragma once

#include <concepts>
#include <type_traits>

#include "core/trace/binary.h"
#include "core/trace/step_record.h"

namespace attn::trace {

/// R is T or const T: one list for both directions.
template <class R, class T>
concept Of = std::same_as<std::remove_const_t<R>, T>;

template <class A, Of<SeqState> R>
void fields(A& a, R& r) {
  a(r.id, r.status, r.num_tokens, r.num_prompt_tokens, r.num_cached_tokens, r.num_scheduled_tokens);
  a(r.block_table, r.token_ids);
}

template <class A, Of<BlockState> R>
void fields(A& a, R& r) {
  a(r.id, r.ref_count, r.hash, r.token_ids, r.num_filled);
}

template <class A, Of<Event> R>
void fields(A& a, R& r) {
  a(r.kind, r.seq_id, r.block_id, r.text);
}

template <class A, Of<TensorRecord> R>
void fields(A& a, R& r) {
  a(r.dtype, r.shape, r.data);
}

template <class A, Of<ShapeNote> R>
void fields(A& a, R& r) {
  a(r.stage, r.layer, r.name, r.dtype, r.shape, r.note);
}

template <class A, Of<LayerRecord> R>
void fields(A& a, R& r) {
  a(r.layer, r.q, r.k, r.v, r.o, r.lse, r.k_cache, r.v_cache);
}

template <class A, Of<Sampled> R>
void fields(A& a, R& r) {
  a(r.seq_id, r.token_id, r.text, r.discarded, r.top_logits);
}

template <class A, Of<Rejected> R>
void fields(A& a, R& r) {
  a(r.id, r.reason);
}

template <class A, Of<Dim3> R>
void fields(A& a, R& r) {
  a(r.x, r.y, r.z);
}

template <class A, Of<LaunchRecord> R>
void fields(A& a, R& r) {
  a(r.kernel, r.grid, r.block, r.shared_bytes, r.bytes, r.flop, r.ms);
}

template <class A, Of<LaunchEntry> R>
void fields(A& a, R& r) {
  a(r.stage, r.layer, r.launch);
}

template <class A, Of<GraphRecord> R>
void fields(A& a, R& r) {
  a(r.bucket, r.eager_reason, r.buckets, r.skips_cache_ops, r.fresh_rows, r.fresh_columns);
  a(r.input_ids, r.positions, r.slot_mapping, r.context_lens, r.block_tables, r.max_abs_o_padding);
}

template <class A, Of<EngineConfig> R>
void fields(A& a, R& r) {
  a(r.block_size, r.num_blocks, r.max_num_seqs, r.max_num_batched_tokens, r.max_model_len, r.prefix_caching);
  a(r.decode_path, r.prefill_path, r.prefill_level, r.decode_level, r.num_splits, r.mask_alignment);
  a(r.free_list, r.free_list_seed, r.policy, r.warmup, r.warmup_identity, r.seed, r.record_layers);
  a(r.cuda_graphs, r.head_map, r.forget_store, r.stale_hash, r.positions_restart, r.cu_seqlens_k_from_q);
  a(r.identity_decode, r.graph_skip_cache_ops, r.k_tile, r.kv_cache, r.repeat_kv, r.scores);
}

/// What opening a trace reads of each step: enough to name tokens and to know who wrote which slot.
template <class A, Of<StepRecord> R>
void head_fields(A& a, R& r) {
  a(r.step, r.kind, r.slot_mapping, r.stored, r.token_texts);
}

template <class A, Of<StepRecord> R>
void fields(A& a, R& r) {
  head_fields(a, r);
  a(r.path, r.config, r.seqs, r.num_scheduled, r.seqs_after);
  a(r.cu_seqlens_q, r.cu_seqlens_k, r.max_seqlen_q, r.max_seqlen_k, r.context_lens, r.block_tables);
  a(r.input_ids, r.positions, r.paged, r.graph);
  a(r.free_blocks, r.hash_to_block, r.blocks);
  a(r.events, r.preempted, r.rejected, r.sampled, r.finished);
  a(r.shapes, r.launches, r.state_hash, r.layers);
}

}  // namespace attn::trace
