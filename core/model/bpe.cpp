#include "core/model/bpe.h"

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "core/model/byte_level.h"
#include "kernels/common/check.h"

namespace attn {

namespace {

using nlohmann::json;

constexpr std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) |
         static_cast<std::uint32_t>(right);
}

/// ["a", "b"] (since tokenizers 0.20) or "a b".
std::pair<std::string, std::string> read_pair(const JsonFields& model, const json& merge, std::size_t index) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  }
  if (merge.is_string()) {
    const std::string text = merge.get<std::string>();
    const std::size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  }
  model.fail(fmt::format("merge {} is neither \"a b\" nor [\"a\", \"b\"]", index));
}

/// A symbol of the word being merged: a list threaded through an array, so that a merge costs O(1).
struct Symbol {
  std::int32_t id;
  int previous;
  int next;
};

struct QueuedMerge {
  std::int32_t rank;
  int position;     // of the left symbol
  std::int32_t id;  // what the two become; tells a stale entry
  bool operator>(const QueuedMerge& other) const {
    return std::pair(rank, position) > std::pair(other.rank, other.position);
  }
};

}  // namespace

Bpe::Bpe(const JsonFields& model) {
  const std::string type = model.text_or("type", "BPE");
  if (type != "BPE")
    model.fail(fmt::format("model type '{}' is not supported; only byte-level BPE is", type));
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.text_or(affix, "").empty())
      model.fail(fmt::format("{} is not supported; only byte-level BPE is", affix));
  }
  if (model.boolean_or("byte_fallback", false)) {
    model.fail("byte_fallback (SentencePiece) is not supported; only byte-level BPE is");
  }
  read_vocab(model);
  read_merges(model);
  // "dropout" drops merges at random in training; encoding text for a model never does.

  std::int32_t unknown = -1;
  if (model.has("unk_token")) {
    const auto it = vocab_.find(model.text("unk_token"));
    if (it != vocab_.end()) unknown = it->second;
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto it = vocab_.find(byte_level_char(static_cast<unsigned char>(byte)));
    byte_id_[byte] = it == vocab_.end() ? unknown : it->second;
    if (it == vocab_.end() && unknown >= 0 && model.boolean_or("fuse_unk", false)) {
      model.fail("fuse_unk is not supported; use a vocabulary that has all 256 bytes");
    }
  }
  if (model.boolean_or("ignore_merges", false)) {
    for (const auto& [token, id] : vocab_) {
      if (auto bytes = byte_level_bytes(token)) words_.emplace(std::move(*bytes), id);
    }
  }
}

void Bpe::read_vocab(const JsonFields& model) {
  const json& vocab = model.at("vocab");
  if (!vocab.is_object() || vocab.empty()) model.fail("vocab must be an object of tokens and their ids");
  for (const auto& [token, id] : vocab.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max()) {
      model.fail(fmt::format("the id of token '{}' is no whole number from 0 up", token));
    }
    vocab_.emplace(token, id.get<std::int32_t>());
  }
}

void Bpe::read_merges(const JsonFields& model) {
  const json& merges = model.at("merges");
  if (!merges.is_array() || merges.empty()) {
    model.fail("there are no merges; byte-level BPE needs the list of merges it was trained to");
  }
  const auto id_of = [&](const std::string& token, std::size_t index) {
    const auto it = vocab_.find(token);
    if (it == vocab_.end())
      model.fail(fmt::format("merge {} needs token '{}', which is not in the vocabulary", index, token));
    return it->second;
  };
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto [left, right] = read_pair(model, merges[i], i);
    const Merge merge = {static_cast<std::int32_t>(i), id_of(left + right, i)};
    merges_[pair_key(id_of(left, i), id_of(right, i))] = merge;
  }
}

const Bpe::Merge* Bpe::find_merge(std::int32_t left, std::int32_t right) const {
  const auto it = merges_.find(pair_key(left, right));
  return it == merges_.end() ? nullptr : &it->second;
}

void Bpe::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (!words_.empty()) {
    const auto it = words_.find(std::string(word));
    if (it != words_.end()) {
      ids.push_back(it->second);
      return;
    }
  }
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (const char c : word) {
    const std::int32_t id = byte_id_[static_cast<unsigned char>(c)];
    if (id < 0) continue;
    const int position = static_cast<int>(symbols.size());
    symbols.push_back({id, position - 1, position + 1});
  }
  if (symbols.empty()) return;
  symbols.back().next = -1;

  std::priority_queue<QueuedMerge, std::vector<QueuedMerge>, std::greater<>> queue;
  const auto offer = [&](int left) {
    if (left < 0 || symbols[static_cast<std::size_t>(left)].next < 0) return;
    const Symbol& symbol = symbols[static_cast<std::size_t>(left)];
    const Merge* merge = find_merge(symbol.id, symbols[static_cast<std::size_t>(symbol.next)].id);
    if (merge) queue.push({merge->rank, left, merge->id});
  };
  for (int i = 0; i + 1 < static_cast<int>(symbols.size()); ++i) offer(i);
  while (!queue.empty()) {
    const QueuedMerge top = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<std::size_t>(top.position)];
    if (left.id < 0 || left.next < 0) continue;  // merged away, or its neighbour was
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    const Merge* merge = find_merge(left.id, right.id);
    if (!merge || merge->rank != top.rank || merge->id != top.id) continue;  // a neighbour changed since
    left.id = top.id;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = top.position;
    offer(left.previous);
    offer(top.position);
  }
  for (int i = 0; i >= 0; i = symbols[static_cast<std::size_t>(i)].next)
    ids.push_back(symbols[static_cast<std::size_t>(i)].id);
}

}  // namespace attn
