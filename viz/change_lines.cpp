#include "viz/change_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/trace/names.h"
#include "viz/lookup.h"

namespace attn::viz {
namespace {

constexpr int kShortEntries = 3;
constexpr int kTipEntries = 20;

int rank_of(const std::string& where) {
  static constexpr std::string_view kOrder[] = {"sampled",    "step",   "seq ",         "context_lens",
                                                "cu_seqlens", "block ", "block_tables", "slot_mapping"};
  for (std::size_t i = 0; i < std::size(kOrder); ++i) {
    if (where.starts_with(kOrder[i])) return static_cast<int>(i);
  }
  return static_cast<int>(std::size(kOrder));
}

/// "seq 1 token_ids" -> "B token_ids".
std::string readable(const std::string& where, ChangeLine& line) {
  int id = -1;
  int used = 0;
  if (std::sscanf(where.c_str(), "seq %d%n", &id, &used) == 1) {
    line.seq = id;
    return seq_letter(id) + where.substr(static_cast<std::size_t>(used));
  }
  if (std::sscanf(where.c_str(), "block %d", &id) == 1) line.block = id;
  return where;
}

/// "\" the\" (17)", "#17" when its text is unknown.
std::string token_words(const Frame& frame, int id) {
  const std::string label = token_label(frame, id);
  return label == fmt::format("#{}", id) ? label : fmt::format("\"{}\" ({})", label, id);
}

/// "[5, 17]" -> "\"once the\" [5, 17]".
std::string tokens_words(const Frame& frame, const std::string& list) {
  std::string text;
  for (std::size_t at = 0; (at = list.find_first_of("0123456789", at)) != std::string::npos;) {
    text += token_label(frame, static_cast<std::int32_t>(std::strtol(list.c_str() + at, nullptr, 10)));
    at = std::min(list.size(), list.find_first_not_of("0123456789", at));
  }
  return text.empty() ? list : fmt::format("\"{}\" {}", text, list);
}

std::string side(const Frame& frame, const trace::DiffEntry& entry, const std::string& text) {
  if (text.empty()) return "none";
  int id = 0, seq = 0;
  if (entry.where.starts_with("sampled") && std::sscanf(text.c_str(), "token %d for seq %d", &id, &seq) == 2)
    return fmt::format("{} for {}", token_words(frame, id), seq_letter(seq));
  if (entry.what == "token_ids") return tokens_words(frame, text);
  const bool one_token = entry.where.ends_with("token_ids") || entry.where == "input_ids";
  if (!one_token || text.find_first_not_of("0123456789") != std::string::npos) return text;
  return token_words(frame, static_cast<std::int32_t>(std::strtol(text.c_str(), nullptr, 10)));
}

std::string entry_text(const Frame& frame, const trace::DiffEntry& entry) {
  return fmt::format("{}{}{} \xE2\x86\x92 {}", entry.what, entry.what.empty() ? "" : " ",
                     side(frame, entry, entry.before), side(frame, entry, entry.after));
}

void add_entry(const Frame& frame, const trace::DiffEntry& entry, ChangeLine& line) {
  ++line.entries;
  if (line.entries > kTipEntries) return;
  const std::string text = entry_text(frame, entry);
  if (line.entries <= kShortEntries) line.text += (line.text.empty() ? "" : ", ") + text;
  line.all += (line.all.empty() ? "" : "\n") + text;
}

using EntryKey = std::tuple<std::string_view, std::string_view, std::string_view>;

EntryKey key_of(const trace::DiffEntry& entry) { return {entry.where, entry.what, entry.after}; }

}  // namespace

std::vector<ChangeLine> change_lines(const Frame& frame, const trace::StepDiff& diff,
                                     const trace::StepDiff* by_now) {
  std::set<EntryKey> happened;
  if (by_now != nullptr) {
    for (const trace::DiffEntry& entry : by_now->entries) happened.insert(key_of(entry));
  }
  std::vector<ChangeLine> lines;
  std::vector<std::pair<bool, int>> ranks;
  std::map<std::pair<std::string, bool>, std::size_t> places;
  for (const trace::DiffEntry& entry : diff.entries) {
    const bool later = by_now != nullptr && !happened.contains(key_of(entry));
    const auto [it, fresh] = places.emplace(std::pair(entry.where, later), lines.size());
    if (fresh) {
      ChangeLine line;
      line.where = readable(entry.where, line);
      line.later = later;
      lines.push_back(std::move(line));
      ranks.emplace_back(later, rank_of(entry.where));
    }
    add_entry(frame, entry, lines[it->second]);
  }
  for (ChangeLine& line : lines) {
    if (line.entries > kShortEntries)
      line.text = fmt::format("{} changes: {} \xE2\x80\xA6", line.entries, line.text);
    if (line.entries > kTipEntries) line.all += fmt::format("\nand {} more", line.entries - kTipEntries);
  }
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  std::vector<ChangeLine> sorted;
  sorted.reserve(lines.size());
  for (const std::size_t i : order) sorted.push_back(std::move(lines[i]));
  return sorted;
}

std::string place_text(const Frame& frame, const trace::Cursor& cursor) {
  std::string text = fmt::format("step {}", step_number(frame, cursor.index));
  if (frame.history && cursor.index >= 0 && static_cast<std::size_t>(cursor.index) < frame.history->size()) {
    const StepSummary& step = (*frame.history)[static_cast<std::size_t>(cursor.index)];
    text += step.kind == trace::StepKind::decode   ? " D"
            : step.kind == trace::StepKind::warmup ? " warm-up"
                                                   : " P";
  }
  text += fmt::format(", {}", trace::name_of(cursor.stage));
  if (cursor.stage >= trace::Stage::qkv_rope && cursor.stage <= trace::Stage::out_mlp)
    text += fmt::format(", layer {}", cursor.layer);
  if (cursor.stage == trace::Stage::attention) text += fmt::format(", head {}", cursor.head);
  if (cursor.tile >= 0) text += fmt::format(", tile {}", cursor.tile);
  if (cursor.cell >= 0) text += fmt::format(", key {}", cursor.cell);
  return text;
}

}  // namespace attn::viz
