// The online softmax of one query row and head as the kernel's probe left it, tile by tile. Every number is
// one of the probe's or follows from them by the formula beside it; the two sides of the invariant
// l * exp(m) = sum exp(s) come from different arrays (tile_m, tile_l against scores), so it can fail.
#pragma once

#include <string>
#include <vector>

#include "viz/lookup.h"

namespace attn::viz {

struct TileState {
  int tile = 0;
  int begin = 0;         // first key
  int end = 0;           // one past the last key of the tile that the sequence has (pads included)
  int seen = 0;          // keys of it that this row looked at; the others are masked
  int split = 0;         // of a split-KV decode
  bool first = false;    // nothing came before: the row's (or the split's) first tile
  bool visited = false;  // false: skipped by the kernel, every key is masked
  float m_tile = 0.0F;   // largest of its scores
  float m_old = 0.0F, m_new = 0.0F;
  float alpha = 0.0F;
  float l_old = 0.0F, l_new = 0.0F;
  double sum = 0.0;                  // sum of exp(s - m_new) over the tile's scores
  float o_old = 0.0F, o_new = 0.0F;  // |o|, not yet divided by l
  double log_state = 0.0;            // m + log l, of the kernel's state
  double log_scores = 0.0;           // log of the sum of exp(s) over all keys so far, of the kernel's scores
  double allowed = 0.0;              // relative difference that rounding in float explains

  /// Whether what was accumulated had to be made smaller.
  bool rescale() const { return visited && !first && alpha < 1.0F; }
  /// |l exp(m) - sum exp(s)| / sum exp(s); NaN when either side is.
  double difference() const;
  bool holds() const { return difference() <= allowed; }  // false for NaN
};

struct SplitPart {
  int first_tile = 0;
  int end_tile = 0;
  float lse = 0.0F;     // -inf: no key
  float o_norm = 0.0F;  // |o| of the partial, divided by its own l
  double weight = 0.0;  // exp(LSE_i - LSE)
};

struct TileRow {
  BatchRows rows;
  int head = 0;
  int q_row = 0;  // within the sequence
  int row = 0;    // packed
  int k_tile = 0;
  int num_keys = 0;  // attended by the sequence
  int visible =
      0;  // of them, what the mask lets this row see; a score that is NaN below it is a wrong number
  std::vector<TileState> tiles;
  std::vector<SplitPart> splits;  // empty: not split
  int cursor = -1;                // tile looked at
  bool finished = false;          // no tile is selected: the state after the last one
  float score_min = 0.0F, score_max = 0.0F;
  float l_max = 0.0F, o_max = 0.0F;  // largest of any tile, for axes that do not move while stepping
  float lse = 0.0F;

  const TileState& now() const { return tiles[static_cast<std::size_t>(cursor)]; }
  /// The next rescale behind the cursor, -1 when there is none.
  int next_rescale() const;
  /// Merged by formula from the partials: log of the sum of exp(LSE_i).
  double merged_lse() const;
};

/// Why there are no tiles to show, "" when there are.
std::string tiles_missing(const Frame& frame, const Selection& selection);
/// PRECOND: tiles_missing(...) is "".
TileRow tile_row(const Frame& frame, const Selection& selection);

}  // namespace attn::viz
