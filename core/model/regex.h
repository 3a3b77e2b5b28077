// A compiled PCRE2 pattern over UTF-8 text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Byte range of a text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct RegexMatch {
  Span whole;
  Span group;  // of capture group 1; equal to `whole` when the pattern has none
};

class Regex {
 public:
  /// Unicode classes and case rules. Throws InputError (`where`, the pattern, PCRE2's reason).
  Regex(const std::string& pattern, const std::string& where);

  /// All matches from left to right; they do not overlap. PRECOND: text is valid UTF-8.
  std::vector<RegexMatch> matches(std::string_view text) const;

 private:
  std::shared_ptr<void> code_;  // pcre2_code
  std::string pattern_;
};

/// The pattern that matches `text` itself.
std::string regex_escape(std::string_view text);

}  // namespace attn
