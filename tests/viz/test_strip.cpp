// The packed strip: two rulers, true memory, zoom, tokens and positions.
#include <gtest/gtest.h>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/strip_layout.h"

namespace attn::viz {
namespace {

TEST(Strip, TrueMemoryPacksQueriesFromTheLeft) {
  const std::vector<std::int32_t> q = {0, 4, 11};
  const std::vector<std::int32_t> k = {0, 12, 19};
  const StripLayout layout = layout_strip_memory(q, k, 100.0F, 190.0F);
  ASSERT_EQ(layout.segments.size(), 2U);
  EXPECT_FLOAT_EQ(layout.px_per_token, 10.0F);
  EXPECT_FLOAT_EQ(layout.segments[0].q_x0, 100.0F);
  EXPECT_FLOAT_EQ(layout.segments[0].q_x1, 140.0F);
  EXPECT_FLOAT_EQ(layout.segments[1].q_x0, 140.0F) << "no gap between queries";
  EXPECT_FLOAT_EQ(layout.segments[1].k_x0, layout.segments[0].k_x1) << "no gap between keys";
}

TEST(Strip, TheToggleMovesRowsToWhereTheyLie) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const float apart = screen.marks.get("strip/row/0")->rect.x;
  screen.click(s.frame, "strip/true_memory");
  EXPECT_TRUE(screen.view.attention.true_memory);
  screen.draw(s.frame);
  const auto first = screen.marks.get("strip/row/0");
  const auto fifth = screen.marks.get("strip/row/4");
  ASSERT_TRUE(first && fifth);
  EXPECT_LT(first->rect.x, apart);
  EXPECT_NEAR(fifth->rect.x - first->rect.x, 4.0F * first->rect.w, 0.1F)
      << "row 4 is another sequence's first";
}

TEST(Strip, HoveringAQueryTellsRowSequenceAndPosition) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.hover(s.frame, "strip/row/6");
  EXPECT_EQ(screen.view.hover.seq, 2);
  EXPECT_EQ(screen.view.hover.q_row, 2);
  EXPECT_EQ(screen.view.hover.name, "positions");
}

TEST(Strip, ZoomShowsAPartAndButtonsBringItBack) {
  const auto s = sample::many(1, 4096, 16, trace::StepKind::prefill);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const float all = screen.marks.get("strip/row/2048")->rect.w;
  screen.click(s.frame, "strip/zoom_in");
  screen.draw(s.frame);
  const auto row = screen.marks.get("strip/row/2048");
  ASSERT_TRUE(row.has_value());
  EXPECT_NEAR(row->rect.w, 2.0F * all, 0.01F);
  EXPECT_FALSE(screen.marks.get("strip/row/0").has_value()) << "outside the part that is shown";
  screen.click(s.frame, "strip/zoom_all");
  EXPECT_TRUE(screen.view.attention.strip.whole());
}

TEST(Strip, WheelZoomsAtTheMouse) {
  const auto s = sample::many(1, 4096, 16, trace::StepKind::prefill);
  Headless screen(1600, 900);
  screen.hover(s.frame, "strip/seq/0");
  ImGui::GetIO().MouseWheel = 3.0F;
  screen.draw(s.frame);
  EXPECT_LT(screen.view.attention.strip.to - screen.view.attention.strip.from, 0.6);
  EXPECT_GT(screen.view.attention.strip.from, 0.1);
}

}  // namespace
}  // namespace attn::viz
