// The block pool: geometry of its cards, what a block says about itself, zoom, thousands of blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/engine/block_manager.h"
#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/pool_layout.h"
#include "viz/pool_facts.h"

namespace attn::viz {
namespace {

using sample::Sample;

TEST(PoolLayout, CardsAndSlotsStayInside) {
  const Rect area{5, 7, 440, 220};
  for (int blocks : {1, 6, 16, 64, 600, 2000}) {
    for (int block_size : {1, 4, 16, 64, 256}) {
      const PoolLayout pool = layout_pool(area, blocks, block_size, 1.0F);
      for (int i = 0; i < blocks; ++i) {
        const Rect card = pool.card(i);
        ASSERT_TRUE(inside(area, card)) << blocks << " of " << block_size << ", card " << i;
        ASSERT_EQ(pool.at(card.x + card.w * 0.5F, card.y + card.h * 0.5F), i);
        if (pool.detail != CardDetail::slots) continue;
        for (int s = 0; s < block_size; ++s) ASSERT_TRUE(inside(card, pool.slot(i, s, 1.0F)));
      }
    }
  }
  EXPECT_EQ(layout_pool(area, 16, 4, 1.0F).detail, CardDetail::slots);
  EXPECT_EQ(layout_pool(area, 4096, 16, 1.0F).detail, CardDetail::tile);
  EXPECT_EQ(layout_pool(area, 0, 4, 1.0F).at(10, 10), -1);
}

TEST(PoolLayout, ZoomMakesCardsLargerAndGoesOnBelow) {
  const Rect area{0, 0, 440, 220};
  const PoolLayout fits = layout_pool(area, 600, 4, 1.0F);
  EXPECT_LE(fits.content_h, area.h);
  float width = fits.card_w;
  for (int zoom = 1; zoom <= 6; ++zoom) {
    const PoolLayout larger = layout_pool(area, 600, 4, 1.0F, zoom);
    EXPECT_LE(larger.size, fits.size);
    EXPECT_GE(larger.card_w, width);
    EXPECT_LE(larger.card(larger.columns - 1).right(), area.right());
    width = larger.card_w;
  }
  EXPECT_EQ(layout_pool(area, 600, 4, 1.0F, 99).size, 0);
  EXPECT_GT(width, fits.card_w);
}

TEST(PoolFacts, ParentComesFromTheTableOrFromTheHashChain) {
  Sample s = sample::prefill();
  trace::StepRecord& step = *s.step;
  EXPECT_EQ(parent_of(step, 5), kNoParent);  // A and B: [5, 2, ..]
  EXPECT_EQ(parent_of(step, 2), 5);
  EXPECT_EQ(parent_of(step, 11), 2);
  // Two blocks nobody holds, chained by the engine's own hash.
  trace::BlockState& first = step.blocks[12];
  trace::BlockState& second = step.blocks[15];
  first.token_ids = {1, 2, 3, 4};
  first.hash = BlockManager::compute_hash(first.token_ids, std::nullopt);
  second.token_ids = {5, 6, 7, 8};
  second.hash = BlockManager::compute_hash(second.token_ids, first.hash);
  EXPECT_EQ(parent_of(step, 12), kNoParent);
  EXPECT_EQ(parent_of(step, 15), 12);
  second.hash = 1;
  EXPECT_EQ(parent_of(step, 15), kUnknownParent);
  EXPECT_EQ(parent_of(step, 1'000'000), kUnknownParent);
}

TEST(PoolFacts, WrittenAndReadBlocksFollowSlotsAndTables) {
  const Sample decode = sample::padded_decode();
  const std::vector<bool> written = blocks_written(*decode.step);
  const std::vector<bool> read = blocks_read(*decode.step);
  for (int block : {14, 7, 4}) EXPECT_TRUE(written[static_cast<std::size_t>(block)]) << block;
  EXPECT_EQ(std::count(written.begin(), written.end(), true), 3);
  EXPECT_TRUE(read[5]);
  EXPECT_FALSE(read[1]);
  Sample packed = sample::many(2, 8, 4, trace::StepKind::prefill);
  const std::vector<bool> none = blocks_read(*packed.step);
  EXPECT_EQ(std::count(none.begin(), none.end(), true), 0);  // packed prefill reads fresh K/V
  packed.step->stored = false;
  const std::vector<bool> unstored = blocks_written(*packed.step);
  EXPECT_EQ(std::count(unstored.begin(), unstored.end(), true), 0);
}

TEST(BlockPool, ABlockTellsStateOwnersAndChanges) {
  Sample s = sample::prefill();
  auto changes = std::make_shared<trace::StepDiff>();
  changes->before = 1;
  changes->after = 2;
  changes->blocks = {5, 11};
  changes->entries = {{"block 5", "ref_count", "1", "2"}, {"block 11", "num_filled", "0", "4"}};
  s.frame.changes = changes;
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const auto shared = screen.marks.get("pool/block/5");
  ASSERT_TRUE(shared.has_value());
  for (const char* part : {"shared, ref_count 2", "held by B, A", "parent none",
                           "ref_count: 1 \xE2\x86\x92 2", "changed since step 1"})
    EXPECT_NE(shared->value.find(part), std::string::npos) << part << "\n" << shared->value;
  const auto free = screen.marks.get("pool/block/15");
  ASSERT_TRUE(free.has_value());
  EXPECT_NE(free->value.find("free, ref_count 0"), std::string::npos) << free->value;
  EXPECT_FALSE(screen.marks.get("pool/block/16").has_value());
  EXPECT_NE(screen.marks.get("pool/sum")->value.find("= 16"), std::string::npos);
}

TEST(BlockPool, ClickSelectsAndClickAgainReleases) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.click(s.frame, "pool/block/9");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.block, 9);
  screen.selection.block = 9;
  screen.click(s.frame, "pool/block/9");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.block, -1);
}

TEST(BlockPool, EveryZoomOfALargePoolFitsADrawList) {
  for (const int block_size : {1, 4, 16, 64}) {
    const sample::Seq one{0, 8, 8, 0, 8, {}};
    const Sample s = sample::make({.block_size = block_size, .num_blocks = 1500, .seqs = {one}});
    Headless screen(3840, 2160);
    for (int zoom = 0; zoom < 22; ++zoom) {
      screen.view.data.pool.zoom = zoom;
      screen.draw(s.frame);
      ASSERT_LT(screen.largest_list(), 65'000) << "block_size " << block_size << ", zoom " << zoom;
    }
  }
}

TEST(BlockPool, ThousandsOfBlocksStayCheapAndHaveNames) {
  const Sample s = sample::many(64, 64 * 16, 16, trace::StepKind::decode);
  ASSERT_EQ(s.step->blocks.size(), 4096U);
  Headless screen(1920, 1080);
  for (int i = 0; i < 3; ++i) screen.draw(s.frame);
  EXPECT_LT(screen.largest_list(), 60'000);
  const auto last = screen.marks.get("pool/block/4095");
  ASSERT_TRUE(last.has_value());
  EXPECT_GE(last->rect.w, 2.0F);
  screen.hover(s.frame, "pool/block/2100");
  EXPECT_EQ(screen.view.hover.block, 2100);
  // Zoomed in until cards have slots, a selected block is scrolled into view.
  for (int i = 0; i < 12; ++i) screen.click(s.frame, "pool/zoom/in");
  screen.selection.block = 4000;
  for (int i = 0; i < 3; ++i) screen.draw(s.frame);
  ASSERT_TRUE(screen.marks.get("pool/block/4000").has_value());
  EXPECT_FALSE(screen.marks.get("pool/block/0").has_value());
  EXPECT_GT(screen.marks.get("pool/block/4000")->rect.w, 20.0F);
}

/// The badge of a shared block keeps off its glyphs and its slots, at every size of cards.
TEST(BlockPool, TheBadgeCoversNothing) {
  int badges = 0;
  for (const int blocks : {16, 30, 40, 60, 90}) {
    for (const WindowSize size : {WindowSize{1280, 720}, {1600, 900}, {1920, 1080}}) {
      const Sample s = sample::make({.path = trace::AttentionPath::prefill_paged,
                                     .num_blocks = blocks,
                                     .seqs = {{1, 12, 12, 8, 4, {5, 2, 11}}, {0, 10, 11, 10, 0, {5, 2, 9}}}});
      Headless screen(size.w, size.h);
      screen.draw(s.frame);
      for (const int block : {5, 2}) {
        const auto badge = screen.marks.get(fmt::format("pool/badge/{}", block));
        const auto read = screen.marks.get(fmt::format("pool/read/{}", block));
        const auto card = screen.marks.get(fmt::format("pool/block/{}", block));
        EXPECT_TRUE(badge || card->rect.w < 30.0F * screen.view.scale) << "only squares have no room for it";
        if (!badge || !read) continue;
        ++badges;
        EXPECT_TRUE(inside(card->rect, badge->rect));
        EXPECT_TRUE(badge->rect.right() <= read->rect.x || badge->rect.bottom() <= read->rect.y)
            << blocks << " blocks at " << size.w;
        const auto slot = screen.marks.get(fmt::format("pool/slot/{}", block * 4));
        if (!slot) continue;
        EXPECT_LE(badge->rect.bottom(), slot->rect.y + 1.0F) << blocks << " blocks at " << size.w;
      }
    }
  }
  EXPECT_GE(badges, 12);
}

TEST(BlockPool, TheLegendNamesEveryEncodingOfTheCards) {
  const Sample s = sample::padded_decode();
  for (const auto& [w, h] : {std::pair{1920.0F, 1080.0F}, {1280.0F, 720.0F}, {1600.0F, 900.0F}}) {
    Headless screen(w, h);
    screen.view.mode = ScreenMode::present;
    screen.draw(s.frame);
    const auto panel = screen.marks.get("pool");
    ASSERT_TRUE(panel.has_value());
    for (const char* word :
         {"free", "cached-free", "in use", "shared", "partial", "written", "read", "changed"}) {
      const auto entry = screen.marks.get(std::string("pool/legend/") + word);
      ASSERT_TRUE(entry.has_value()) << word << " at " << w;
      EXPECT_TRUE(inside(panel->rect, entry->rect)) << word << " at " << w;
      EXPECT_LE(screen.marks.get("pool/block/0")->rect.bottom(), entry->rect.y);
    }
  }
}

TEST(BlockPool, SmallSquaresHaveALegendOfTheirOwn) {
  const Sample s = sample::many(64, 256, 16, trace::StepKind::decode);
  Headless screen(1920, 1080);
  screen.view.mode = ScreenMode::present;
  screen.draw(s.frame);
  EXPECT_TRUE(screen.marks.get("pool/legend/shared").has_value());
  EXPECT_FALSE(screen.marks.get("pool/legend/written").has_value()) << "squares have no glyphs";
}

/// Squares too small for three digits: the last one says up to where they count.
TEST(BlockPool, TheLastIdStandsBesideASquareTooSmallForIt) {
  for (const int blocks : {300, 400, 600}) {
    const Sample s = sample::make({.num_blocks = blocks, .seqs = {{0, 8, 8, 0, 8, {0, 1}}}});
    Headless screen(1600, 900);
    screen.draw(s.frame);
    const auto id = screen.marks.get("pool/last_id");
    ASSERT_TRUE(id.has_value()) << blocks;
    for (int block = 0; block < blocks; ++block) {
      const Rect tile = screen.marks.get(fmt::format("pool/block/{}", block))->rect;
      EXPECT_TRUE(id->rect.x >= tile.right() || id->rect.right() <= tile.x || id->rect.y >= tile.bottom() ||
                  id->rect.bottom() <= tile.y)
          << block << " of " << blocks;
    }
  }
}

}  // namespace
}  // namespace attn::viz
