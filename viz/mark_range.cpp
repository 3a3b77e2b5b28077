#include "viz/mark_range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "core/trace/launch_shape.h"

namespace attn::viz {
namespace {

using NameParts = std::vector<std::string_view>;

NameParts name_parts(std::string_view name) {
  NameParts parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<int> mark_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The step, and which of its sequences is looked at.
struct MarkedStep {
  const trace::StepRecord& step;
  const trace::ModelShape& model;
  std::size_t batch = 0;  // place in the batch; num_scheduled: none
  int row = -1;

  bool runs() const { return static_cast<int>(batch) < step.num_scheduled; }
  int blocks() const { return static_cast<int>(step.blocks.size()); }
  int keys() const { return runs() ? trace::attended_columns(step, batch) : 0; }
  int tiles() const {
    const bool kernel = runs() && step.path != trace::AttentionPath::identity;
    return kernel ? trace::planned_grid(step, model, batch, row).tiles() : 0;
  }
};

/// "rows 0 to 8" where the number is not one of them, else "".
std::string unless_counted(std::string_view text, int count, std::string_view what) {
  const std::optional<int> number = mark_number(text);
  if (number && *number >= 0 && *number < count) return {};
  if (count == 0) return fmt::format("it has no {}", what);
  return count == 1 ? fmt::format("of its {} there is 0 alone", what)
                    : fmt::format("its {} are 0 to {}", what, count - 1);
}

struct CountedMark {
  std::string_view prefix;  // of the name, before its number
  std::string_view what;
  int (*count)(const MarkedStep& seen);
};

int count_rows(const MarkedStep& s) { return static_cast<int>(s.step.input_ids.size()); }
int count_keys(const MarkedStep& s) { return s.keys(); }
int count_tiles(const MarkedStep& s) { return s.tiles(); }

constexpr std::array kCounted = {
    CountedMark{"strip/row/", "packed rows", count_rows},
    CountedMark{"strip/cu_seqlens_q/", "flags of cu_seqlens_q",
                [](const MarkedStep& s) { return static_cast<int>(s.step.cu_seqlens_q.size()); }},
    CountedMark{"strip/cu_seqlens_k/", "flags of cu_seqlens_k",
                [](const MarkedStep& s) { return static_cast<int>(s.step.cu_seqlens_k.size()); }},
    CountedMark{"pool/block/", "blocks", [](const MarkedStep& s) { return s.blocks(); }},
    CountedMark{"pool/slot/", "slots",
                [](const MarkedStep& s) { return s.blocks() * s.step.config.block_size; }},
    CountedMark{"free/", "places in the free queue",
                [](const MarkedStep& s) { return static_cast<int>(s.step.free_blocks.size()); }},
    CountedMark{"heads/head/", "query heads", [](const MarkedStep& s) { return s.model.num_heads; }},
    CountedMark{"heads/kv/", "K/V heads", [](const MarkedStep& s) { return s.model.num_kv_heads; }},
    CountedMark{"timeline/layer/", "layers", [](const MarkedStep& s) { return s.model.num_layers; }},
    CountedMark{"timeline/tile/", "key tiles", count_tiles},
    CountedMark{"weights/key/", "keys", count_keys},
    CountedMark{"weights/head/", "query heads", [](const MarkedStep& s) { return s.model.num_heads; }},
    CountedMark{"tiles/score/", "keys", count_keys},
    CountedMark{"tiles/tile/", "key tiles", count_tiles},
    CountedMark{"tiles/row/", "key tiles", count_tiles},
    CountedMark{"tiles/alpha/", "key tiles", count_tiles},
    CountedMark{"tiles/m/", "key tiles", count_tiles},
    CountedMark{"tiles/l/", "key tiles", count_tiles},
    CountedMark{"tiles/o/", "key tiles", count_tiles},
};

/// Marks that are named by the number of a sequence.
constexpr std::array kOfSequence = {"strip/seq/",    "mask/seq/",       "tables/line/",  "tables/cell/",
                                    "requests/seq/", "requests/token/", "timeline/seq/", "weights/mass/"};

const trace::SeqState* marked_sequence(const trace::StepRecord& step, std::string_view text) {
  const std::optional<int> id = mark_number(text);
  const auto found = std::ranges::find_if(step.seqs, [&](const auto& seq) { return id == seq.id; });
  return found == step.seqs.end() ? nullptr : &*found;
}

/// Of a name such as "tables/cell/1/0" the part behind the sequence too.
std::string of_marked_sequence(const NameParts& parts, const trace::StepRecord& step) {
  const trace::SeqState* seq = marked_sequence(step, parts[2]);
  if (seq == nullptr) {
    std::vector<int> ids;
    for (const trace::SeqState& one : step.seqs) ids.push_back(one.id);
    return ids.empty() ? "it has no sequences" : fmt::format("its sequences are {}", fmt::join(ids, ", "));
  }
  if (parts.size() < 4) return {};
  if (parts[0] == "tables")
    return unless_counted(parts[3], static_cast<int>(seq->block_table.size()), "entries of that table");
  // The token that the step samples is there, too.
  const auto after = std::ranges::find(step.seqs_after, seq->id, &trace::SeqState::id);
  const int tokens = after == step.seqs_after.end() ? seq->num_tokens : after->num_tokens;
  return unless_counted(parts[3], std::max(tokens, seq->num_tokens), "tokens of that request");
}

/// "mask/cell/1,4".
std::string of_mask_cell(std::string_view cell, const MarkedStep& seen) {
  const std::size_t comma = std::min(cell.find(','), cell.size());
  const auto b = seen.batch;
  const int count = seen.runs() ? seen.step.cu_seqlens_q[b + 1] - seen.step.cu_seqlens_q[b] : 0;
  std::string wrong = unless_counted(cell.substr(0, comma), count, "query rows");
  if (!wrong.empty()) return wrong;
  return unless_counted(cell.substr(std::min(comma + 1, cell.size())), seen.keys(), "key columns");
}

}  // namespace

std::string marks_instead(std::string_view name, const trace::StepRecord& step,
                          const trace::ModelShape& model, int seq, int row) {
  const auto looked_at = std::ranges::find(step.seqs, seq, &trace::SeqState::id);
  const bool given = seq >= 0 && looked_at != step.seqs.end();
  const MarkedStep seen{step, model, given ? static_cast<std::size_t>(looked_at - step.seqs.begin()) : 0,
                        row};
  const NameParts parts = name_parts(name);
  for (const std::string_view prefix : kOfSequence) {
    if (name.starts_with(prefix)) return of_marked_sequence(parts, step);
  }
  if (name.starts_with("mask/cell/")) return of_mask_cell(parts[2], seen);
  for (const CountedMark& one : kCounted) {
    const std::string_view rest = name.starts_with(one.prefix) ? name.substr(one.prefix.size()) : "";
    // "free/title" and "tiles/m/.." share a beginning with others: a name that is no number is another mark.
    if (!rest.empty() && (mark_number(rest) || one.prefix != "free/"))
      return unless_counted(rest, one.count(seen), one.what);
  }
  return {};
}

}  // namespace attn::viz
