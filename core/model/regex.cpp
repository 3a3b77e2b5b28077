#include "core/model/regex.h"

#include <fmt/format.h>

#include "core/model/utf8.h"
#include "kernels/common/check.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace attn {

namespace {

std::string pcre_message(int error) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

Regex::Regex(const std::string& pattern, const std::string& where) : pattern_(pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  if (!code) {
    throw InputError(
        fmt::format("{}: pattern '{}' cannot be compiled at byte {} ({}); use Perl-style Unicode patterns",
                    where, utf8_printable(pattern), offset, pcre_message(error)));
  }
  code_ =
      std::shared_ptr<void>(code, [](void* pointer) { pcre2_code_free(static_cast<pcre2_code*>(pointer)); });
  // Without a JIT for this machine pcre2_match interprets: slower, same matches.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
}

std::vector<RegexMatch> Regex::matches(std::string_view text) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
      pcre2_match_data_create_from_pattern(code, nullptr), &pcre2_match_data_free);
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data.get());
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());

  std::vector<RegexMatch> found;
  std::size_t from = 0;
  while (from <= text.size()) {
    // The text is known to be valid; checking it again in each call would make a split quadratic.
    int count = pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, data.get(), nullptr);
    if (count == PCRE2_ERROR_JIT_STACKLIMIT) {
      count = pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data.get(),
                          nullptr);
    }
    if (count == PCRE2_ERROR_NOMATCH) break;
    if (count < 0) {
      throw InputError(
          fmt::format("pattern '{}' gives up at byte {} of the text ({}); use a simpler pattern or text",
                      utf8_printable(pattern_), from, pcre_message(count)));
    }
    // \K inside a lookahead can put the start behind the end or before `from`; such a match is none.
    const Span whole = {offsets[0], offsets[1]};
    if (whole.begin < from || whole.end < whole.begin) break;
    const bool grouped = count > 1 && offsets[2] != PCRE2_UNSET;
    found.push_back({whole, grouped ? Span{offsets[2], offsets[3]} : whole});
    // After an empty match go on one character later, or the search would stand still.
    from = whole.end > whole.begin
               ? whole.end
               : whole.end + std::max<std::size_t>(1, utf8_front(text.substr(whole.end)).length);
  }
  return found;
}

std::string regex_escape(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    // A backslash before any ASCII character that is no letter or digit makes it literal.
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') || byte < 0x20 || byte == 0x7F;
    if (!plain) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace attn
