// Head groups: who reads which K/V head, misplaced heads, bytes with and without repeat_interleave.
#include <gtest/gtest.h>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/head_layout.h"

namespace attn::viz {
namespace {

std::string value_of(const Headless& screen, const std::string& name) {
  const auto mark = screen.marks.get(name);
  return mark ? mark->value : "no mark " + name;
}

TEST(HeadLayout, SmallTilesLieInsideTheHeadTheyReadAndApart) {
  for (const int num_kv : {1, 2, 4, 8, 32}) {
    std::vector<int> kv_head;
    for (int h = 0; h < 32; ++h) kv_head.push_back(h % num_kv);
    const HeadLayout layout = layout_heads(kv_head, num_kv, {10, 20, 700, 300}, 26, 8, 8);
    ASSERT_EQ(layout.kv.size(), static_cast<std::size_t>(num_kv));
    for (std::size_t h = 0; h < kv_head.size(); ++h) {
      const Rect& own = layout.head[h];
      const Rect& group = layout.kv[static_cast<std::size_t>(kv_head[h])];
      EXPECT_GE(own.x, group.x);
      EXPECT_GE(own.y, group.y + 26 - 1);
      EXPECT_LE(own.right(), group.right());
      EXPECT_LE(own.bottom(), group.bottom() + 0.5F);
      for (std::size_t other = 0; other < h; ++other) {
        const Rect& r = layout.head[other];
        EXPECT_TRUE(own.x >= r.right() || r.x >= own.right() || own.y >= r.bottom() || r.y >= own.bottom())
            << h << " over " << other;
      }
    }
  }
}

TEST(HeadLayout, NothingToDraw) {
  EXPECT_TRUE(layout_heads({0, 0}, 0, {0, 0, 100, 100}, 20, 4, 4).kv.empty());
  EXPECT_EQ(layout_heads({7}, 2, {0, 0, 100, 100}, 20, 4, 4).head[0].w, 0.0F)
      << "reads a head that is not there";
}

TEST(Heads, TheRuleAndTheGroups) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.stage = StageView::heads;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "heads/verdict"), "kv = h / (H / Hkv) = h / (8 / 2) = h / 4");
  EXPECT_EQ(value_of(screen, "heads/kv/1"), "K/V head 1 is read by query heads 4, 5, 6, 7");
  screen.click(s.frame, "heads/head/6");
  ASSERT_FALSE(screen.commands.empty());
  EXPECT_EQ(screen.commands.front().selection.head, 6);
  EXPECT_EQ(screen.view.hover.head, 6);
}

TEST(Heads, ModuloMisplacesFourOfEight) {
  auto s = sample::prefill();
  s.attention->kv_head = {0, 1, 0, 1, 0, 1, 0, 1};  // what the launch says it did
  Headless screen(1600, 900);
  screen.view.stage = StageView::heads;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "heads/verdict"),
            "4 of 8 heads read the wrong K/V head: h % 2 instead of h / 4");
  EXPECT_NE(value_of(screen, "heads/head/1").find("belongs to K/V head 0"), std::string::npos);
  EXPECT_EQ(value_of(screen, "heads/head/0").find("belongs"), std::string::npos);
  EXPECT_EQ(screen.marks.get("heads/verdict")->source, "kv_head of the attention launch");
}

TEST(Heads, BytesSayWhereTheyComeFrom) {
  auto s = sample::padded_decode();  // 18 + 14 + 9 = 41 keys, 2 K/V heads and 8 query heads of 16 floats
  Headless screen(1600, 900);
  screen.view.stage = StageView::heads;
  screen.draw(s.frame);
  const std::uint64_t grouped = 41ULL * 2 * 16 * 4 * 2;
  const std::uint64_t repeated = grouped + 2 * 4 * grouped;
  EXPECT_NE(value_of(screen, "heads/bytes/grouped").find(std::to_string(grouped)), std::string::npos);
  EXPECT_NE(value_of(screen, "heads/bytes/repeated").find(std::to_string(repeated)), std::string::npos);
  EXPECT_EQ(screen.marks.get("heads/bytes/grouped")->source.substr(0, 11), "by formula:");
  EXPECT_FALSE(screen.marks.get("heads/bytes/launched").has_value());
  LaunchRecord launch;
  launch.kernel = "repeat_kv_kernel<float>";
  launch.bytes = 4321;
  s.step->launches.push_back({trace::Stage::repeat, 0, launch});
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "heads/bytes/launched").find("4321"), std::string::npos);
}

}  // namespace
}  // namespace attn::viz
