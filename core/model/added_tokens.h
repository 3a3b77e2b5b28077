// Added tokens: strings that are one token wherever they stand in a text, <|endoftext|> and its like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/json_fields.h"
#include "core/model/regex.h"

namespace attn {

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool special = false;      // a control token: decode leaves it out
  bool normalized = false;   // found in a second pass, after the tokens that are not
  bool single_word = false;  // not inside a longer word
  bool lstrip = false;       // takes the whitespace before it along
  bool rstrip = false;       // and after it
};

/// "added_tokens" of tokenizer.json. Throws InputError naming the entry.
std::vector<AddedToken> read_added_tokens(const JsonFields& tokenizer);

/// A stretch of text, or an added token in it.
struct TextPiece {
  std::string_view text;
  std::int32_t id = -1;  // -1: text
};

/// Finds added tokens: leftmost first, the longest of those that begin at one place.
class AddedTokenSplitter {
 public:
  explicit AddedTokenSplitter(const std::vector<AddedToken>& tokens);

  /// PRECOND: text is valid UTF-8.
  std::vector<TextPiece> split(std::string_view text) const;

 private:
  struct Pass {
    Regex pattern;  // group 1 is the token without the whitespace it takes along
    std::unordered_map<std::string, std::int32_t> ids;
  };
  static std::optional<Pass> make_pass(std::vector<AddedToken> tokens);

  std::vector<Pass> passes_;
};

}  // namespace attn
