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

using Parts = std::vector<std::string_view>;

Parts parts_of(std::string_view name) {
  Parts parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The step, and which of its sequences is looked at.
struct Seen {
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
  const std::optional<int> number = number_of(text);
  if (number && *number >= 0 && *number < count) return {};
  if (count == 0) return fmt::format("it has no {}", what);
  return count == 1 ? fmt::format("of its {} there is 0 alone", what)
                    : fmt::format("its {} are 0 to {}", what, count - 1);
}

struct Counted {
  std::string_view prefix;  // of the name, before its number
  std::string_view what;
  int (*count)(const Seen& seen);
};

int rows(const Seen& s) { return static_cast<int>(s.step.input_ids.size()); }
int keys(const Seen& s) { return s.keys(); }
int tiles(const Seen& s) { return s.tiles(); }

constexpr std::array kCounted = {
    Counted{"strip/row/", "packed rows", rows},
    Counted{"strip/cu_seqlens_q/", "flags of cu_seqlens_q",
            [](const Seen& s) { return static_cast<int>(s.step.cu_seqlens_q.size()); }},
    Counted{"strip/cu_seqlens_k/", "flags of cu_seqlens_k",
            [](const Seen& s) { return static_cast<int>(s.step.cu_seqlens_k.size()); }},
    Counted{"pool/block/", "blocks", [](const Seen& s) { return s.blocks(); }},
    Counted{"pool/slot/", "slots", [](const Seen& s) { return s.blocks() * s.step.config.block_size; }},
    Counted{"free/", "places in the free queue",
            [](const Seen& s) { return static_cast<int>(s.step.free_blocks.size()); }},
    Counted{"heads/head/", "query heads", [](const Seen& s) { return s.model.num_heads; }},
    Counted{"heads/kv/", "K/V heads", [](const Seen& s) { return s.model.num_kv_heads; }},
    Counted{"timeline/layer/", "layers", [](const Seen& s) { return s.model.num_layers; }},
    Counted{"timeline/tile/", "key tiles", tiles},
    Counted{"weights/key/", "keys", keys},
    Counted{"weights/head/", "query heads", [](const Seen& s) { return s.model.num_heads; }},
    Counted{"tiles/score/", "keys", keys},
    Counted{"tiles/tile/", "key tiles", tiles},
    Counted{"tiles/row/", "key tiles", tiles},
    Counted{"tiles/alpha/", "key tiles", tiles},
    Counted{"tiles/m/", "key tiles", tiles},
    Counted{"tiles/l/", "key tiles", tiles},
    Counted{"tiles/o/", "key tiles", tiles},
};

/// Marks that are named by the number of a sequence.
constexpr std::array kOfSequence = {"strip/seq/",    "mask/seq/",       "tables/line/",  "tables/cell/",
                                    "requests/seq/", "requests/token/", "timeline/seq/", "weights/mass/"};

const trace::SeqState* sequence(const trace::StepRecord& step, std::string_view text) {
  const std::optional<int> id = number_of(text);
  const auto found = std::ranges::find_if(step.seqs, [&](const auto& seq) { return id == seq.id; });
  return found == step.seqs.end() ? nullptr : &*found;
}

/// Of a name such as "tables/cell/1/0" the part behind the sequence too.
std::string of_sequence(const Parts& parts, const trace::StepRecord& step) {
  const trace::SeqState* seq = sequence(step, parts[2]);
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
std::string of_mask_cell(std::string_view cell, const Seen& seen) {
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
  const Seen seen{step, model, given ? static_cast<std::size_t>(looked_at - step.seqs.begin()) : 0, row};
  const Parts parts = parts_of(name);
  for (const std::string_view prefix : kOfSequence) {
    if (name.starts_with(prefix)) return of_sequence(parts, step);
  }
  if (name.starts_with("mask/cell/")) return of_mask_cell(parts[2], seen);
  for (const Counted& one : kCounted) {
    const std::string_view rest = name.starts_with(one.prefix) ? name.substr(one.prefix.size()) : "";
    // "free/title" and "tiles/m/.." share a beginning with others: a name that is no number is another mark.
    if (!rest.empty() && (number_of(rest) || one.prefix != "free/"))
      return unless_counted(rest, one.count(seen), one.what);
  }
  return {};
}

}  // namespace attn::viz
