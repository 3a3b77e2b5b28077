// Byte-pair encoding of one word: start with its bytes, merge the pair of neighbours that was learned first,
// again and again, until no pair of neighbours was ever learned.
// Source: Sennrich et al. 2016, arXiv 1508.07909; the byte alphabet is GPT-2's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/json_fields.h"

namespace attn {

class Bpe {
 public:
  /// `model` is the "model" object of tokenizer.json. Throws InputError naming what is wrong with it.
  explicit Bpe(const JsonFields& model);

  /// Appends the ids of a word. A byte that is no token becomes unk_token, or nothing where there is none.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

  /// Every entry of the vocabulary as the file writes it.
  const std::unordered_map<std::string, std::int32_t>& vocab() const { return vocab_; }

 private:
  struct Merge {
    std::int32_t rank;
    std::int32_t id;  // of the two joined
  };
  void read_vocab(const JsonFields& model);
  void read_merges(const JsonFields& model);
  const Merge* find_merge(std::int32_t left, std::int32_t right) const;

  std::unordered_map<std::string, std::int32_t> vocab_;
  std::unordered_map<std::string, std::int32_t>
      words_;                                        // by bytes; only filled when whole words skip the merges
  std::unordered_map<std::uint64_t, Merge> merges_;  // by (left id, right id)
  std::array<std::int32_t, 256> byte_id_ = {};       // -1: the byte is no token
};

}  // namespace attn
