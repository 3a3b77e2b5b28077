#include "core/model/pre_tokenizer.h"

#include <fmt/format.h>

#include <utility>

namespace attn {

namespace {

using nlohmann::json;

// GPT-2's: contractions, then letters, digits or others with one leading space, then whitespace of which the
// last character is left for the next word.
constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct BehaviorName {
  const char* name;
  SplitBehavior behavior;
};
constexpr BehaviorName kBehaviors[] = {{"Removed", SplitBehavior::removed},
                                       {"Isolated", SplitBehavior::isolated},
                                       {"MergedWithPrevious", SplitBehavior::merged_with_previous},
                                       {"MergedWithNext", SplitBehavior::merged_with_next},
                                       {"Contiguous", SplitBehavior::contiguous}};

SplitBehavior read_behavior(const JsonFields& fields) {
  const std::string name = fields.text("behavior");
  for (const BehaviorName& known : kBehaviors) {
    if (name == known.name) return known.behavior;
  }
  fields.fail(fmt::format("behavior '{}' is not known", name));
}

struct Piece {
  Span span;
  bool is_match;
};

/// Matches and the text between them, in order. Empty ones stay: they can stop a merge.
std::vector<Piece> pieces_of(const std::vector<RegexMatch>& matches, std::size_t length, bool invert) {
  std::vector<Piece> pieces;
  std::size_t end = 0;
  for (const RegexMatch& match : matches) {
    if (match.whole.begin > end) pieces.push_back({{end, match.whole.begin}, invert});
    pieces.push_back({match.whole, !invert});
    end = match.whole.end;
  }
  if (end < length) pieces.push_back({{end, length}, invert});
  return pieces;
}

}  // namespace

std::vector<Span> split_spans(const std::vector<RegexMatch>& matches, std::size_t length,
                              SplitBehavior behavior, bool invert) {
  std::vector<Span> spans;
  const Piece* last = nullptr;
  const std::vector<Piece> pieces = pieces_of(matches, length, invert);
  for (const Piece& piece : pieces) {
    bool join = false;  // with the span before
    switch (behavior) {
      case SplitBehavior::removed:
      case SplitBehavior::isolated:
        break;
      case SplitBehavior::merged_with_previous:
        join = last && piece.is_match && !last->is_match;
        break;
      case SplitBehavior::merged_with_next:
        join = last && !piece.is_match && last->is_match;
        break;
      case SplitBehavior::contiguous:
        join = last && piece.is_match == last->is_match;
        break;
    }
    last = &piece;
    if (behavior == SplitBehavior::removed && piece.is_match) continue;
    if (join) {
      spans.back().end = piece.span.end;
    } else {
      spans.push_back(piece.span);
    }
  }
  std::erase_if(spans, [](const Span& span) { return span.begin == span.end; });
  return spans;
}

PreTokenizer::PreTokenizer(const JsonFields& fields) {
  add(fields);
  if (!byte_level_) fields.fail("there is no ByteLevel step; only byte-level BPE is supported");
}

void PreTokenizer::add(const JsonFields& fields) {
  const std::string type = fields.text("type");
  if (byte_level_) fields.fail(fmt::format("'{}' after ByteLevel is not supported", type));
  if (type == "Sequence") {
    const json& list = fields.at("pretokenizers");
    if (!list.is_array()) fields.fail("pretokenizers is no list");
    for (const json& step : list) {
      if (step.is_object() && step.value("type", json()) == "Sequence")
        fields.fail("a Sequence in a Sequence is not supported");
      add({step, fields.where()});
    }
  } else if (type == "Split") {
    add_split(fields);
  } else if (type == "Digits") {
    const bool each = fields.boolean_or("individual_digits", false);
    steps_.push_back({Regex(R"(\p{N})", fields.where()),
                      each ? SplitBehavior::isolated : SplitBehavior::contiguous, false});
  } else if (type == "ByteLevel") {
    add_byte_level(fields);
  } else {
    fields.fail(
        fmt::format("'{}' is not supported; use ByteLevel, Split, Digits or a Sequence of these", type));
  }
}

void PreTokenizer::add_split(const JsonFields& fields) {
  const JsonFields pattern = fields.object("pattern");
  const std::string text =
      pattern.has("String") ? regex_escape(pattern.text("String")) : pattern.text("Regex");
  steps_.push_back({Regex(text, fields.where()), read_behavior(fields), fields.boolean_or("invert", false)});
}

void PreTokenizer::add_byte_level(const JsonFields& fields) {
  byte_level_ = true;
  if (fields.boolean_or("add_prefix_space", true)) prefix_space_before_ = steps_.size();
  if (fields.boolean_or("use_regex", true)) {
    steps_.push_back({Regex(kGpt2Pattern, fields.where()), SplitBehavior::isolated, false});
  }
}

std::vector<std::string> PreTokenizer::words(std::string_view text) const {
  std::vector<std::string> words;
  if (!text.empty()) words.emplace_back(text);
  for (std::size_t step = 0; step <= steps_.size(); ++step) {
    if (step == prefix_space_before_) {
      for (std::string& word : words) {
        if (word.front() != ' ') word.insert(word.begin(), ' ');
      }
    }
    if (step == steps_.size()) break;
    std::vector<std::string> next;
    for (const std::string& word : words) {
      const Step& s = steps_[step];
      for (const Span& span : split_spans(s.pattern.matches(word), word.size(), s.behavior, s.invert)) {
        next.push_back(word.substr(span.begin, span.end - span.begin));
      }
    }
    words = std::move(next);
  }
  return words;
}

}  // namespace attn
