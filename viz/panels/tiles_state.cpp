#include "viz/panels/tiles_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/trace/tile_splits.h"

namespace attn::viz {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

/// log(exp(a) + exp(b)), where -inf is the sum of nothing.
double log_add(double a, double b) {
  const double high = std::max(a, b);
  if (std::isinf(high) && high < 0.0) return high;
  return high + std::log(std::exp(a - high) + std::exp(b - high));
}

/// Scores of a tile: how many the row looked at, their maximum, and the sum of exp(s - maximum).
struct TileScores {
  int seen = 0;
  float max = kNone;
  double sum = 0.0;
};

TileScores read_scores(const trace::AttentionView& view, const TileRow& row, int begin, int end) {
  TileScores out;
  end = std::min(end, row.visible);
  for (int k = begin; k < end; ++k) {
    ++out.seen;
    out.max = std::fmax(out.max, view.score(row.head, row.row, k));
  }
  for (int k = begin; k < end; ++k)
    out.sum += std::exp(static_cast<double>(view.score(row.head, row.row, k)) - out.max);
  return out;
}

/// Sums of n floats, rounded scores under exp, and an exp good to a few last places.
double rounding_of(int keys, float largest_score) {
  constexpr double kEps = std::numeric_limits<float>::epsilon();
  return kEps * (8.0 + keys + 2.0 * std::abs(static_cast<double>(largest_score)));
}

void fill_tile(const trace::AttentionView& view, const TileRow& row, const TileState* before,
               TileState& tile) {
  const std::size_t at = view.tile_at(row.head, row.row, tile.tile);
  const TileScores scores = read_scores(view, row, tile.begin, tile.end);
  tile.seen = scores.seen;
  tile.visited = !std::isnan(view.tile_m[at]);
  tile.m_tile = scores.max;
  tile.m_old = before ? before->m_new : kNone;
  tile.l_old = before ? before->l_new : 0.0F;
  tile.o_old = before ? before->o_new : 0.0F;
  const double sum_before = before ? before->log_scores : kNone;
  if (!tile.visited) {  // the state stays what it was
    tile.m_new = tile.m_old;
    tile.l_new = tile.l_old;
    tile.o_new = tile.o_old;
    tile.alpha = 1.0F;
  } else {
    tile.m_new = view.tile_m[at];
    tile.l_new = view.tile_l[at];
    tile.o_new = view.tile_o_norm[at];
    tile.alpha = view.tile_alpha[at];
    tile.sum = scores.seen > 0 ? scores.sum * std::exp(static_cast<double>(scores.max) - tile.m_new) : 0.0;
  }
  tile.log_state = static_cast<double>(tile.m_new) + std::log(static_cast<double>(tile.l_new));
  tile.log_scores = scores.seen > 0 ? log_add(sum_before, scores.max + std::log(scores.sum)) : sum_before;
  tile.allowed = rounding_of(tile.end, std::max(std::abs(row.score_min), std::abs(row.score_max)));
}

void fill_splits(const trace::AttentionView& view, TileRow& row) {
  const auto batch = view.k_lens.size();
  const std::size_t all = static_cast<std::size_t>(view.num_splits) * view.num_heads * batch;
  if (view.num_splits <= 1 || view.keys_per_split <= 0 || view.partial_lse.size() != all) return;
  const int tiles = static_cast<int>(row.tiles.size());
  for (int s = 0; s < view.num_splits; ++s) {
    const std::size_t at = (static_cast<std::size_t>(s) * view.num_heads + row.head) * batch + row.rows.batch;
    SplitPart part;
    part.first_tile = std::min(tiles, trace::first_tile_of(view, s));
    part.end_tile = std::min(tiles, trace::first_tile_of(view, s + 1));
    part.lse = view.partial_lse[at];
    part.o_norm = at < view.partial_o_norm.size() ? view.partial_o_norm[at] : NAN;
    part.weight = std::isinf(part.lse) ? 0.0 : std::exp(static_cast<double>(part.lse) - row.lse);
    row.splits.push_back(part);
  }
}

void find_ranges(const trace::AttentionView& view, TileRow& row) {
  for (int k = 0; k < row.num_keys; ++k) {
    const float score = view.score(row.head, row.row, k);
    if (std::isnan(score)) continue;
    row.score_min = std::min(row.score_min, score);
    row.score_max = std::max(row.score_max, score);
  }
}

}  // namespace

double TileState::difference() const {
  if (log_state == log_scores) return 0.0;  // both -inf: nothing was seen
  return std::abs(std::expm1(log_state - log_scores));
}

int TileRow::next_rescale() const {
  const int from = finished ? 0 : cursor + 1;
  for (int t = from; t < static_cast<int>(tiles.size()); ++t) {
    if (tiles[static_cast<std::size_t>(t)].rescale()) return t;
  }
  return -1;
}

double TileRow::merged_lse() const {
  double out = kNone;
  for (const SplitPart& part : splits) out = log_add(out, part.lse);
  return out;
}

std::string tiles_missing(const Frame& frame, const Selection& selection) {
  if (!frame.step) return "The online softmax of each query row appears here, tile by tile.";
  if (frame.step->path == trace::AttentionPath::identity)
    return "No kernel ran: without a context, attention returned q.";
  if (!frame.attention)
    return frame.attention_note.empty() ? "The attention of this step is not there." : frame.attention_note;
  const trace::AttentionView& view = *frame.attention;
  const BatchRows rows = batch_rows(frame, focus_seq(frame, selection));
  if (rows.batch < 0) return "This sequence is not in the step. Click one of the packed batch.";
  if (selection.head < 0 || selection.head >= view.num_heads) return "There is no such head.";
  const int row = rows.q0 + focus_q_row(rows, selection);
  if (!view.has_row(row)) {
    return fmt::format("Query row {} is outside of the window that was inspected: rows {} to {}.", row,
                       view.first_row, view.first_row + view.num_q - 1);
  }
  if (view.kernel.starts_with("attention_l1_")) {
    return "Level 1 keeps every score of a row in memory and takes one softmax over all of them: there are "
           "no "
           "tiles. Level 2 works tile by tile.";
  }
  if (view.num_tiles <= 0 || view.k_tile <= 0 || view.tile_m.empty())
    return "The kernel left no tile states.";
  return {};
}

TileRow tile_row(const Frame& frame, const Selection& selection) {
  const trace::AttentionView& view = *frame.attention;
  TileRow row;
  row.rows = batch_rows(frame, focus_seq(frame, selection));
  row.head = selection.head;
  row.q_row = focus_q_row(row.rows, selection);
  row.row = row.rows.q0 + row.q_row;
  row.k_tile = view.k_tile;
  row.num_keys = std::min(row.rows.attended, view.max_k);
  row.visible = visible_keys(mask_in_force(*frame.step), row.q_row, row.rows.q_len, row.num_keys);
  row.lse = view.lse[view.at(row.head, row.row, 1, 0)];
  find_ranges(view, row);
  const int count = std::min(view.num_tiles, (row.num_keys + view.k_tile - 1) / view.k_tile);
  row.tiles.reserve(static_cast<std::size_t>(count));
  int last = -1;
  for (int t = 0; t < count; ++t) {
    TileState tile;
    tile.tile = t;
    tile.begin = t * view.k_tile;
    tile.end = std::min(row.num_keys, tile.begin + view.k_tile);
    tile.split = trace::split_of_tile(view, t);
    tile.first = trace::begins_at(view, t);
    fill_tile(view, row, tile.first ? nullptr : &row.tiles.back(), tile);
    if (tile.visited) last = t;
    row.l_max = std::max({row.l_max, tile.l_new, tile.l_old});
    row.o_max = std::max({row.o_max, tile.o_new, tile.o_old});
    row.tiles.push_back(tile);
  }
  row.finished = selection.tile < 0 || selection.tile >= count;
  row.cursor = row.finished ? std::max(0, last) : selection.tile;
  if (count == 0) row.cursor = -1;
  fill_splits(view, row);
  return row;
}

}  // namespace attn::viz
