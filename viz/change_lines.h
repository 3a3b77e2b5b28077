// The difference of two steps as lines to read: entries of one place together, names as the screen writes
// them, tokens as text.
#pragma once

#include <string>
#include <vector>

#include "viz/frame.h"

namespace attn::viz {

struct ChangeLine {
  std::string where;  // "block 3", "B block_table", "free_blocks"
  std::string text;   // "ref_count 1 -> 2, num_filled 3 -> 4"
  std::string all;    // every entry, one a line, for the tooltip; a long list is cut and says so
  int block = -1;     // that it is about
  int seq = -1;
  int entries = 0;
  bool later = false;  // still to come in the step
};

/// Sampled tokens first, then sequences, lengths, blocks and lists. With `by_now`, the difference up to the
/// stage at the cursor: what of `diff` is not in it comes last, as lines of its own.
std::vector<ChangeLine> change_lines(const Frame& frame, const trace::StepDiff& diff,
                                     const trace::StepDiff* by_now = nullptr);

/// "step 3, attention, layer 1, head 2, tile 0" as far as the cursor goes.
std::string place_text(const Frame& frame, const trace::Cursor& cursor);

}  // namespace attn::viz
