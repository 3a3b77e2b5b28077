#include "viz/panels/code_text.h"

#include <algorithm>
#include <array>

namespace attn::viz {
namespace {

constexpr std::array<std::string_view, 40> kKeywords = {
    "auto",       "bool",    "break",    "class",    "const",  "constexpr", "continue", "default",
    "do",         "else",    "false",    "float",    "for",    "if",        "inline",   "int",
    "namespace",  "nullptr", "return",   "sizeof",   "static", "std",       "struct",   "switch",
    "template",   "this",    "true",     "typename", "using",  "void",      "while",    "__global__",
    "__device__", "float4",  "unsigned", "case",     "public", "private",   "in",       "and"};

// Words of the sources that stand for a name panels know. The engine's members end in "_", which is dropped.
constexpr std::array<std::string_view, 16> kLinkedNames = {"cu_seqlens_q",
                                                           "cu_seqlens_k",
                                                           "context_lens",
                                                           "block_tables",
                                                           "slot_mapping",
                                                           "input_ids",
                                                           "positions",
                                                           "k_cache",
                                                           "v_cache",
                                                           "lse",
                                                           "alpha",
                                                           "scores",
                                                           "k_tile",
                                                           "num_splits",
                                                           "o",
                                                           "q"};

struct Alias {
  std::string_view word;
  std::string_view name;
};
constexpr std::array kAliases = {Alias{"raise", "m"},
                                 Alias{"max_of_row", "m"},
                                 Alias{"normalizer", "l"},
                                 Alias{"partial_lse", "lse"},
                                 Alias{"block_table", "block_tables"},
                                 Alias{"tables", "block_tables"}};

bool word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// m and l are also loop counters: they count as the running maximum and sum where they are members of a
/// state, or in pseudocode.
std::string_view name_of_word(std::string_view line, int begin, std::string_view word, bool pseudocode) {
  if (word == "m" || word == "l") {
    const bool member = begin > 0 && line[static_cast<std::size_t>(begin) - 1] == '.';
    return pseudocode || member ? word : std::string_view();
  }
  if (word.size() > 1 && word.ends_with('_')) word.remove_suffix(1);
  for (const std::string_view name : kLinkedNames) {
    if (word == name) return name;
  }
  for (const Alias& alias : kAliases) {
    if (word == alias.word) return alias.name;
  }
  return {};
}

int end_of_word(std::string_view line, int at) {
  while (at < static_cast<int>(line.size()) && word_char(line[static_cast<std::size_t>(at)])) ++at;
  return at;
}

CodePiece read_word(std::string_view line, int at, bool pseudocode) {
  CodePiece piece{at, end_of_word(line, at), Ink::plain, {}};
  const auto word = line.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(piece.end - at));
  if (word[0] >= '0' && word[0] <= '9') return piece;
  if (std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end())
    piece.ink = Ink::keyword;
  else
    piece.name = name_of_word(line, at, word, pseudocode);
  return piece;
}

int end_of_string(std::string_view line, int at) {
  const auto size = static_cast<int>(line.size());
  int end = at + 1;
  while (end < size && line[static_cast<std::size_t>(end)] != '"')
    end += line[static_cast<std::size_t>(end)] == '\\' ? 2 : 1;
  return std::min(size, end + 1);
}

/// Where to break a line so that at most `columns` stay: behind a blank, comma or bracket of the last half.
int break_at(std::string_view line, int begin, int columns) {
  const int limit = begin + columns;
  for (int at = limit; at > begin + columns / 2; --at) {
    const char before = line[static_cast<std::size_t>(at) - 1];
    if (before == ' ' || before == ',' || before == '(') return at;
  }
  return limit;
}

}  // namespace

std::vector<CodePiece> code_pieces(std::string_view line, bool pseudocode) {
  std::vector<CodePiece> out;
  const auto size = static_cast<int>(line.size());
  const std::string_view comment = pseudocode ? "#" : "//";
  for (int at = 0; at < size;) {
    const auto rest = line.substr(static_cast<std::size_t>(at));
    if (rest.starts_with(comment) || (!pseudocode && at == 0 && rest.starts_with('#'))) {
      out.push_back({at, size, Ink::comment, {}});
      return out;
    }
    if (word_char(rest[0])) {
      out.push_back(read_word(line, at, pseudocode));
    } else if (rest[0] == '"') {
      out.push_back({at, end_of_string(line, at), Ink::literal, {}});
    } else if (!out.empty() && out.back().ink == Ink::plain && out.back().name.empty()) {
      out.back().end = at + 1;
    } else {
      out.push_back({at, at + 1, Ink::plain, {}});
    }
    at = out.back().end;
  }
  return out;
}

std::vector<CodeRow> code_rows(const SourceText& source, int columns) {
  std::vector<CodeRow> out;
  columns = std::max(columns, 16);
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const std::string_view line = source.lines[i];
    const auto size = static_cast<int>(line.size());
    const auto blanks = static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
    int begin = 0, indent = 0;
    while (size - begin > columns - indent) {
      const int end = break_at(line, begin, columns - indent);
      out.push_back({static_cast<int>(i), begin, end, indent});
      begin = end;
      indent = std::min(blanks + 4, columns / 2);
    }
    out.push_back({static_cast<int>(i), begin, size, indent});
  }
  return out;
}

std::vector<std::string_view> names_in(const SourceText& source, int first, int end) {
  std::vector<std::string_view> out;
  for (int i = std::max(0, first); i < std::min(end, static_cast<int>(source.lines.size())); ++i) {
    for (const CodePiece& piece :
         code_pieces(source.lines[static_cast<std::size_t>(i)], source.is_pseudocode())) {
      if (!piece.name.empty() && std::find(out.begin(), out.end(), piece.name) == out.end())
        out.push_back(piece.name);
    }
  }
  return out;
}

}  // namespace attn::viz
