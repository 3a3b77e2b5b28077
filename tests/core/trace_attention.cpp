#include "tests/core/trace_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::trace::test {
namespace {

/// Softmax over the first `visible` keys of one query and head; returns lse and fills weights and o.
double attend_row(const float* q, const ReferenceSeq& seq, const ReferenceShape& shape, int kv_head,
                  int visible, double* weights, double* o) {
  if (visible == 0) return -std::numeric_limits<double>::infinity();
  const std::size_t begin = static_cast<std::size_t>(kv_head) * shape.head_dim;
  std::vector<double> scores(static_cast<std::size_t>(visible));
  for (std::size_t j = 0; j < scores.size(); ++j) {
    double dot = 0.0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.head_dim); ++d) {
      dot += static_cast<double>(q[d]) * static_cast<double>(seq.k[j][begin + d]);
    }
    scores[j] = shape.scale * dot;
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (const double score : scores) sum += std::exp(score - largest);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    weights[j] = std::exp(scores[j] - largest) / sum;
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.head_dim); ++d) {
      o[d] += weights[j] * static_cast<double>(seq.v[j][begin + d]);
    }
  }
  return largest + std::log(sum);
}

}  // namespace

Reference reference_attention(const std::vector<float>& q, const std::vector<ReferenceSeq>& seqs,
                              const ReferenceShape& shape) {
  int num_q = 0, max_k = 0;
  for (const ReferenceSeq& seq : seqs) {
    num_q += seq.q_len;
    max_k = std::max(max_k, static_cast<int>(seq.k.size()));
  }
  Reference out;
  out.o.assign(q.size(), 0.0);
  out.lse.assign(static_cast<std::size_t>(shape.num_heads) * num_q, 0.0);
  out.weights.assign(out.lse.size() * static_cast<std::size_t>(max_k), 0.0);
  int row = 0;
  for (const ReferenceSeq& seq : seqs) {
    for (int i = 0; i < seq.q_len; ++i, ++row) {
      const int visible = visible_keys(shape.mask, i, seq.q_len, static_cast<int>(seq.k.size()));
      for (int head = 0; head < shape.num_heads; ++head) {
        const auto at_row = static_cast<std::size_t>(head) * num_q + row;
        const auto at_o = (static_cast<std::size_t>(row) * shape.num_heads + head) * shape.head_dim;
        const int group = shape.num_heads / shape.num_kv_heads;
        const int kv_head = shape.head_map == HeadMap::grouped ? head / group : head % shape.num_kv_heads;
        out.lse[at_row] = attend_row(q.data() + at_o, seq, shape, kv_head, visible,
                                     out.weights.data() + at_row * max_k, out.o.data() + at_o);
      }
    }
  }
  return out;
}

void expect_near(const std::vector<float>& values, const std::vector<double>& reference, double tolerance) {
  ASSERT_EQ(values.size(), reference.size());
  double largest = 0.0, worst = 0.0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(reference[i])) {
      EXPECT_EQ(static_cast<double>(values[i]), reference[i]) << "at " << i;
      continue;
    }
    largest = std::max(largest, std::abs(reference[i]));
    const double difference = std::abs(static_cast<double>(values[i]) - reference[i]);
    if (!(difference <= worst)) {  // NaN too
      worst = difference;
      where = i;
    }
  }
  EXPECT_LE(worst, tolerance * largest)
      << "at " << where << ": " << values[where] << " instead of " << reference[where];
}

}  // namespace attn::trace::test
