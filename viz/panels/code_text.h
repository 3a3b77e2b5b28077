// Source lines as coloured pieces and as rows that fit the pane. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "viz/code/source_text.h"

namespace attn::viz {

enum class Ink : unsigned char { plain, keyword, comment, literal };

/// A piece of a line, in bytes (sources are ASCII: one byte is one column).
struct CodePiece {
  int begin = 0;
  int end = 0;
  Ink ink = Ink::plain;
  std::string_view name;  // hover name that the word stands for, "" none
};
std::vector<CodePiece> code_pieces(std::string_view line, bool pseudocode);

/// One row of the pane: a line, or a part of one that is too long.
struct CodeRow {
  int line = 0;
  int begin = 0;  // bytes of the line
  int end = 0;
  int indent = 0;  // columns in front of a continued part
};
std::vector<CodeRow> code_rows(const SourceText& source, int columns);

/// Names whose words occur in those lines, each once, in order.
std::vector<std::string_view> names_in(const SourceText& source, int first, int end);

}  // namespace attn::viz
