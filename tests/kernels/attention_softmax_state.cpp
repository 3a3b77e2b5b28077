// The online-softmax state by hand, and merging as algebra.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/common/online_softmax.h"

namespace attn {
namespace {

/// State of scalar values: o is one number.
struct Scalar {
  OnlineSoftmax state;
  float o = 0.0F;

  float take(const std::vector<float>& scores, const std::vector<float>& values) {
    float max_score = -INFINITY;
    for (const float s : scores) max_score = std::fmax(max_score, s);
    const float alpha = state.raise(max_score);
    float sum = 0.0F;
    o *= alpha;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      sum += state.weight(scores[j]);
      o += state.weight(scores[j]) * values[j];
    }
    state.add(alpha, sum);
    return alpha;
  }
  Scalar merged(Scalar other) const {
    Scalar result = *this;
    const OnlineSoftmax::Scales scales = result.state.merge(other.state);
    result.o = scales.mine * o + scales.other * other.o;
    return result;
  }
  float output() const { return o * state.normalizer(); }
};

// The lesson "softmax in small bites": scores 1,3 | 2,5 | 0,4 with values 1..6.
TEST(OnlineSoftmax, takes_three_tiles_like_the_lesson) {
  Scalar s;
  EXPECT_EQ(s.take({1, 3}, {1, 2}), 0.0F);  // nothing to keep before the first tile
  EXPECT_EQ(s.state.m, 3.0F);
  EXPECT_NEAR(s.state.l, 1.1353, 5e-5);
  EXPECT_NEAR(s.state.l * std::exp(s.state.m), 22.804, 5e-4);
  EXPECT_NEAR(s.take({2, 5}, {3, 4}), 0.1353, 5e-5);
  EXPECT_EQ(s.state.m, 5.0F);
  EXPECT_NEAR(s.state.l, 1.2034, 5e-5);
  EXPECT_NEAR(s.state.l * std::exp(s.state.m), 178.606, 2e-3);
  EXPECT_EQ(s.take({0, 4}, {5, 6}), 1.0F);  // the maximum stays: no rescale
  EXPECT_NEAR(s.state.l, 1.5781, 5e-5);
  EXPECT_NEAR(s.state.l * std::exp(s.state.m), 234.204, 2e-3);
  EXPECT_NEAR(s.output(), 4.2326, 5e-5);
  EXPECT_NEAR(s.state.lse(), std::log(234.204), 1e-5);
}

TEST(OnlineSoftmax, the_order_of_tiles_changes_the_path_not_the_end) {
  Scalar forward, backward;
  forward.take({1, 3}, {1, 2});
  forward.take({2, 5}, {3, 4});
  forward.take({0, 4}, {5, 6});
  backward.take({0, 4}, {5, 6});
  EXPECT_NEAR(backward.state.m, 4.0F, 0);
  backward.take({2, 5}, {3, 4});
  EXPECT_EQ(backward.take({1, 3}, {1, 2}), 1.0F);
  EXPECT_NEAR(forward.output(), backward.output(), 1e-6);
  EXPECT_NEAR(forward.state.lse(), backward.state.lse(), 1e-6);
}

TEST(OnlineSoftmax, nothing_seen_gives_zero_and_minus_infinity) {
  const Scalar empty;
  EXPECT_EQ(empty.output(), 0.0F);
  EXPECT_EQ(empty.state.lse(), -INFINITY);
}

// -inf - -inf is NaN: a fully masked tile before and after real keys must change nothing.
TEST(OnlineSoftmax, masked_tiles_change_nothing) {
  Scalar s;
  EXPECT_EQ(s.take({-INFINITY, -INFINITY}, {7, 8}), 1.0F);
  EXPECT_EQ(s.state.l, 0.0F);
  EXPECT_EQ(s.state.lse(), -INFINITY);
  s.take({2}, {3});
  EXPECT_EQ(s.take({-INFINITY}, {9}), 1.0F);
  EXPECT_EQ(s.output(), 3.0F);
  EXPECT_EQ(s.state.lse(), 2.0F);
}

TEST(OnlineSoftmax, scores_far_apart_neither_overflow_nor_lose_the_large_one) {
  Scalar s;
  s.take({-1000, 1000}, {1, 2});
  s.take({990}, {3});
  EXPECT_NEAR(s.output(), 2.0 + std::exp(-10.0), 1e-4);
  EXPECT_NEAR(s.state.lse(), 1000.0, 1e-3);
}

TEST(OnlineSoftmax, empty_states_are_neutral_in_a_merge) {
  Scalar some, empty;
  some.take({1, 2}, {5, 6});
  const Scalar left = empty.merged(some), right = some.merged(empty), none = empty.merged(empty);
  EXPECT_EQ(left.output(), some.output());
  EXPECT_EQ(right.output(), some.output());
  EXPECT_EQ(left.state.lse(), some.state.lse());
  EXPECT_EQ(right.state.lse(), some.state.lse());
  EXPECT_EQ(none.output(), 0.0F);
  EXPECT_EQ(none.state.lse(), -INFINITY);
}

TEST(OnlineSoftmax, merging_is_associative_and_commutative) {
  Scalar a, b, c, all;
  a.take({0.3F, -2}, {1, 2});
  b.take({5, 1}, {3, 4});
  c.take({-7, 4.5F}, {5, 6});
  all.take({0.3F, -2, 5, 1, -7, 4.5F}, {1, 2, 3, 4, 5, 6});
  for (const Scalar& merged : {a.merged(b).merged(c), a.merged(b.merged(c)), c.merged(a).merged(b)}) {
    EXPECT_NEAR(merged.output(), all.output(), 1e-6);
    EXPECT_NEAR(merged.state.lse(), all.state.lse(), 1e-6);
  }
}

}  // namespace
}  // namespace attn
