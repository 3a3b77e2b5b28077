#include "core/trace/record_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "core/trace/input_check.h"
#include "kernels/common/tiles.h"

namespace attn::trace {
namespace {

constexpr int kMaxSplits = 1 << 16;

using Ints = std::vector<std::int32_t>;
using Shape = std::vector<std::int64_t>;

void check_ids(const Ints& ids, std::int32_t lowest, std::int64_t limit, std::string_view field) {
  for (const std::int32_t id : ids) {
    ATTN_INPUT(id >= lowest && id < limit, "{} holds {}, allowed are {} to {}", field, id, lowest, limit - 1);
  }
}

void check_cu_seqlens(const Ints& cu, std::size_t batch, std::string_view field) {
  ATTN_INPUT(cu.size() == batch + 1 || (batch == 0 && cu.empty()), "{} has {} entries for {} sequences",
             field, cu.size(), batch);
  if (cu.empty()) return;
  ATTN_INPUT(cu[0] == 0, "{} begins with {}, not 0", field, cu[0]);
  for (std::size_t i = 1; i < cu.size(); ++i) {
    ATTN_INPUT(cu[i] >= cu[i - 1], "{} falls from {} to {}", field, cu[i - 1], cu[i]);
  }
}

void check_tensor(const TensorRecord& tensor, const Shape& shape, std::string_view field, int layer) {
  ATTN_INPUT(tensor.shape == shape, "{} of layer {} has shape [{}], expected [{}]", field, layer,
             fmt::join(tensor.shape, ", "), fmt::join(shape, ", "));
  // In floating point: a product of lying extents must not wrap around.
  double bytes = static_cast<double>(dtype_size(tensor.dtype));
  for (const std::int64_t extent : shape) bytes *= static_cast<double>(extent);
  ATTN_INPUT(bytes == static_cast<double>(tensor.data.size()),
             "{} of layer {} has {} bytes, its shape needs {}", field, layer, tensor.data.size(), bytes);
}

void check_batch(const StepRecord& r, std::int64_t num_slots) {
  ATTN_INPUT(r.num_scheduled >= 0 && static_cast<std::size_t>(r.num_scheduled) <= r.seqs.size(),
             "num_scheduled is {} of {} sequences", r.num_scheduled, r.seqs.size());
  const auto batch = static_cast<std::size_t>(r.num_scheduled);
  check_cu_seqlens(r.cu_seqlens_q, batch, "cu_seqlens_q");
  check_cu_seqlens(r.cu_seqlens_k, batch, "cu_seqlens_k");
  const std::size_t tokens = r.cu_seqlens_q.empty() ? 0 : static_cast<std::size_t>(r.cu_seqlens_q.back());
  ATTN_INPUT(r.input_ids.size() == tokens && r.positions.size() == tokens,
             "input_ids has {} and positions {} entries, cu_seqlens_q ends at {}", r.input_ids.size(),
             r.positions.size(), tokens);
  check_ids(r.slot_mapping, -1, num_slots, "slot_mapping");
  int max_q = 0, max_k = 0;
  for (std::size_t b = 0; b < batch; ++b) {
    max_q = std::max(max_q, r.cu_seqlens_q[b + 1] - r.cu_seqlens_q[b]);
    max_k = std::max(max_k, k_len(r, b));
  }
  ATTN_INPUT(r.max_seqlen_q == max_q && r.max_seqlen_k == max_k,
             "max_seqlen_q is {} and max_seqlen_k {}, the batch has {} and {}", r.max_seqlen_q,
             r.max_seqlen_k, max_q, max_k);
  const bool decode = r.path >= AttentionPath::decode_paged;
  if (r.context_lens || decode) {
    ATTN_INPUT(r.context_lens && r.context_lens->size() == batch && tokens == batch,
               "context_lens does not have one entry for each of {} sequences with one query", batch);
    for (std::size_t b = 0; b < batch; ++b) {
      ATTN_INPUT((*r.context_lens)[b] == k_len(r, b), "context_lens[{}] is {}, cu_seqlens_k says {}", b,
                 (*r.context_lens)[b], k_len(r, b));
    }
  }
}

void check_tables(const StepRecord& r) {
  const bool reads_cache = r.path != AttentionPath::identity && r.path != AttentionPath::prefill_packed;
  ATTN_INPUT(r.block_tables || !reads_cache || r.num_scheduled == 0,
             "the path reads the cache but there are no block_tables");
  if (!r.block_tables) return;
  ATTN_INPUT(r.block_tables->size() == static_cast<std::size_t>(r.num_scheduled),
             "block_tables has {} rows for {} sequences", r.block_tables->size(), r.num_scheduled);
  for (std::size_t b = 0; b < r.block_tables->size(); ++b) {
    const Ints& row = (*r.block_tables)[b];
    ATTN_INPUT(row.size() == r.block_tables->front().size(), "block_tables rows differ in width");
    check_ids(row, -1, r.config.num_blocks, "block_tables");
    if (!reads_cache) continue;
    const std::int64_t bs = r.config.block_size;
    const auto needed = static_cast<std::size_t>((k_len(r, b) + bs - 1) / bs);
    ATTN_INPUT(needed <= row.size(), "block_tables row {} has {} blocks, {} keys need {}", b, row.size(),
               k_len(r, b), needed);
    for (std::size_t i = 0; i < needed; ++i) {
      ATTN_INPUT(row[i] >= 0, "block_tables[{}][{}] is -1 but is needed for {} keys", b, i, k_len(r, b));
    }
  }
}

void check_graph(const StepRecord& r) {
  if (!r.graph) return;
  const GraphRecord& g = *r.graph;
  ATTN_INPUT(g.bucket >= 0 && g.fresh_rows >= 0 && g.fresh_rows <= g.bucket && g.fresh_columns >= 0,
             "a graph of {} rows with {} fresh rows and {} fresh columns", g.bucket, g.fresh_rows,
             g.fresh_columns);
  ATTN_INPUT(g.bucket == 0 || g.fresh_rows == r.num_scheduled, "a graph ran {} rows for {} sequences",
             g.fresh_rows, r.num_scheduled);
  const auto rows = static_cast<std::size_t>(g.bucket);
  for (const Ints* array : {&g.input_ids, &g.positions, &g.slot_mapping, &g.context_lens}) {
    ATTN_INPUT(array->size() == rows, "an input of a graph has {} entries for {} rows", array->size(), rows);
  }
  ATTN_INPUT(g.block_tables.size() == rows, "block_tables of a graph has {} rows, not {}",
             g.block_tables.size(), rows);
  for (const Ints& row : g.block_tables) {
    ATTN_INPUT(row.size() == g.block_tables.front().size() &&
                   row.size() >= static_cast<std::size_t>(g.fresh_columns),
               "a row of a graph's block_tables has {} columns, {} are fresh", row.size(), g.fresh_columns);
    check_ids(row, -1, r.config.num_blocks, "block_tables of a graph");
  }
  check_ids(g.slot_mapping, -1, static_cast<std::int64_t>(r.config.num_blocks) * r.config.block_size,
            "slot_mapping of a graph");
}

void check_seqs(const std::vector<SeqState>& seqs, const EngineConfig& config, std::string_view field) {
  for (const SeqState& seq : seqs) {
    check_ids(seq.block_table, 0, config.num_blocks, field);
    ATTN_INPUT(seq.num_tokens >= 0 && seq.num_prompt_tokens >= 0 && seq.num_cached_tokens >= 0 &&
                   seq.num_scheduled_tokens >= 0,
               "{}: sequence {} has a negative count", field, seq.id);
    ATTN_INPUT(seq.token_ids.size() == static_cast<std::size_t>(seq.num_tokens),
               "{}: sequence {} has {} token ids for {} tokens", field, seq.id, seq.token_ids.size(),
               seq.num_tokens);
  }
}

void check_pool(const StepRecord& r) {
  const EngineConfig& config = r.config;
  config.validate();
  // The plan keeps a number of splits that was asked for, and each takes memory.
  ATTN_INPUT(config.num_splits <= kMaxSplits, "num_splits is {}, the most is {}", config.num_splits,
             kMaxSplits);
  ATTN_INPUT((r.blocks.empty() || r.blocks.size() == static_cast<std::size_t>(config.num_blocks)),
             "the pool has {} blocks of {} tokens, the configuration says {} blocks", r.blocks.size(),
             config.block_size, config.num_blocks);
  for (std::size_t i = 0; i < r.blocks.size(); ++i) {
    const BlockState& block = r.blocks[i];
    ATTN_INPUT(block.id == static_cast<int>(i) && block.num_filled >= 0 &&
                   block.num_filled <= config.block_size && block.ref_count >= 0,
               "blocks[{}] is block {}, filled {} of {}, ref_count {}", i, block.id, block.num_filled,
               config.block_size, block.ref_count);
  }
  check_ids(r.free_blocks, 0, config.num_blocks, "free_blocks");
  for (const auto& [hash, block] : r.hash_to_block) check_ids({block}, 0, config.num_blocks, "hash_to_block");
}

void check_layers(const StepRecord& r, const ModelShape& model) {
  if (r.layers.empty()) return;
  const std::int64_t n = r.cu_seqlens_q.empty() ? 0 : r.cu_seqlens_q.back();
  const std::int64_t h = model.num_heads, hkv = model.num_kv_heads, d = model.head_dim;
  ATTN_INPUT(h > 0 && hkv > 0 && h % hkv == 0 && d > 0,
             "layers of a model with {} heads, {} KV heads, head_dim {}", h, hkv, d);
  ATTN_INPUT(d > kMaxHeadDim || r.config.k_tile <= max_k_tile(static_cast<int>(d)),
             "k_tile is {}, head_dim {} leaves room for {}", r.config.k_tile, d,
             max_k_tile(static_cast<int>(d)));
  for (const LayerRecord& layer : r.layers) {
    const int l = layer.layer;
    ATTN_INPUT(l >= 0 && l < model.num_layers, "layer {} of a model with {} layers", l, model.num_layers);
    check_tensor(layer.q, {n, h, d}, "q", l);
    // The engine stores one K/V row per query; a tensor case may bring more or none.
    const std::int64_t rows = layer.k.shape.empty() ? 0 : layer.k.shape[0];
    if (!layer.k.shape.empty()) {
      check_tensor(layer.k, {rows, hkv, d}, "k", l);
      check_tensor(layer.v, {rows, hkv, d}, "v", l);
    }
    const std::int64_t packed = r.path == AttentionPath::prefill_packed && n > 0 ? r.cu_seqlens_k.back() : 0;
    const std::int64_t needed = std::max(packed, static_cast<std::int64_t>(r.slot_mapping.size()));
    ATTN_INPUT(rows >= needed, "k of layer {} has {} rows, {} are stored or attended to", l, rows, needed);
    check_tensor(layer.o, {n, h, d}, "o", l);
    ATTN_INPUT(layer.lse.dtype == DType::f32 || layer.lse.shape.empty(), "lse of layer {} is not F32", l);
    if (!layer.lse.shape.empty()) check_tensor(layer.lse, {h, n}, "lse", l);
    for (const TensorRecord* tensor : {&layer.q, &layer.k, &layer.v, &layer.o}) {
      ATTN_INPUT(tensor->dtype == model.dtype || tensor->shape.empty(),
                 "a tensor of layer {} is {}, the model is {}", l, dtype_name(tensor->dtype),
                 dtype_name(model.dtype));
    }
    if (layer.k_cache.shape.empty() && layer.v_cache.shape.empty()) continue;
    const Shape cache{r.config.num_blocks, r.config.block_size, hkv, d};
    check_tensor(layer.k_cache, cache, "k_cache", l);
    check_tensor(layer.v_cache, cache, "v_cache", l);
    ATTN_INPUT(layer.k_cache.dtype == model.dtype && layer.v_cache.dtype == model.dtype,
               "the cache of layer {} is not {}", l, dtype_name(model.dtype));
  }
}

}  // namespace

void check_record(const StepRecord& record, const ModelShape& model) {
  check_pool(record);
  check_batch(record, static_cast<std::int64_t>(record.config.num_blocks) * record.config.block_size);
  check_tables(record);
  check_graph(record);
  check_seqs(record.seqs, record.config, "seqs");
  check_seqs(record.seqs_after, record.config, "seqs_after");
  check_layers(record, model);
}

}  // namespace attn::trace
