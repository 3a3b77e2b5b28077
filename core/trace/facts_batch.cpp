// Facts of the bookkeeping of one step: what the engine passed to the kernels and what became of it.
#include <fmt/format.h>

#include <algorithm>

#include "core/trace/batch_rows.h"
#include "core/trace/fact_scope.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

using Scope = FactScope;
using List = FactValue::List;

FactValue table_of(const std::vector<std::vector<std::int32_t>>& rows) {
  List list;
  for (const auto& row : rows) list.emplace_back(FactValue::list_of(row));
  return list;
}

/// The rows of one sequence of a packed array, or all of it when no sequence is asked for.
FactValue rows_of(const Scope& s, const std::vector<std::int32_t>& packed) {
  if (s.argument().empty()) return FactValue::list_of(packed);
  const std::size_t b = s.batch();
  if (packed.empty()) return List{};
  return FactValue::list_of(std::vector<std::int32_t>(packed.begin() + s.step().cu_seqlens_q[b],
                                                      packed.begin() + s.step().cu_seqlens_q[b + 1]));
}

FactValue labels_of(const Scope& s, const std::vector<int>& ids) {
  List list;
  for (const int id : ids) list.emplace_back(s.label(id));
  return list;
}

FactValue seqs(const Scope& s) {
  List list;
  for (int b = 0; b < s.step().num_scheduled; ++b)
    list.emplace_back(s.label(s.step().seqs[static_cast<std::size_t>(b)].id));
  return list;
}

FactValue context_lens(const Scope& s) {
  if (!s.step().context_lens) throw InputError("the step passes no context_lens");
  return FactValue::list_of(*s.step().context_lens);
}

FactValue block_tables(const Scope& s) {
  if (!s.step().block_tables) throw InputError("the step passes no block_tables");
  return table_of(*s.step().block_tables);
}

FactValue row_owner(const Scope& s) {
  const int row = s.number(s.place().row);
  const std::size_t b = owner_of_row(s.step(), row);
  if (b >= static_cast<std::size_t>(s.step().num_scheduled)) {
    throw InputError(fmt::format("the batch has {} rows", s.step().cu_seqlens_q.back()));
  }
  return fmt::format("{}, position {}", s.label(s.step().seqs[b].id),
                     s.step().positions[static_cast<std::size_t>(row)]);
}

FactValue shapes(const Scope& s) {
  List list;
  for (const ShapeNote& note : s.step().shapes) {
    if (note.name != s.argument() || (note.layer >= 0 && note.layer != s.place().layer)) continue;
    list.emplace_back(FactValue::list_of(note.shape));
  }
  return list;
}

FactValue sampled(const Scope& s) {
  List list;
  for (const Sampled& sample : s.step().sampled) list.emplace_back(sample.token_id);
  return list;
}

FactValue discarded(const Scope& s) {
  return std::ranges::count(s.step().sampled, true, &Sampled::discarded);
}

FactValue sampled_text(const Scope& s) { return s.step().sampled.at(s.batch()).text; }

FactValue rejected(const Scope& s) {
  List list;
  for (const Rejected& one : s.step().rejected) list.emplace_back(s.label(one.id));
  return list;
}

FactValue events(const Scope& s) {
  const auto kind = from_name<EventKind>(s.argument());
  if (!kind)
    throw InputError(fmt::format("there is no event '{}'; known: {}", s.argument(), all_names<EventKind>()));
  return std::ranges::count(s.step().events, *kind, &Event::kind);
}

const GraphRecord& graph_of(const Scope& s) {
  if (!s.step().graph || s.step().graph->bucket == 0) throw InputError("no graph was replayed in this step");
  return *s.step().graph;
}

}  // namespace

std::vector<Fact> batch_facts() {
  using enum FactKind;
  using enum FactArgument;
  return {
      {"kind", text, none, "warmup, prefill or decode",
       [](const Scope& s) -> FactValue { return name_of(s.step().kind); }},
      {"path", text, none, "how attention read its keys: prefill_packed, decode_paged, ...",
       [](const Scope& s) -> FactValue { return name_of(s.step().path); }},
      {"seqs", list, none, "requests that run in this step, in batch order", seqs},
      {"num_seqs", number, none, "how many they are",
       [](const Scope& s) -> FactValue { return s.step().num_scheduled; }},
      {"cu_seqlens_q", list, none, "where each sequence's query rows begin, and the end",
       [](const Scope& s) { return FactValue::list_of(s.step().cu_seqlens_q); }},
      {"cu_seqlens_k", list, none, "the same of keys",
       [](const Scope& s) { return FactValue::list_of(s.step().cu_seqlens_k); }},
      {"max_seqlen_q", number, none, "most query rows of a sequence",
       [](const Scope& s) -> FactValue { return s.step().max_seqlen_q; }},
      {"max_seqlen_k", number, none, "most keys of a sequence",
       [](const Scope& s) -> FactValue { return s.step().max_seqlen_k; }},
      {"context_lens", list, none, "keys of each sequence; decode only", context_lens},
      {"block_tables", list, none, "as passed to the kernels, -1 padded", block_tables},
      {"slot_mapping", list, sequence, "slot that each row is stored in; of one request or of all",
       [](const Scope& s) { return rows_of(s, s.step().slot_mapping); }},
      {"positions", list, sequence, "position of each row; of one request or of all",
       [](const Scope& s) { return rows_of(s, s.step().positions); }},
      {"input_ids", list, sequence, "token of each row; of one request or of all",
       [](const Scope& s) { return rows_of(s, s.step().input_ids); }},
      {"row_owner", text, index, "whose packed row that is, and its position: \"B, position 2\"", row_owner},
      {"lm_head_rows", list, none, "packed rows that reach the LM head",
       [](const Scope& s) { return FactValue::list_of(lm_head_rows(s.step())); }},
      {"q_len", number, sequence, "query rows of a request in this step",
       [](const Scope& s) -> FactValue { return s.q_len(s.batch()); }},
      {"k_len", number, sequence, "keys that it attends to",
       [](const Scope& s) -> FactValue {
         return s.step().cu_seqlens_k[s.batch() + 1] - s.step().cu_seqlens_k[s.batch()];
       }},
      {"cached_len", number, sequence, "k_len - q_len: keys that come from the cache",
       [](const Scope& s) -> FactValue {
         const std::size_t b = s.batch();
         return s.step().cu_seqlens_k[b + 1] - s.step().cu_seqlens_k[b] - s.q_len(b);
       }},
      {"status", text, sequence, "waiting, running or finished, when the step ran",
       [](const Scope& s) -> FactValue { return name_of(s.seq().status); }},
      {"num_tokens", number, sequence, "tokens known when the step ran",
       [](const Scope& s) -> FactValue { return s.seq().num_tokens; }},
      {"num_tokens_after", number, sequence, "the same after it",
       [](const Scope& s) -> FactValue { return s.seq_after().num_tokens; }},
      {"num_cached_tokens", number, sequence, "tokens whose keys were in the cache already",
       [](const Scope& s) -> FactValue { return s.seq().num_cached_tokens; }},
      {"num_scheduled_tokens", number, sequence, "tokens computed in this step",
       [](const Scope& s) -> FactValue { return s.seq().num_scheduled_tokens; }},
      {"block_table", list, sequence, "physical blocks of a request, when the step ran",
       [](const Scope& s) { return FactValue::list_of(s.seq().block_table); }},
      {"shapes", list, name, "every shape that a tensor of that name had, in order", shapes},
      {"sampled", list, none, "token ids, in batch order", sampled},
      {"sampled_text", text, sequence, "the token as text", sampled_text},
      {"discarded", number, none, "samples thrown away because the prompt is not finished", discarded},
      {"preempted", list, none, "requests that gave their blocks back",
       [](const Scope& s) { return labels_of(s, s.step().preempted); }},
      {"finished", list, none, "requests that ended",
       [](const Scope& s) { return labels_of(s, s.step().finished); }},
      {"rejected", list, none, "requests that were refused", rejected},
      {"events", number, name, "events of a kind: prefix_hit, evict, share, ...", events},
      {"graph_rows", number, none, "rows of the replayed graph",
       [](const Scope& s) -> FactValue { return graph_of(s).bucket; }},
      {"graph_slots", list, none, "its slot_mapping, padding rows too",
       [](const Scope& s) { return FactValue::list_of(graph_of(s).slot_mapping); }},
      {"graph_context_lens", list, none, "its context_lens, padding rows too",
       [](const Scope& s) { return FactValue::list_of(graph_of(s).context_lens); }},
      {"graph_padding_o", number, none, "largest |o| of its padding rows",
       [](const Scope& s) -> FactValue { return graph_of(s).max_abs_o_padding; }},
  };
}

}  // namespace attn::trace
