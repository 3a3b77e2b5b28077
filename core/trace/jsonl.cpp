#include "core/trace/jsonl.h"

#include <nlohmann/json.hpp>

#include "core/trace/names.h"

namespace attn::trace {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson seq_json(const SeqState& seq) {
  return {{"id", seq.id},
          {"status", name_of(seq.status)},
          {"num_tokens", seq.num_tokens},
          {"num_prompt_tokens", seq.num_prompt_tokens},
          {"num_cached_tokens", seq.num_cached_tokens},
          {"num_scheduled_tokens", seq.num_scheduled_tokens},
          {"block_table", seq.block_table}};
}

OrderedJson block_json(const BlockState& block) {
  return {{"id", block.id},
          {"ref_count", block.ref_count},
          {"hash", block.hash ? OrderedJson(hash_text(*block.hash)) : OrderedJson()},
          {"num_filled", block.num_filled}};
}

/// nano-vllm's graph_vars, rows and columns beyond the fresh ones included.
OrderedJson graph_json(const GraphRecord& graph) {
  OrderedJson json{{"bucket", graph.bucket}, {"buckets", graph.buckets}};
  if (graph.bucket == 0) {
    json["eager_reason"] = graph.eager_reason;
    return json;
  }
  json["padding_rows"] = graph.bucket - graph.fresh_rows;
  json["fresh_columns"] = graph.fresh_columns;
  json["skips_cache_ops"] = graph.skips_cache_ops;
  json["input_ids"] = graph.input_ids;
  json["positions"] = graph.positions;
  json["slot_mapping"] = graph.slot_mapping;
  json["context_lens"] = graph.context_lens;
  json["block_tables"] = graph.block_tables;
  return json;
}

/// An array with one object per element; nlohmann would take a list of pairs for an object.
template <class T, class F>
OrderedJson array_of(const std::vector<T>& items, F&& to_json) {
  OrderedJson array = OrderedJson::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

template <class T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

}  // namespace

std::string to_json_line(const StepRecord& r) {
  OrderedJson line;
  line["step"] = r.step;
  line["kind"] = name_of(r.kind);
  line["seqs"] = array_of(r.seqs, seq_json);
  line["cu_seqlens_q"] = r.cu_seqlens_q;
  line["cu_seqlens_k"] = r.cu_seqlens_k;
  line["max_seqlen_q"] = r.max_seqlen_q;
  line["max_seqlen_k"] = r.max_seqlen_k;
  line["context_lens"] = or_null(r.context_lens);
  line["block_tables"] = or_null(r.block_tables);
  line["slot_mapping"] = r.slot_mapping;
  line["input_ids"] = r.input_ids;
  line["positions"] = r.positions;
  line["paged"] = r.paged;
  if (r.graph) line["graph"] = graph_json(*r.graph);
  line["free_blocks"] = r.free_blocks;
  line["hash_to_block"] = OrderedJson::object();
  for (const auto& [hash, block] : r.hash_to_block) line["hash_to_block"][hash_text(hash)] = block;
  line["blocks"] = array_of(r.blocks, block_json);
  line["preempted"] = r.preempted;
  line["rejected"] = array_of(r.rejected, [](const Rejected& rejected) {
    return OrderedJson{{"id", rejected.id}, {"reason", rejected.reason}};
  });
  line["sampled"] = OrderedJson::array();
  for (const Sampled& sample : r.sampled) {
    if (sample.discarded) continue;
    line["sampled"].push_back({{"id", sample.seq_id}, {"token_id", sample.token_id}, {"text", sample.text}});
  }
  line["finished"] = r.finished;
  return line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace attn::trace
