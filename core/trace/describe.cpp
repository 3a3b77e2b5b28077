#include "core/trace/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/trace/names.h"
#include "core/trace/number_text.h"
#include "core/trace/record_check.h"
#include "core/trace/stolen_mass.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

constexpr std::size_t kHashesShown = 6;  // a full pool would drown the step

using Out = std::back_insert_iterator<std::string>;

/// Token text in quotes, line ends and quotes escaped.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// "0-5, 8-14, -1": runs of consecutive numbers are joined.
std::string runs(const std::vector<std::int32_t>& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (values[i] >= 0 && end < values.size() && values[end] == values[end - 1] + 1) ++end;
    out += out.empty() ? "" : ", ";
    out += end - i > 1 ? fmt::format("{}-{}", values[i], values[end - 1]) : fmt::format("{}", values[i]);
    i = end;
  }
  return out.empty() ? "none" : out;
}

/// "A (0)" where the user named the request, else "0".
std::string seq_name(const Manifest& manifest, int id) {
  const auto i = static_cast<std::size_t>(id);
  if (id < 0 || i >= manifest.request_labels.size()) return fmt::format("{}", id);
  return fmt::format("{} ({})", in_quotes(manifest.request_labels[i]), id);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void describe_seqs(Out out, const Manifest& manifest, const StepRecord& step) {
  for (std::size_t i = 0; i < step.seqs.size(); ++i) {
    const SeqState& seq = step.seqs[i];
    const bool scheduled = i < static_cast<std::size_t>(step.num_scheduled);
    fmt::format_to(out, "- Sequence {}: {}, {} ({} prompt), {} cached, {}; block_table [{}]\n",
                   seq_name(manifest, seq.id), name_of(seq.status), plural(seq.num_tokens, "token"),
                   seq.num_prompt_tokens, seq.num_cached_tokens,
                   scheduled ? fmt::format("{} scheduled", seq.num_scheduled_tokens) : "not in this step",
                   fmt::join(seq.block_table, ", "));
  }
}

void describe_graph(Out out, const GraphRecord& graph) {
  if (graph.bucket == 0) {
    fmt::format_to(out, "- No graph: {}; graphs exist for {} rows\n", graph.eager_reason,
                   fmt::join(graph.buckets, ", "));
    return;
  }
  fmt::format_to(out, "- Graph of {} replayed, {} padding; slot_mapping [{}], context_lens [{}]\n",
                 plural(graph.bucket, "row"), graph.bucket - graph.fresh_rows,
                 fmt::join(graph.slot_mapping, ", "), fmt::join(graph.context_lens, ", "));
  const auto columns = static_cast<std::int64_t>(graph.block_tables.front().size());
  fmt::format_to(out, "- Of {} of its block_tables {} are of this step, the others are stale\n",
                 plural(columns, "column"), graph.fresh_columns);
}

void describe_arrays(Out out, const StepRecord& step) {
  fmt::format_to(out, "- cu_seqlens_q [{}], cu_seqlens_k [{}], max_seqlen_q {}, max_seqlen_k {}\n",
                 fmt::join(step.cu_seqlens_q, ", "), fmt::join(step.cu_seqlens_k, ", "), step.max_seqlen_q,
                 step.max_seqlen_k);
  if (step.context_lens) fmt::format_to(out, "- context_lens [{}]\n", fmt::join(*step.context_lens, ", "));
  fmt::format_to(out, "- positions {}; slot_mapping {}\n", runs(step.positions), runs(step.slot_mapping));
  if (!step.stored) fmt::format_to(out, "- nothing was stored: the graph holds no store_kvcache\n");
  if (step.graph) describe_graph(out, *step.graph);
  if (step.block_tables) {
    fmt::format_to(out, "- block_tables [[{}]]\n", [&] {
      std::vector<std::string> rows;
      for (const auto& row : *step.block_tables) rows.push_back(fmt::format("{}", fmt::join(row, ", ")));
      return fmt::format("{}", fmt::join(rows, "], ["));
    }());
  } else {
    fmt::format_to(out, "- no block_tables: keys are the step's own packed rows\n");
  }
}

/// A tensor case has no engine that keeps a free list and hashes.
void describe_case_pool(Out out, const StepRecord& step) {
  const auto used = std::count_if(step.blocks.begin(), step.blocks.end(),
                                  [](const BlockState& b) { return b.ref_count > 0; });
  if (!step.blocks.empty())
    fmt::format_to(out, "- Cache: {} of {} blocks in block_tables\n", used, step.blocks.size());
}

void describe_pool(Out out, const StepRecord& step) {
  const auto used = std::count_if(step.blocks.begin(), step.blocks.end(),
                                  [](const BlockState& b) { return b.ref_count > 0; });
  const auto cached = std::count_if(step.blocks.begin(), step.blocks.end(),
                                    [](const BlockState& b) { return b.ref_count == 0 && b.hash; });
  const auto shared = std::count_if(step.blocks.begin(), step.blocks.end(),
                                    [](const BlockState& b) { return b.ref_count > 1; });
  fmt::format_to(out,
                 "- Pool after: {} of {} blocks in use ({} shared), {} free but still cached; free list {}\n",
                 used, step.blocks.size(), shared, cached, runs(step.free_blocks));
  std::vector<std::string> entries;
  for (const auto& [hash, block] : step.hash_to_block) {
    if (entries.size() < kHashesShown) entries.push_back(fmt::format("{} -> {}", hash_text(hash), block));
  }
  const std::size_t more = step.hash_to_block.size() - entries.size();
  fmt::format_to(out, "- Hash map, {}: {}{}\n",
                 plural(static_cast<std::int64_t>(step.hash_to_block.size()), "block"),
                 entries.empty() ? "empty" : fmt::format("{}", fmt::join(entries, ", ")),
                 more > 0 ? fmt::format(" and {} more", more) : "");
}

void describe_outcome(Out out, const Manifest& manifest, const StepRecord& step) {
  for (const Sampled& sample : step.sampled) {
    fmt::format_to(out, "- Sampled for {}: token {} {}{}\n", seq_name(manifest, sample.seq_id),
                   sample.token_id, in_quotes(sample.text),
                   sample.discarded ? ", discarded (prompt not finished)" : "");
  }
  for (const Rejected& rejected : step.rejected) {
    fmt::format_to(out, "- Rejected {}: {}\n", seq_name(manifest, rejected.id), rejected.reason);
  }
  if (!step.preempted.empty()) fmt::format_to(out, "- Preempted: {}\n", fmt::join(step.preempted, ", "));
  if (!step.finished.empty()) fmt::format_to(out, "- Finished: {}\n", fmt::join(step.finished, ", "));
  for (const Event& event : step.events) fmt::format_to(out, "- {}: {}\n", name_of(event.kind), event.text);
}

/// The keys of one row, heaviest first, as "12 " king" 0.41".
std::string top_keys(const Store& store, const SeqState& seq, const AttentionView& view, int head, int row,
                     int k_len, int columns, int top) {
  std::vector<int> order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int column) { return std::isnan(view.weight(head, row, column)); });
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return view.weight(head, row, a) > view.weight(head, row, b); });
  const std::size_t visible = order.size();
  order.resize(std::min(visible, static_cast<std::size_t>(top)));
  std::vector<std::string> parts;
  for (const int column : order) {
    const auto i = static_cast<std::size_t>(column);
    std::string token = "pad";
    if (column < k_len)
      token = i < seq.token_ids.size() ? in_quotes(store.token_text(seq.token_ids[i])) : "?";
    parts.push_back(fmt::format("{} {} {:.4f}", column, token, num(view.weight(head, row, column))));
  }
  if (parts.empty() && std::isnan(view.lse[view.at(head, row, 1, 0)])) return "every weight is NaN";
  return parts.empty() ? "no visible key"
                       : fmt::format("{} of {} keys: {}", parts.size(), visible, fmt::join(parts, ", "));
}

}  // namespace

std::string describe_manifest(const Store& store) {
  const Manifest& manifest = store.manifest();
  const ModelShape& model = manifest.model;
  std::string text =
      fmt::format("# {}\n\n", manifest.scenario_name.empty() ? "Trace" : manifest.scenario_name);
  fmt::format_to(
      std::back_inserter(text),
      "Model {} ({}): {} layers, {} heads on {} KV heads, head_dim {}, {}. Device: {}. Pool: {} blocks of "
      "{} tokens. {}.\n",
      model.name, model.architecture, model.num_layers, model.num_heads, model.num_kv_heads, model.head_dim,
      dtype_name(model.dtype), manifest.device, manifest.config.num_blocks, manifest.config.block_size,
      plural(store.num_steps(), "step"));
  if (!store.note().empty()) text += "\n" + store.note() + "\n";
  return text;
}

std::string describe_step(const Store& store, int index) {
  const auto step = store.step(index);
  const bool decode = step->path >= AttentionPath::decode_paged;
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "## Step {}: {} of {}, {}\n\n", step->step, name_of(step->kind),
                 plural(step->num_scheduled, "sequence"),
                 plural(static_cast<std::int64_t>(step->input_ids.size()), "token"));
  fmt::format_to(out, "- Attention path {}, level {}, mask {}; layers recorded: {}\n", name_of(step->path),
                 decode ? step->config.decode_level : step->config.prefill_level,
                 name_of(step->config.mask_alignment), step->layers.size());
  describe_seqs(out, store.manifest(), *step);
  describe_arrays(out, *step);
  const bool engine = !store.manifest().is_tensor_case();
  engine ? describe_pool(out, *step) : describe_case_pool(out, *step);
  describe_outcome(out, store.manifest(), *step);
  fmt::format_to(out, "- State hash {}\n", hash_text(step->state_hash));
  return text;
}

std::string describe_attention(const Store& store, int index, const AttentionView& view, int head, int top) {
  if (head < 0 || head >= view.num_heads) {
    throw InputError(fmt::format("head {} does not exist; choose 0 to {}", head, view.num_heads - 1));
  }
  const auto step = store.step(index);
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "### Attention of step {}, layer {}, head {}\n\n- Kernel {} on {}; path {}\n",
                 view.step, view.layer, head, view.kernel, view.device, name_of(view.path));
  fmt::format_to(out, "- Relaunched output against the recorded one: max |difference| {:g} of max |o| {:g}\n",
                 num(view.max_abs_diff_o), num(view.max_abs_o));
  if (view.path == AttentionPath::identity) return text + "- No weights: the output is q itself\n";
  for (std::size_t b = 0; b < view.k_lens.size(); ++b) {
    const SeqState& seq = step->seqs[b];
    const int row = step->cu_seqlens_q[b + 1] - 1;
    if (row < step->cu_seqlens_q[b] || !view.has_row(row)) continue;  // no query in this step, or not read
    const float lse = view.lse[view.at(head, row, 1, 0)];
    fmt::format_to(out, "- Sequence {}, last query (row {}), lse {:.4f}: {}\n",
                   seq_name(store.manifest(), seq.id), row, num(lse),
                   top_keys(store, seq, view, head, row, view.k_lens[b], view.attended[b], top));
    if (view.path != AttentionPath::decode_gather_padded) continue;
    const StolenMass stolen = stolen_mass(view, static_cast<int>(b), head);
    fmt::format_to(out, "  - {}: stolen mass {:.4f} measured, {:.4f} = P/(Z+P) predicted\n",
                   plural(stolen.pads, "pad"), num(stolen.measured), num(stolen.predicted));
  }
  return text;
}

std::string describe_trace(const Store& store) {
  std::string text = describe_manifest(store);
  for (int index = 0; index < store.num_steps(); ++index) text += "\n" + describe_step(store, index);
  return text;
}

}  // namespace attn::trace
