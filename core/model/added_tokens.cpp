#include "core/model/added_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace attn {

namespace {

// A letter of a word as the `tokenizers` library means it (Unicode UTS #18), which is not PCRE2's \w.
constexpr const char* kWordChar = R"([\p{L}\p{Nl}\p{Nd}\p{M}\p{Pc}\x{200C}\x{200D}])";

}  // namespace

std::vector<AddedToken> read_added_tokens(const JsonFields& tokenizer) {
  std::vector<AddedToken> tokens;
  const nlohmann::json* list = tokenizer.find("added_tokens");
  if (!list) return tokens;
  if (!list->is_array()) tokenizer.fail("added_tokens is no list");
  for (const nlohmann::json& item : *list) {
    const JsonFields fields(item, fmt::format("{} (added_tokens {})", tokenizer.where(), tokens.size()));
    AddedToken token;
    token.id = static_cast<std::int32_t>(fields.integer("id", 0, std::numeric_limits<std::int32_t>::max()));
    token.content = fields.text("content");
    token.special = fields.boolean_or("special", false);
    token.normalized = fields.boolean_or("normalized", !token.special);
    token.single_word = fields.boolean_or("single_word", false);
    token.lstrip = fields.boolean_or("lstrip", false);
    token.rstrip = fields.boolean_or("rstrip", false);
    if (token.content.empty()) fields.fail("content is empty");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

AddedTokenSplitter::AddedTokenSplitter(const std::vector<AddedToken>& tokens) {
  for (const bool normalized : {false, true}) {
    std::vector<AddedToken> chosen;
    std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(chosen),
                 [&](const AddedToken& token) { return token.normalized == normalized; });
    if (auto pass = make_pass(std::move(chosen))) passes_.push_back(std::move(*pass));
  }
}

std::optional<AddedTokenSplitter::Pass> AddedTokenSplitter::make_pass(std::vector<AddedToken> tokens) {
  if (tokens.empty()) return std::nullopt;
  // An alternation takes the first branch that fits, so the longest token comes first.
  std::stable_sort(tokens.begin(), tokens.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.content.size() > b.content.size();
  });
  std::string pattern = "(?|";  // every branch counts its group as 1
  std::unordered_map<std::string, std::int32_t> ids;
  for (const AddedToken& token : tokens) {
    if (!ids.empty()) pattern += '|';
    ids.emplace(token.content, token.id);
    if (token.lstrip) pattern += R"(\s*)";
    if (token.single_word) pattern += fmt::format("(?<!{})", kWordChar);
    pattern += '(' + regex_escape(token.content) + ')';
    if (token.single_word) pattern += fmt::format("(?!{})", kWordChar);
    if (token.rstrip) pattern += R"(\s*)";
  }
  return Pass{Regex(pattern + ")", "added_tokens"), std::move(ids)};
}

std::vector<TextPiece> AddedTokenSplitter::split(std::string_view text) const {
  std::vector<TextPiece> pieces = {{text, -1}};
  for (const Pass& pass : passes_) {
    std::vector<TextPiece> next;
    for (const TextPiece& piece : pieces) {
      if (piece.id >= 0) {
        next.push_back(piece);
        continue;
      }
      std::size_t end = 0;
      for (const RegexMatch& match : pass.pattern.matches(piece.text)) {
        next.push_back({piece.text.substr(end, match.whole.begin - end), -1});
        const std::string_view content =
            piece.text.substr(match.group.begin, match.group.end - match.group.begin);
        next.push_back({content, pass.ids.at(std::string(content))});
        end = match.whole.end;
      }
      next.push_back({piece.text.substr(end), -1});
    }
    pieces = std::move(next);
  }
  std::erase_if(pieces, [](const TextPiece& piece) { return piece.text.empty(); });
  return pieces;
}

}  // namespace attn
