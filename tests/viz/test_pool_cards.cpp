// Small cards of the block pool, cards that scroll, the sum that is never left out, and what may not be taken
// for one another: cached-free, changed, in use, ringed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/pool_layout.h"
#include "viz/pool_facts.h"
#include "viz/theme.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

using sample::Sample;

/// Two sequences share blocks 5 and 2, read them, and write 11 and 9.
Sample small_pool(int blocks) {
  return sample::make({.path = trace::AttentionPath::prefill_paged,
                       .num_blocks = blocks,
                       .seqs = {{1, 12, 12, 8, 4, {5, 2, 11}}, {0, 10, 11, 10, 1, {5, 2, 9}}}});
}

struct Place {
  float w, h, scale;
  ScreenMode mode;
};
constexpr Place kPlaces[] = {
    {1600, 900, 1.0F, ScreenMode::explore},  {1366, 768, 1.25F, ScreenMode::explore},
    {1024, 640, 1.0F, ScreenMode::explore},  {1600, 900, 1.5F, ScreenMode::explore},
    {1600, 900, 1.0F, ScreenMode::present},  {1280, 720, 1.0F, ScreenMode::present},
    {3840, 2160, 2.5F, ScreenMode::present}, {1920, 1080, 1.0F, ScreenMode::present}};

std::string told(const Place& place, int blocks) {
  return fmt::format("{} blocks at {}x{}, scale {}, {}", blocks, place.w, place.h, place.scale,
                     place.mode == ScreenMode::present ? "present" : "explore");
}

TEST(PoolCards, CardsBeforeSquaresEvenIfTheyScroll) {
  const Rect area{0, 0, 434, 106};
  EXPECT_EQ(layout_pool(area, 60, 4, 1.0F).detail, CardDetail::fill);
  EXPECT_LE(layout_pool(area, 60, 4, 1.0F).content_h, area.h);
  const PoolLayout scrolls = layout_pool(area, 120, 4, 1.0F);
  EXPECT_EQ(scrolls.detail, CardDetail::fill);
  EXPECT_GT(scrolls.content_h, area.h);
  EXPECT_LE(scrolls.content_h, kMostScreens * area.h);
  EXPECT_EQ(layout_pool(area, 400, 4, 1.0F).detail, CardDetail::tile) << "too many to scroll";
  const PoolLayout all = layout_pool(area, 120, 4, 1.0F, -99);
  EXPECT_EQ(all.detail, CardDetail::tile) << "zoomed out all are seen at once";
  EXPECT_LE(all.content_h, area.h);
}

/// No square could be a pixel larger, whatever the number of blocks.
TEST(PoolCards, SquaresUseTheRoomOfTheArea) {
  const Rect area{0, 0, 434, 125};
  for (const int blocks : {300, 400, 500, 900, 1500, 3000}) {
    const PoolLayout pool = layout_pool(area, blocks, 16, 1.0F);
    ASSERT_EQ(pool.detail, CardDetail::tile) << blocks;
    EXPECT_LE(pool.content_h, area.h) << blocks;
    const float side = pool.card_w + 1.0F, gap = std::max(1.0F, std::round(side / 6.0F));
    const int columns = static_cast<int>((area.w + gap) / (side + gap));
    EXPECT_GT(static_cast<float>((blocks + columns - 1) / columns) * (side + gap) - gap, area.h) << blocks;
  }
}

TEST(PoolCards, FortyAndSixtyBlocksKeepTheirGlyphs) {
  for (const Place& place : kPlaces) {
    for (const int blocks : {40, 60}) {
      SCOPED_TRACE(told(place, blocks));
      Headless screen(place.w, place.h, place.scale);
      screen.view.mode = place.mode;
      const Sample s = small_pool(blocks);
      for (int i = 0; i < 3; ++i) screen.draw(s.frame);
      for (const char* item : {"partial", "written", "read", "shared"})
        EXPECT_TRUE(screen.marks.get(std::string("pool/legend/") + item)) << item;
      for (const int block : {5, 2}) {
        ASSERT_TRUE(screen.marks.get(fmt::format("pool/block/{}", block))) << block << " is in sight";
        EXPECT_TRUE(screen.marks.get(fmt::format("pool/badge/{}", block))) << block;
        EXPECT_TRUE(screen.marks.get(fmt::format("pool/read/{}", block))) << block;
      }
    }
  }
}

/// Whatever is in a small card is inside its border and clear of the rest.
TEST(PoolCards, GlyphsKeepOffTheInnerBorderOfSharedCards) {
  int seen = 0;
  for (const Place& place : kPlaces) {
    for (const int blocks : {24, 30, 40, 60, 90}) {
      SCOPED_TRACE(told(place, blocks));
      Headless screen(place.w, place.h, place.scale);
      screen.view.mode = place.mode;
      const Sample s = small_pool(blocks);
      for (int i = 0; i < 3; ++i) screen.draw(s.frame);
      for (const int block : {5, 2}) {
        const auto card = screen.marks.get(fmt::format("pool/block/{}", block));
        const auto read = screen.marks.get(fmt::format("pool/read/{}", block));
        const auto badge = screen.marks.get(fmt::format("pool/badge/{}", block));
        if (!card || !read) continue;
        ++seen;
        const float px = screen_scale(screen.view);
        const bool compact = card->rect.h < 32.0F * px;
        const float border = std::round((compact ? 2.0F : 3.0F) * px) + 1.0F;
        EXPECT_LE(read->rect.bottom() + 0.4F, card->rect.bottom() - border);
        EXPECT_LE(read->rect.right() + 0.4F, card->rect.right() - border);
        EXPECT_TRUE(!badge || badge->rect.bottom() <= read->rect.y || badge->rect.right() <= read->rect.x);
      }
    }
  }
  EXPECT_GE(seen, 40);
}

TEST(PoolCards, WhatIsInUseIsInSightFirst) {
  std::vector<std::int32_t> table{118, 119, 116};
  const Sample s = sample::make(
      {.path = trace::AttentionPath::prefill_paged, .num_blocks = 120, .seqs = {{1, 12, 12, 8, 4, table}}});
  Headless screen(1600, 900);
  for (int i = 0; i < 4; ++i) screen.draw(s.frame);
  ASSERT_FALSE(screen.marks.get("pool/block/0")) << "not all are in sight";
  for (const std::int32_t block : table)
    EXPECT_TRUE(screen.marks.get(fmt::format("pool/block/{}", block))) << block;
  screen.view.picture.ringed = {"pool/block/3"};
  for (int i = 0; i < 4; ++i) screen.draw(s.frame);
  EXPECT_TRUE(screen.marks.get("pool/block/3")) << "what is pointed at comes first";
}

TEST(PoolCards, TheSumIsAlwaysThere) {
  for (const Place& place : kPlaces) {
    for (const int blocks : {40, 60, 4096}) {
      for (const trace::Stage stage : {trace::Stage::attention, trace::Stage::commit}) {
        SCOPED_TRACE(told(place, blocks));
        Headless screen(place.w, place.h, place.scale);
        screen.view.mode = place.mode;
        screen.view.grain = trace::Grain::stage;
        screen.selection.stage = stage;
        TextLog log;
        screen.view.text_log = &log;
        const Sample s = small_pool(blocks);
        screen.draw(s.frame);
        screen.draw(s.frame);
        const std::string end = fmt::format("= {}", blocks);
        EXPECT_TRUE(std::ranges::any_of(log.entries, [&](const TextLog::Entry& entry) {
          return entry.panel == "pool" && entry.text.ends_with(end) && !entry.shortened && !entry.left_out;
        }));
      }
    }
  }
}

/// Scrolled, a mark of what changed is seen with its card or not at all.
TEST(PoolCards, NoMarkOfAChangeSticksOutOfARowThatIsNotSeen) {
  Sample s = small_pool(150);
  auto changes = std::make_shared<trace::StepDiff>();
  for (int block = 0; block < 150; ++block) changes->blocks.push_back(block);
  s.frame.changes = changes;
  int seen = 0;
  for (const float scale : {1.0F, 1.25F, 1.5F, 2.0F}) {
    Headless screen(1600, 900, scale);
    for (const int zoom : {0, 1, 2, 3, 5}) {
      screen.view.data.pool.zoom = zoom;
      for (const float share : {0.0F, 0.4F, 1.0F}) {
        SCOPED_TRACE(fmt::format("scale {}, zoom {}, at {}", scale, zoom, share));
        for (int i = 0; i < 3; ++i) screen.draw(s.frame);
        screen.scroll_to(s.frame, share);
        screen.draw(s.frame);
        for (int block = 0; block < 150; ++block) {
          const auto changed = screen.marks.get(fmt::format("pool/changed/{}", block));
          if (!changed) continue;
          ++seen;
          const auto card = screen.marks.get(fmt::format("pool/block/{}", block));
          ASSERT_TRUE(card) << block;
          EXPECT_LE(changed->rect.right(), card->rect.x + 4.5F * scale) << "where the id begins";
        }
      }
    }
  }
  EXPECT_GE(seen, 300);
}

/// Also where a badge or a glyph stands beside it.
TEST(PoolCards, EveryCardHasItsId) {
  int seen = 0;
  for (const Place& place : kPlaces) {
    for (const int blocks : {40, 60, 101, 120}) {
      SCOPED_TRACE(told(place, blocks));
      Headless screen(place.w, place.h, place.scale);
      screen.view.mode = place.mode;
      TextLog log;
      screen.view.text_log = &log;
      const std::int32_t last = blocks - 1;
      const Sample s = sample::make({.path = trace::AttentionPath::prefill_paged,
                                     .num_blocks = blocks,
                                     .seqs = {{1, 12, 12, 8, 4, {last - 2, last, 11}},
                                              {0, 10, 11, 10, 1, {last - 2, last, last - 1}}}});
      for (int i = 0; i < 3; ++i) screen.draw(s.frame);
      if (!screen.marks.get("pool/legend/written")) continue;
      for (const std::int32_t block : {last - 2, last - 1, last}) {
        if (!screen.marks.get(fmt::format("pool/block/{}", block))) continue;
        ++seen;
        EXPECT_TRUE(std::ranges::any_of(log.entries, [&](const auto& entry) {
          return entry.panel == "pool" && entry.text == std::to_string(block);
        })) << block;
      }
    }
  }
  EXPECT_GE(seen, 40);
}

/// Squares with ids have them all, whatever the number of digits.
TEST(PoolCards, IdsOfSquaresDoNotStopAtTwoDigits) {
  Headless screen(1600, 900);
  TextLog log;
  screen.view.text_log = &log;
  const Sample s = small_pool(800);
  const auto said = [&](const std::string& id) {
    return std::ranges::any_of(log.entries,
                               [&](const auto& entry) { return entry.panel == "pool" && entry.text == id; });
  };
  int with_ids = 0;
  for (int zoom = 0; zoom < 6; ++zoom) {
    screen.view.data.pool.zoom = zoom;
    for (int i = 0; i < 3; ++i) screen.draw(s.frame);
    screen.scroll_to(s.frame, 0.4F);
    screen.draw(s.frame);
    for (int block = 100; block < 800; ++block) {
      const auto square = screen.marks.get(fmt::format("pool/block/{}", block));
      if (!square || square->rect.w != square->rect.h || square->rect.w < 20.0F) continue;
      ++with_ids;
      EXPECT_TRUE(said(std::to_string(block))) << block;
    }
  }
  EXPECT_GE(with_ids, 50);
}

/// Corners of what the frame draws in a colour inside a rectangle.
int drawn_in(const Rect& rect, Rgb color) {
  int count = 0;
  const ImDrawData* data = ImGui::GetDrawData();
  for (int list = 0; list < data->CmdListsCount; ++list) {
    for (const ImDrawVert& vertex : data->CmdLists[list]->VtxBuffer)
      count += vertex.col == rgba(color) && rect.contains(vertex.pos.x, vertex.pos.y) ? 1 : 0;
  }
  return count;
}

TEST(PoolCards, TheFreeQueueMarksCachedBlocksAsThePoolDoes) {
  const Sample s = small_pool(24);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  screen.draw(s.frame);
  const Theme& theme = theme_of(screen.view.theme);
  const Rect row = screen.marks.get("free_queue")->rect;
  EXPECT_EQ(drawn_in(row, theme[Color::warning]), 0) << "the colour of what changed";
  int cached = 0;
  for (std::size_t place = 0; place < s.step->free_blocks.size(); ++place) {
    const auto box = screen.marks.get(fmt::format("free/{}", place));
    if (!box || !s.step->blocks[static_cast<std::size_t>(s.step->free_blocks[place])].hash) continue;
    ++cached;
    EXPECT_GE(drawn_in(box->rect, theme[Color::muted]), 4) << "a small square";
  }
  EXPECT_GE(cached, 1);
}

/// A ring of a lesson is no border of a card: apart from it, dashed, in the colour of notes.
TEST(PoolCards, ARingIsNotTheBorderOfABlockInUse) {
  const Sample s = small_pool(16);
  for (const ThemeId theme : {ThemeId::dark, ThemeId::light, ThemeId::contrast}) {
    Headless screen(1920, 1080);
    screen.view.theme = theme;
    screen.view.picture.ringed = {"pool/block/1"};
    screen.draw(s.frame);
    screen.draw(s.frame);
    const Rect card = screen.marks.get("pool/block/1")->rect,
               ring = screen.marks.get("ring/pool/block/1")->rect;
    EXPECT_GE(card.x - ring.x, 4.0F) << "two pixels of ring, two of gap";
    const Rect top{ring.x + 8.0F, ring.y - 1.0F, ring.w - 16.0F, 4.0F};
    EXPECT_GE(drawn_in(top, theme_of(theme)[Color::warning]), 16) << "dashes";
    EXPECT_EQ(drawn_in(top, theme_of(theme)[Color::accent]), 0);
  }
}

TEST(PoolCards, FreeBlocksOfTheSmallestSquaresAreASurface) {
  const Sample s = small_pool(4096);
  Headless screen(1024, 640);
  screen.draw(s.frame);
  const auto surface = screen.marks.get("pool/surface");
  ASSERT_TRUE(surface) << "where free blocks end cannot be seen";
  const auto first = screen.marks.get("pool/block/0"), last = screen.marks.get("pool/block/4095");
  EXPECT_TRUE(!first || inside(surface->rect, first->rect));
  EXPECT_TRUE(!last || inside(surface->rect, last->rect));
}

TEST(PoolCards, TheWheelZooms) {
  for (const int blocks : {60, 4096}) {
    const Sample s = small_pool(blocks);
    Headless screen(1600, 900);
    screen.hover(s.frame, "pool/block/9");
    const float before = screen.marks.get("pool/block/9")->rect.w;
    ImGui::GetIO().MouseWheel = 1.0F;
    screen.draw(s.frame);
    screen.draw(s.frame);
    const auto closer = screen.marks.get("pool/block/9");
    ASSERT_TRUE(closer) << blocks;
    EXPECT_GT(closer->rect.w, before) << blocks;
  }
}

TEST(PoolCards, OnlyBlocksWithKeysThatAreSeenAreRead) {
  Sample s = sample::make({.kind = trace::StepKind::decode,
                           .path = trace::AttentionPath::decode_paged,
                           .num_blocks = 16,
                           .seqs = {{0, 10, 11, 10, 1, {5, 2, 9}}}});
  EXPECT_EQ(std::ranges::count(blocks_read(*s.step), true), 3);
  trace::StepRecord broken = *s.step;
  broken.config.mask_alignment = MaskAlignment::top_left;
  const std::vector<bool> read = blocks_read(broken);
  EXPECT_EQ(std::ranges::count(read, true), 1);
  EXPECT_TRUE(read[5]) << "key 0 lies there";
}

TEST(Requests, ManyAreCountedByTheirStatus) {
  Sample s = sample::many(64, 64, 16, trace::StepKind::decode);
  trace::StepRecord step = *s.step;
  step.seqs_after = step.seqs;
  for (trace::SeqState& seq : step.seqs_after) seq.status = trace::SeqStatus::running;
  step.seqs_after[3].status = trace::SeqStatus::waiting;
  step.seqs_after[4].status = step.seqs_after[5].status = trace::SeqStatus::finished;
  s.frame.step = std::make_shared<trace::StepRecord>(step);
  Headless screen(1600, 900);
  TextLog log;
  screen.view.text_log = &log;
  screen.draw(s.frame);
  EXPECT_TRUE(std::ranges::any_of(log.entries, [](const TextLog::Entry& entry) {
    return entry.panel == "requests" && entry.text == "61 run, 1 wait, 2 done";
  }));
}

}  // namespace
}  // namespace attn::viz
