// The packed strip as geometry: queries right-aligned under their keys, cached keys before new ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "viz/layout/strip_layout.h"

namespace attn::viz {
namespace {

TEST(StripLayout, QueriesAreRightAlignedUnderTheirKeys) {
  const StripLayout strip = layout_strip({0, 2, 6}, {0, 10, 14}, 100.0F, 500.0F, 8.0F);
  ASSERT_EQ(strip.segments.size(), 2U);
  const StripSegment& first = strip.segments[0];
  EXPECT_FLOAT_EQ(first.q_x1, first.k_x1);
  EXPECT_EQ(first.cached(), 8);
  EXPECT_NEAR(first.q_x1 - first.q_x0, 2.0F * strip.px_per_token, 1e-3F);
  EXPECT_FLOAT_EQ(first.k_x0, 100.0F);
  EXPECT_NEAR(strip.segments[1].k_x1, 600.0F, 1e-2F);
  EXPECT_NEAR(strip.segments[1].k_x0 - first.k_x1, 8.0F, 1e-3F);
  EXPECT_FLOAT_EQ(strip.segments[1].q_x0, strip.segments[1].k_x0);  // nothing cached
}

TEST(StripLayout, EveryQueryOfALargeDecodeCanBeSeen) {
  std::vector<std::int32_t> cu_q = {0};
  std::vector<std::int32_t> cu_k = {0};
  for (int b = 0; b < 64; ++b) {
    cu_q.push_back(b + 1);
    cu_k.push_back(cu_k.back() + (b < 4 ? 4096 : 60 + 11 * b));
  }
  const StripLayout to_scale = layout_strip(cu_q, cu_k, 0.0F, 680.0F, 8.0F);
  EXPECT_FALSE(to_scale.widened);
  EXPECT_LT(to_scale.segments[0].q_px(), 0.1F);
  const StripLayout strip = layout_strip(cu_q, cu_k, 0.0F, 680.0F, 8.0F, 4.0F);
  EXPECT_TRUE(strip.widened);
  float before = -100.0F;
  for (const StripSegment& s : strip.segments) {
    EXPECT_GE(s.q_x1 - s.q_x0, 1.5F) << s.batch;
    EXPECT_LE(s.q_x1 - s.q_x0, 4.0F + 1e-3F) << s.batch;
    EXPECT_FLOAT_EQ(s.q_x1, s.k_x1);
    EXPECT_GE(s.q_x0, before + 0.9F) << "neighbours run together at " << s.batch;
    EXPECT_GE(s.k_split(), (s.k_x0 + s.k_x1) * 0.5F) << "no room left for the cached keys";
    before = s.q_x1;
  }
  EXPECT_FALSE(layout_strip({0, 2, 6}, {0, 10, 14}, 100.0F, 500.0F, 8.0F, 4.0F).widened);
}

TEST(StripLayout, NewKeysBeginWhereTheCachedOnesEnd) {
  const StripLayout strip = layout_strip({0, 7, 10}, {0, 11, 26}, 0.0F, 520.0F, 0.0F, 4.0F);  // 20 per token
  EXPECT_FLOAT_EQ(strip.segments[0].k_split(), 4 * 20.0F) << "less is cached than new";
  EXPECT_FLOAT_EQ(strip.segments[1].k_split(), (11 + 12) * 20.0F);
  EXPECT_FLOAT_EQ(layout_strip({0, 5}, {0, 5}, 0.0F, 100.0F, 0.0F, 4.0F).segments[0].k_split(), 0.0F);
}

TEST(StripLayout, NothingToDraw) {
  EXPECT_TRUE(layout_strip({}, {}, 0, 100, 8).segments.empty());
  EXPECT_TRUE(layout_strip({0}, {0}, 0, 100, 8).segments.empty());
  EXPECT_TRUE(layout_strip({0, 0}, {0, 0}, 0, 100, 8).segments.empty());
}

}  // namespace
}  // namespace attn::viz
