// Head groups: who reads which K/V head, misplaced heads, bytes with and without repeat_interleave.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/head_layout.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

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

/// A head whose weights are spread is not drawn as high as one that looks at a single key.
TEST(Heads, EveryPictureSaysItsLargestWeight) {
  for (const auto& s : {sample::prefill(), sample::padded_decode()}) {
    Headless screen(1600, 900);
    TextLog log;
    screen.view.text_log = &log;
    screen.view.stage = StageView::heads;
    screen.draw(s.frame);
    const std::string lead = "largest weight ";
    for (int head = 0; head < 8; ++head) {
      const std::string tip = value_of(screen, fmt::format("heads/head/{}", head));
      const std::size_t at = tip.find(lead);
      ASSERT_NE(at, std::string::npos) << tip;
      const std::string said = fmt::format("max {:.3f}", std::stod(tip.substr(at + lead.size())));
      EXPECT_TRUE(std::ranges::any_of(log.entries, [&](const TextLog::Entry& entry) {
        return entry.panel == "heads" && entry.text.substr(0, 8) == said.substr(0, 8);
      })) << said;
    }
  }
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

TEST(Heads, TheWrongMapCanBeLookedAt) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.stage = StageView::heads;
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "heads/head/4").find("largest weight"), std::string::npos);
  screen.click(s.frame, "heads/map/modulo");
  screen.draw(s.frame);
  EXPECT_TRUE(screen.commands.empty()) << "nothing is launched";
  EXPECT_EQ(value_of(screen, "heads/verdict"),
            "4 of 8 heads would read the wrong K/V head: h % 2 instead of h / 4");
  const auto head = screen.marks.get("heads/head/4");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->value, "query head 4 reads K/V head 0, but 4 / 4 = 1: it belongs to K/V head 1")
      << "without the weights of the launch, which had another map";
  EXPECT_NE(head->source.find("by formula"), std::string::npos);
  screen.click(s.frame, "heads/map/grouped");
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "heads/verdict"), "kv = h / (H / Hkv) = h / (8 / 2) = h / 4");
}

TEST(Heads, BytesSayWhereTheyComeFrom) {
  auto s = sample::padded_decode();  // 18 + 14 + 9 = 41 keys, 2 K/V heads and 8 query heads of 16 floats
  Headless screen(1600, 900);
  screen.view.stage = StageView::heads;
  screen.draw(s.frame);
  const std::uint64_t row = 2ULL * 16 * 4 * 2;
  const std::uint64_t grouped = 41 * row, padded = 3 * 18 * row;
  const std::uint64_t repeated = grouped + 2 * padded + 2 * 4 * padded;
  EXPECT_NE(value_of(screen, "heads/bytes/grouped").find(std::to_string(grouped)), std::string::npos);
  EXPECT_NE(value_of(screen, "heads/bytes/repeated").find(std::to_string(repeated)), std::string::npos);
  EXPECT_EQ(screen.marks.get("heads/bytes/grouped")->source.substr(0, 11), "by formula:");
  EXPECT_NE(value_of(screen, "heads/bytes/gathered").find(std::to_string(grouped + 2 * padded)),
            std::string::npos);
}

TEST(AttentionPanels, MarksStayInsideTheirPanelsInEveryState) {
  const std::vector<sample::Sample> samples = {sample::prefill(), sample::padded_decode(),
                                               sample::many(64, 20, 16, trace::StepKind::prefill)};
  const std::vector<std::string> panels = {"strip", "mask", "weights", "heads", "numbers"};
  int checked = 0;
  for (const auto& [w, h, scale] : {std::tuple{1024.0F, 640.0F, 1.0F},
                                    {1600.0F, 900.0F, 0.75F},
                                    {1920.0F, 1080.0F, 1.35F},
                                    {1280.0F, 720.0F, 2.5F}}) {
    Headless screen(w, h, scale);
    screen.view.attention.mask_preview = MaskAlignment::top_left;
    screen.view.attention.true_memory = true;
    screen.view.attention.strip = {0.3, 0.6};
    screen.view.attention.matrix.cols = {0.2, 0.8};
    screen.view.attention.decode.keys = {0.5, 1.0};
    screen.view.weight_scale = WeightScale::rank;
    for (const StageView stage : {StageView::weights, StageView::heads}) {
      screen.view.stage = stage;
      for (const sample::Sample& s : samples) {
        for (screen.view.page = 0; screen.view.page < 5; ++screen.view.page) {
          screen.draw(s.frame);
          for (const Mark& mark : screen.marks.all()) {
            const std::string panel = mark.name.substr(0, mark.name.find('/'));
            if (std::find(panels.begin(), panels.end(), panel) == panels.end()) continue;
            const Rect box = screen.marks.find(panel)->rect;
            ASSERT_GE(mark.rect.x, box.x - 0.5F) << mark.name << " at " << w;
            ASSERT_GE(mark.rect.y, box.y - 0.5F) << mark.name << " at " << w;
            ASSERT_LE(mark.rect.right(), box.right() + 0.5F) << mark.name << " at " << w;
            ASSERT_LE(mark.rect.bottom(), box.bottom() + 0.5F) << mark.name << " at " << w;
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 2000);
}

}  // namespace
}  // namespace attn::viz
