// Pre-tokenizer: cuts text into the words BPE works on (merges never cross a cut).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/json_fields.h"
#include "core/model/regex.h"

namespace attn {

/// What becomes of the matches of a cut's pattern (names of the `tokenizers` library).
enum class SplitBehavior : std::uint8_t {
  removed,
  isolated,
  merged_with_previous,
  merged_with_next,
  contiguous
};

/// The ranges of a text of `length` bytes that `matches` leave, in order, none empty. `invert`: what lies
/// between the matches counts as match, and the matches as what lies between.
std::vector<Span> split_spans(const std::vector<RegexMatch>& matches, std::size_t length,
                              SplitBehavior behavior, bool invert);

/// "pre_tokenizer" of tokenizer.json: ByteLevel alone, or a Sequence of Split and Digits that ends with it.
class PreTokenizer {
 public:
  /// Throws InputError for anything else.
  explicit PreTokenizer(const JsonFields& fields);

  /// The words of a text, as bytes. PRECOND: text is valid UTF-8.
  std::vector<std::string> words(std::string_view text) const;

 private:
  struct Step {
    Regex pattern;
    SplitBehavior behavior;
    bool invert;
  };
  void add(const JsonFields& fields);
  void add_split(const JsonFields& fields);
  void add_byte_level(const JsonFields& fields);

  std::vector<Step> steps_;
  std::size_t prefix_space_before_ =
      SIZE_MAX;  // index of the step before which words get their leading space
  bool byte_level_ = false;
};

}  // namespace attn
