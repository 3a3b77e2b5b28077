#include "core/trace/step_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/trace/batch_rows.h"
#include "core/trace/names.h"
#include "core/trace/tensor_values.h"

namespace attn::trace {
namespace {

template <class T>
std::string text_of(const T& value) {
  return fmt::format("{}", value);
}
std::string text_of(SeqStatus value) { return std::string(name_of(value)); }
std::string text_of(AttentionPath value) { return std::string(name_of(value)); }
std::string text_of(StepKind value) { return std::string(name_of(value)); }
std::string text_of(const std::optional<std::uint64_t>& hash) { return hash ? hash_text(*hash) : "none"; }
std::string text_of(const std::vector<std::int32_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

/// Collects entries; each method adds nothing where both sides are equal.
class Differ {
 public:
  explicit Differ(StepDiff& diff) : diff_(diff) {}

  template <class T>
  bool value(const std::string& where, const std::string& what, const T& before, const T& after) {
    if (before == after) return false;
    diff_.entries.push_back({where, what, text_of(before), text_of(after)});
    return true;
  }

  /// A list entry by entry: what it got is "" before, what it lost "" after.
  bool list(const std::string& where, const std::vector<std::int32_t>& before,
            const std::vector<std::int32_t>& after) {
    bool any = false;
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      const std::string old = i < before.size() ? text_of(before[i]) : "";
      const std::string now = i < after.size() ? text_of(after[i]) : "";
      if (old == now) continue;
      diff_.entries.push_back({where, fmt::format("entry {}", i), old, now});
      any = true;
    }
    return any;
  }

  void entry(DiffEntry entry) { diff_.entries.push_back(std::move(entry)); }

 private:
  StepDiff& diff_;
};

template <class Change>
void diff_seq(Differ& differ, const std::string& where, const SeqState& before, const SeqState& after,
              Change&& change) {
  bool any = differ.value(where, "status", before.status, after.status);
  any |= differ.value(where, "num_tokens", before.num_tokens, after.num_tokens);
  any |= differ.value(where, "num_cached_tokens", before.num_cached_tokens, after.num_cached_tokens);
  any |= differ.list(where + " block_table", before.block_table, after.block_table);
  any |= differ.list(where + " token_ids", before.token_ids, after.token_ids);
  if (any) change();
}

/// Sequences alive after each step, by id.
void diff_seqs(Differ& differ, StepDiff& diff, const StepRecord& before, const StepRecord& after) {
  std::map<int, std::pair<const SeqState*, const SeqState*>> both;
  for (const SeqState& seq : before.seqs_after) both[seq.id].first = &seq;
  for (const SeqState& seq : after.seqs_after) both[seq.id].second = &seq;
  for (const auto& [id, pair] : both) {
    const auto& [old, now] = pair;
    const std::string where = fmt::format("seq {}", id);
    if (old && now) {
      diff_seq(differ, where, *old, *now, [&, seq = id] { diff.seqs.push_back(seq); });
      continue;
    }
    diff.seqs.push_back(id);
    differ.entry({where, "", old ? text_of(old->status) : "", now ? text_of(now->status) : ""});
  }
}

void diff_blocks(Differ& differ, StepDiff& diff, const StepRecord& before, const StepRecord& after) {
  static const BlockState kMissing;
  for (std::size_t i = 0; i < std::max(before.blocks.size(), after.blocks.size()); ++i) {
    const BlockState& old = i < before.blocks.size() ? before.blocks[i] : kMissing;
    const BlockState& now = i < after.blocks.size() ? after.blocks[i] : kMissing;
    const std::string where = fmt::format("block {}", i);
    bool any = differ.value(where, "ref_count", old.ref_count, now.ref_count);
    any |= differ.value(where, "num_filled", old.num_filled, now.num_filled);
    any |= differ.value(where, "hash", old.hash, now.hash);
    any |= differ.value(where, "token_ids", old.token_ids, now.token_ids);
    if (any) diff.blocks.push_back(static_cast<int>(i));
  }
}

void diff_batch(Differ& differ, const StepRecord& before, const StepRecord& after) {
  differ.value("step", "kind", before.kind, after.kind);
  differ.value("step", "path", before.path, after.path);
  differ.list("cu_seqlens_q", before.cu_seqlens_q, after.cu_seqlens_q);
  differ.list("cu_seqlens_k", before.cu_seqlens_k, after.cu_seqlens_k);
  differ.value("max_seqlen_q", "", before.max_seqlen_q, after.max_seqlen_q);
  differ.value("max_seqlen_k", "", before.max_seqlen_k, after.max_seqlen_k);
  static const std::vector<std::int32_t> kNone;
  differ.list("context_lens", before.context_lens ? *before.context_lens : kNone,
              after.context_lens ? *after.context_lens : kNone);
  differ.list("slot_mapping", before.slot_mapping, after.slot_mapping);
  differ.list("input_ids", before.input_ids, after.input_ids);
  differ.list("positions", before.positions, after.positions);
  const auto rows = [](const StepRecord& step) { return step.block_tables ? step.block_tables->size() : 0; };
  for (std::size_t b = 0; b < std::max(rows(before), rows(after)); ++b) {
    differ.list(fmt::format("block_tables[{}]", b), b < rows(before) ? (*before.block_tables)[b] : kNone,
                b < rows(after) ? (*after.block_tables)[b] : kNone);
  }
}

void diff_outcome(Differ& differ, const StepRecord& before, const StepRecord& after) {
  differ.list("free_blocks", before.free_blocks, after.free_blocks);
  std::map<std::uint64_t, std::pair<std::string, std::string>> hashes;
  for (const auto& [hash, block] : before.hash_to_block) hashes[hash].first = text_of(block);
  for (const auto& [hash, block] : after.hash_to_block) hashes[hash].second = text_of(block);
  for (const auto& [hash, blocks] : hashes) {
    if (blocks.first != blocks.second) {
      differ.entry({"hash_to_block", hash_text(hash), blocks.first, blocks.second});
    }
  }
  for (std::size_t i = 0; i < std::max(before.sampled.size(), after.sampled.size()); ++i) {
    const auto text = [i](const StepRecord& step) {
      return i < step.sampled.size()
                 ? fmt::format("token {} for seq {}", step.sampled[i].token_id, step.sampled[i].seq_id)
                 : std::string();
    };
    if (text(before) != text(after)) {
      differ.entry({fmt::format("sampled[{}]", i), "", text(before), text(after)});
    }
  }
}

/// Packed row of a sequence id and its token's place in the sequence: not by `positions`, which a broken run
/// may number otherwise.
std::map<std::pair<int, int>, std::size_t> rows_of(const StepRecord& step) {
  std::map<std::pair<int, int>, std::size_t> rows;
  for (std::size_t b = 0; b + 1 < step.cu_seqlens_q.size() && b < step.seqs.size(); ++b) {
    const int first = step.cu_seqlens_q[b];
    for (int row = first; row < step.cu_seqlens_q[b + 1]; ++row)
      rows[{step.seqs[b].id, step.seqs[b].num_cached_tokens + row - first}] = static_cast<std::size_t>(row);
  }
  return rows;
}

void diff_outputs(StepDiff& diff, const StepRecord& before, const StepRecord& after) {
  const auto rows = rows_of(before), other_rows = rows_of(after);
  diff.rows_before = static_cast<int>(rows.size());
  diff.rows_in_both = static_cast<int>(
      std::ranges::count_if(rows, [&](const auto& row) { return other_rows.contains(row.first); }));
  for (const LayerRecord& layer : before.layers) {
    const LayerRecord* other = find_layer(after, layer.layer);
    if (!other) continue;
    const std::vector<float> old = to_floats(layer.o), now = to_floats(other->o);
    const std::size_t width = rows.empty() ? 0 : old.size() / rows.size();
    double largest = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [place, row] : rows) {
      const auto found = other_rows.find(place);
      if (found == other_rows.end() || width == 0) continue;
      if ((row + 1) * width > old.size() || (found->second + 1) * width > now.size()) continue;
      for (std::size_t i = 0; i < width; ++i) {
        const float a = old[row * width + i], b = now[found->second * width + i];
        double difference = std::abs(static_cast<double>(a) - static_cast<double>(b));
        if (std::isnan(difference)) {
          difference = std::isnan(a) && std::isnan(b) ? 0.0 : std::numeric_limits<double>::infinity();
        }
        if (!(difference <= largest)) largest = difference;
      }
    }
    diff.layers.push_back(layer.layer);
    diff.max_abs_diff_o.push_back(largest);
  }
}

}  // namespace

std::optional<double> StepDiff::max_abs_diff_of(int layer) const {
  const auto found = std::ranges::find(layers, layer);
  if (found == layers.end()) return std::nullopt;
  return max_abs_diff_o[static_cast<std::size_t>(found - layers.begin())];
}

StepDiff diff_steps(const StepRecord& before, const StepRecord& after) {
  StepDiff diff;
  diff.before = before.step;
  diff.after = after.step;
  Differ differ(diff);
  diff_batch(differ, before, after);
  diff_seqs(differ, diff, before, after);
  diff_blocks(differ, diff, before, after);
  diff_outcome(differ, before, after);
  diff_outputs(diff, before, after);
  return diff;
}

}  // namespace attn::trace
