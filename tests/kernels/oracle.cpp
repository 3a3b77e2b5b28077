#include "tests/kernels/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/extremes.h"

namespace attn::test {
namespace {

/// Does query i of a sequence with q_len queries and k_len keys see key j?
bool sees(MaskAlignment mask, int i, int j, int q_len, int k_len) {
  if (mask == MaskAlignment::bottom_right) return j - (k_len - q_len) <= i;
  if (mask == MaskAlignment::top_left) return j <= i;
  return true;
}

/// Key head of a query head: repeat_interleave order, or tile order for the modulo bug.
int key_head(const AttentionCase& c, int h) {
  std::vector<int> order;
  const int repeats = c.num_heads / c.num_kv_heads;
  if (c.head_map == HeadMap::grouped) {
    for (int kv = 0; kv < c.num_kv_heads; ++kv) order.insert(order.end(), repeats, kv);
  } else {
    for (int r = 0; r < repeats; ++r)
      for (int kv = 0; kv < c.num_kv_heads; ++kv) order.push_back(kv);
  }
  return order[h];
}

struct Row {
  std::vector<double> o;
  std::vector<double> weights, scores;  // [k_len]
  double lse = -kInf;
};

/// One query row of one head; keys at or past `real` are zero pads.
Row attend(const AttentionCase& c, const float* q, const std::vector<float>& k, const std::vector<float>& v,
           int i, int q_len, int real, int k_len, int kv_head) {
  const int D = c.head_dim;
  Row row{std::vector<double>(D, 0.0), std::vector<double>(k_len, 0.0), std::vector<double>(k_len, kNaN)};
  double max_score = -kInf;
  for (int j = 0; j < k_len; ++j) {
    if (!sees(c.mask, i, j, q_len, k_len)) continue;
    double dot = 0.0;
    for (int d = 0; d < D && j < real; ++d)
      dot += static_cast<double>(q[d]) * k[(static_cast<std::size_t>(j) * c.num_kv_heads + kv_head) * D + d];
    row.scores[j] = dot * (1.0F / std::sqrt(static_cast<float>(D)));
    max_score = std::max(max_score, row.scores[j]);
  }
  if (max_score == -kInf) return row;
  double sum = 0.0;
  for (const double s : row.scores)
    if (!std::isnan(s)) sum += std::exp(s - max_score);
  row.lse = max_score + std::log(sum);
  for (int j = 0; j < k_len; ++j) {
    if (std::isnan(row.scores[j])) continue;
    row.weights[j] = std::exp(row.scores[j] - row.lse);
    for (int d = 0; d < D && j < real; ++d)
      row.o[d] += row.weights[j] * v[(static_cast<std::size_t>(j) * c.num_kv_heads + kv_head) * D + d];
  }
  return row;
}

}  // namespace

OracleResult oracle_attention(const AttentionCase& c, const AttentionInputs& inputs) {
  const int H = c.num_heads, D = c.head_dim, rows = c.total_q(), max_k = c.longest_k();
  OracleResult result;
  result.max_k = max_k;
  result.o.assign(static_cast<std::size_t>(rows) * H * D, 0.0);
  result.lse.assign(static_cast<std::size_t>(H) * rows, -kInf);
  result.weights.assign(static_cast<std::size_t>(H) * rows * max_k, 0.0);
  result.scores.assign(result.weights.size(), kNaN);
  result.visible.assign(rows, 0);
  int row = 0;
  for (int b = 0; b < c.batch(); ++b) {
    for (int i = 0; i < c.q_len(b); ++i, ++row) {
      for (int h = 0; h < H; ++h) {
        const std::size_t at = static_cast<std::size_t>(row) * H + h,
                          line = static_cast<std::size_t>(h) * rows + row;
        const Row r = attend(c, &inputs.q[at * D], inputs.k[b], inputs.v[b], i, c.q_len(b), c.k_lens[b],
                             c.attended(b), key_head(c, h));
        std::copy(r.o.begin(), r.o.end(), result.o.begin() + at * D);
        std::copy(r.weights.begin(), r.weights.end(), result.weights.begin() + line * max_k);
        std::copy(r.scores.begin(), r.scores.end(), result.scores.begin() + line * max_k);
        result.lse[line] = r.lse;
        result.visible[row] = static_cast<int>(
            std::count_if(r.scores.begin(), r.scores.end(), [](double s) { return !std::isnan(s); }));
      }
    }
  }
  return result;
}

void expect_matches_oracle(const AttentionCase& c, const OracleResult& expected, const AttentionResult& got) {
  SCOPED_TRACE(c.describe());
  ASSERT_EQ(expected.o.size(), got.o.size());
  double largest = 0.0, worst = 0.0;
  bool nan = false;
  for (std::size_t i = 0; i < expected.o.size(); ++i) {
    largest = std::max(largest, std::abs(expected.o[i]));
    worst = std::max(worst, std::abs(expected.o[i] - got.o[i]));
    nan = nan || std::isnan(got.o[i]);
  }
  EXPECT_FALSE(nan) << "o holds NaN";
  EXPECT_LE(worst, tolerance(c.dtype) * largest) << "worst error of o, largest reference " << largest;
  for (std::size_t i = 0; i < expected.lse.size(); ++i) {
    if (expected.lse[i] == -kInf) {
      EXPECT_EQ(got.lse[i], -std::numeric_limits<float>::infinity()) << "lse " << i << " of an empty row";
    } else {
      EXPECT_NEAR(got.lse[i], expected.lse[i], 4e-6 * std::max(1.0, std::abs(expected.lse[i])))
          << "lse " << i;
    }
  }
}

}  // namespace attn::test
