// Layouts are pure geometry: panels inside the window and apart from each other at every size, cards and
// cells inside their panels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "headless.h"
#include "viz/layout/bar_layout.h"
#include "viz/layout/grid_layout.h"
#include "viz/layout/label_spread.h"
#include "viz/layout/panel_names.h"
#include "viz/layout/panel_place.h"
#include "viz/layout/screen_layout.h"

namespace attn::viz {
namespace {

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}
constexpr float kScales[] = {0.75F, 1.0F, 1.35F, 2.0F, 2.5F};

/// Every size, scale, mode, stage view (with a side view), dragged gaps, a banner, every page.
template <class Check>
void for_every_layout(Check check) {
  const Splits dragged[] = {{},
                            {.left = 0.05F, .right = 0.9F, .bottom = 0.9F, .stage = 0.02F, .side = 0.95F},
                            {.left = 0.9F, .right = 0.01F, .bottom = 0.01F, .stage = 0.98F, .side = 0.05F}};
  for (const WindowSize size : kWindowSizes) {
    for (const float scale : kScales) {
      for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
        for (int view = 0; view < kNumStageViews; ++view) {
          for (const Splits& splits : dragged) {
            LayoutInput input{.width = size.w,
                              .height = size.h,
                              .scale = mode == ScreenMode::present ? scale * 1.35F : scale,
                              .mode = mode,
                              .stage = static_cast<StageView>(view),
                              .side = static_cast<SideView>(view % kNumSideViews),
                              .splits = splits,
                              .broken = view % 2 == 1,
                              .lesson = view % 3 == 1};
            const int pages = layout_screen(input).pages;
            for (input.page = 0; input.page < pages; ++input.page) check(input, layout_screen(input));
          }
        }
      }
    }
  }
}

std::string told(const LayoutInput& input) {
  return fmt::format("{}x{} at {}, {}, page {}", input.width, input.height, input.scale,
                     input.mode == ScreenMode::present ? "present" : "explore", input.page);
}

TEST(ScreenLayout, PanelsStayInsideAndApartAtEverySize) {
  for_every_layout([](const LayoutInput& input, const ScreenLayout& layout) {
    for (int i = 0; i < kNumPanels; ++i) {
      const Rect& a = layout.rects[static_cast<std::size_t>(i)];
      if (a.w <= 0.0F) continue;
      ASSERT_TRUE(inside({0, 0, input.width, input.height}, a)) << told(input) << ", panel " << i;
      for (int j = i + 1; j < kNumPanels; ++j) {
        const Rect& b = layout.rects[static_cast<std::size_t>(j)];
        ASSERT_FALSE(b.w > 0.0F && overlap(a, b)) << told(input) << ": " << i << ", " << j;
      }
    }
    for (const Splitter& splitter : layout.splitters) {
      if (splitter.handle.w <= 0.0F) continue;
      for (const Rect& panel : layout.rects)
        ASSERT_FALSE(panel.w > 0.0F && overlap(splitter.handle, panel)) << told(input);
    }
  });
}

TEST(ScreenLayout, EveryPanelIsOnSomePageAndLargeEnough) {
  for (const WindowSize size : kWindowSizes) {
    for (const float scale : kScales) {
      if (scale > fitting_scale(ScreenMode::explore, size.w, size.h)) continue;
      std::array<bool, kNumPanels> seen{};
      for (int view = 0; view < kNumStageViews; ++view) {
        LayoutInput input{.width = size.w,
                          .height = size.h,
                          .scale = scale,
                          .stage = static_cast<StageView>(view),
                          .side = static_cast<SideView>(view % kNumSideViews),
                          .broken = true,
                          .lesson = true};
        const int pages = layout_screen(input).pages;
        for (input.page = 0; input.page < pages; ++input.page) {
          const ScreenLayout layout = layout_screen(input);
          for (int i = 0; i < kNumPanels; ++i) {
            const Rect& rect = layout.rects[static_cast<std::size_t>(i)];
            if (rect.w >= 100.0F * scale && rect.h >= 24.0F * scale) seen[static_cast<std::size_t>(i)] = true;
          }
        }
      }
      for (int i = 0; i < kNumPanels; ++i) {
        EXPECT_TRUE(seen[static_cast<std::size_t>(i)] || static_cast<PanelId>(i) == PanelId::caption)
            << size.w << "x" << size.h << " at " << scale << ": panel " << i;
      }
    }
  }
}

/// What stands apart: bars, banner and caption tell of the cards.
int cards_of(const ScreenLayout& layout) {
  int count = 0;
  for (int i = 0; i < kNumPanels; ++i) {
    const auto id = static_cast<PanelId>(i);
    const bool bar = id == PanelId::header || id == PanelId::stage_tabs || id == PanelId::side_tabs ||
                     id == PanelId::banner || id == PanelId::caption;
    if (!bar && layout.shows(id) && !joined_above(layout, id)) ++count;
  }
  return count;
}

TEST(ScreenLayout, PresentShowsAtMostThreeCardsAndACaptionInEveryView) {
  for_every_layout([](const LayoutInput& input, const ScreenLayout& layout) {
    if (input.mode != ScreenMode::present) return;
    EXPECT_LE(cards_of(layout), 3) << told(input) << ", view " << static_cast<int>(input.stage);
    EXPECT_TRUE(layout.shows(PanelId::caption)) << told(input);
    EXPECT_FALSE(layout.shows(PanelId::requests) || layout.shows(PanelId::status)) << told(input);
  });
}

TEST(ScreenLayout, PagesOfPresentTogetherShowWhatTheWeightsNeed) {
  LayoutInput input{.width = 1920, .height = 1080, .scale = 1.35F, .mode = ScreenMode::present};
  const ScreenLayout first = layout_screen(input);
  EXPECT_EQ(first.pages, 4);
  const PanelId beside[] = {PanelId::pool, PanelId::tables, PanelId::stages};
  for (input.page = 0; input.page < 3; ++input.page) {
    const ScreenLayout page = layout_screen(input);
    EXPECT_TRUE(page.shows(beside[input.page])) << input.page;
    EXPECT_TRUE(page.shows(PanelId::numbers) && page.shows(PanelId::timeline)) << input.page;
    EXPECT_EQ(page[PanelId::weights].x, first[PanelId::weights].x) << "the stage stays where it is";
    EXPECT_EQ(page[PanelId::weights].w, first[PanelId::weights].w);
  }
  const ScreenLayout batch = layout_screen(input);
  EXPECT_TRUE(batch.shows(PanelId::strip) && batch.shows(PanelId::mask) && !batch.shows(PanelId::weights));
}

TEST(ScreenLayout, AMaximisedPanelHasTheWindow) {
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    LayoutInput input{
        .width = 1600, .height = 900, .scale = 1.0F, .mode = mode, .maximised = PanelId::requests};
    const ScreenLayout layout = layout_screen(input);
    EXPECT_TRUE(layout.shows(PanelId::requests));
    EXPECT_TRUE(layout.shows(PanelId::timeline));
    EXPECT_FALSE(layout.shows(PanelId::pool));
    EXPECT_GT(layout[PanelId::requests].w, 1500.0F);
  }
}

TEST(ScreenLayout, APanelAloneHasThePictureButForTheCaption) {
  LayoutInput input{.width = 1080,
                    .height = 1080,
                    .scale = 1.35F,
                    .mode = ScreenMode::present,
                    .maximised = PanelId::mask,
                    .alone = true,
                    .caption_h = 200.0F};
  const ScreenLayout with = layout_screen(input);
  for (int i = 0; i < kNumPanels; ++i) {
    const auto id = static_cast<PanelId>(i);
    EXPECT_EQ(with.shows(id), id == PanelId::mask || id == PanelId::caption) << i;
  }
  EXPECT_EQ(with[PanelId::mask].w, 1080.0F);
  EXPECT_EQ(with[PanelId::mask].y, 0.0F);
  EXPECT_EQ(with[PanelId::caption].bottom(), 1080.0F);
  EXPECT_LE(with[PanelId::mask].bottom(), with[PanelId::caption].y);
  input.caption_h = 600.0F;
  EXPECT_FALSE(layout_screen(input).shows(PanelId::caption)) << "it would take the room of the panel";
  input.caption = false;
  const ScreenLayout without = layout_screen(input);
  EXPECT_FALSE(without.shows(PanelId::caption));
  EXPECT_EQ(without[PanelId::mask].h, 1080.0F);
  input.mode = ScreenMode::explore;
  EXPECT_EQ(layout_screen(input)[PanelId::mask].h, 1080.0F);
  input.alone = false;
  input.maximised = PanelId::count_;
  input.mode = ScreenMode::present;
  EXPECT_FALSE(layout_screen(input).shows(PanelId::caption));
}

TEST(ScreenLayout, EveryPanelHasAPlaceToBeCutOutOf) {
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    for (const auto& [w, h] : {std::pair{1600.0F, 900.0F}, {1100.0F, 650.0F}, {700.0F, 450.0F}}) {
      const LayoutInput input{.width = w, .height = h, .scale = 1.0F, .mode = mode};
      for (int i = 0; i < kNumPanels; ++i) {
        const auto id = static_cast<PanelId>(i);
        if (panel_title(id).empty() && id != PanelId::timeline) continue;
        const Rect place = panel_place(input, id);
        EXPECT_GT(place.w * place.h, 0.0F) << panel_name(id);
        EXPECT_LE(place.bottom(), h);
        EXPECT_LE(place.right(), w);
      }
      EXPECT_EQ(panel_place(input, PanelId::tiles).w, panel_place(input, PanelId::heads).w);
    }
  }
  const LayoutInput input{.width = 1600.0F, .height = 900.0F, .scale = 1.0F};
  EXPECT_EQ(panel_place(input, PanelId::mask).x, layout_screen(input)[PanelId::mask].x);
}

TEST(ScreenLayout, APanelThatIsAskedForHasAPage) {
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    for (const auto& [w, h] :
         {std::pair{1600.0F, 900.0F}, {800.0F, 800.0F}, {700.0F, 1200.0F}, {700.0F, 430.0F}}) {
      LayoutInput input{.width = w, .height = h, .scale = 1.0F, .mode = mode};
      for (const PanelId id :
           {PanelId::mask, PanelId::strip, PanelId::tables, PanelId::pool, PanelId::stages}) {
        input.page = 0;
        input.page = page_with(input, id);
        EXPECT_TRUE(layout_screen(input).shows(id)) << panel_name(id) << " " << w << "x" << h;
        EXPECT_EQ(page_with(input, id), input.page) << "the page that has it stays";
      }
      input.page = 1;
      EXPECT_EQ(page_with(input, PanelId::tiles), 1) << "not in this view";
    }
  }
}

TEST(ScreenLayout, AMarginGoesAroundAPanelAlone) {
  const LayoutInput input{.width = 300.0F,
                          .height = 200.0F,
                          .scale = 1.0F,
                          .maximised = PanelId::mask,
                          .alone = true,
                          .margin = 8.0F};
  const Rect mask = layout_screen(input)[PanelId::mask];
  EXPECT_EQ(mask.x, 8.0F);
  EXPECT_EQ(mask.bottom(), 192.0F);
  EXPECT_EQ(mask.w, 284.0F);
}

TEST(ScreenLayout, TablesOfMoreSequencesTakeWhatListAndPoolCanSpare) {
  LayoutInput input{.width = 1600, .height = 900, .scale = 1.0F};
  const ScreenLayout none = layout_screen(input);
  input.tables = 3;
  EXPECT_EQ(layout_screen(input)[PanelId::tables].h, none[PanelId::tables].h);
  float before = none[PanelId::tables].h;
  for (input.tables = 5; input.tables <= 8; ++input.tables) {
    const ScreenLayout more = layout_screen(input);
    EXPECT_GT(more[PanelId::tables].h, before) << input.tables;
    EXPECT_GE(more[PanelId::pool].h, 150.0F) << "the pool gives only what it has above that";
    before = more[PanelId::tables].h;
  }
  input.tables = 64;
  EXPECT_EQ(layout_screen(input)[PanelId::tables].h, before) << "they are drawn as lines";
}

TEST(ScreenLayout, SharesMoveGapsWithinLimits) {
  LayoutInput input{.width = 1600, .height = 900, .scale = 1.0F};
  const ScreenLayout before = layout_screen(input);
  input.splits.left = before[Split::left].share + 0.05F;
  const ScreenLayout wider = layout_screen(input);
  EXPECT_NEAR(wider[PanelId::requests].w, before[PanelId::requests].w + 0.05F * before[Split::left].whole.w,
              2.0F);
  EXPECT_FLOAT_EQ(wider[PanelId::strip].right(), before[PanelId::strip].right());
  for (const float share : {0.001F, 1.0F}) {
    input.splits = {.left = share, .right = share, .bottom = share, .stage = share, .side = share};
    const ScreenLayout limits = layout_screen(input);
    for (const PanelId id : {PanelId::requests, PanelId::mask, PanelId::weights, PanelId::pool,
                             PanelId::stages, PanelId::timeline})
      EXPECT_GE(std::min(limits[id].w, limits[id].h), 80.0F) << static_cast<int>(id) << " at " << share;
  }
}

TEST(ScreenLayout, ScaleIsTheSameDrawingInLargerPixels) {
  const ScreenLayout one = layout_screen({.width = 1600, .height = 900, .scale = 1.0F});
  const ScreenLayout two = layout_screen({.width = 3200, .height = 1800, .scale = 2.0F});
  for (int i = 0; i < kNumPanels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_NEAR(two.rects[at].x, 2.0F * one.rects[at].x, 3.0F);
    EXPECT_NEAR(two.rects[at].h, 2.0F * one.rects[at].h, 3.0F);
  }
}

TEST(ScreenLayout, PagesWrapBothWays) {
  EXPECT_EQ(layout_screen({.width = 1024, .height = 640, .scale = 1.0F, .page = 2}).page, 0);
  EXPECT_EQ(layout_screen({.width = 1024, .height = 640, .scale = 1.0F, .page = -1}).page, 1);
  EXPECT_EQ(layout_screen({.width = 1600, .height = 900, .scale = 1.0F, .page = 7}).page, 0);
}

TEST(GridLayout, CellsFillTheBoxButNeverLeaveIt) {
  const Rect box{10, 20, 300, 200};
  for (const auto& [rows, cols] :
       {std::pair{1, 1}, {4, 12}, {12, 4}, {64, 64}, {65, 64}, {1, 4096}, {4096, 4096}}) {
    const GridLayout grid = layout_grid(box, rows, cols, 40.0F);
    ASSERT_TRUE(inside(box, grid.area())) << rows << " x " << cols;
    ASSERT_LE(grid.cells_x, 64);
    ASSERT_LE(grid.cells_y, 64);
    ASSERT_GE(grid.cells_x * grid.col_step, cols);
    ASSERT_GE(grid.cells_y * grid.row_step, rows);
    EXPECT_EQ(grid.grouped(), rows > 64 || cols > 64);
  }
  EXPECT_EQ(layout_grid(box, 0, 3, 40.0F).cells_x, 0);
}

TEST(BarLayout, BarsFollowKeysAndBlocks) {
  const std::vector<int> blocks = {7, 7, 7, 7, 2, 2, -1, -1, -1};
  const BarLayout bars = layout_bars(blocks, 50, 400, 4, 46, 6);
  ASSERT_EQ(bars.num_bars(), 9);
  ASSERT_EQ(bars.groups.size(), 3U);
  EXPECT_EQ(bars.groups[1].block, 2);
  EXPECT_EQ(bars.groups[2].block, -1);
  EXPECT_EQ(bars.keys_per_bar, 1);
  const Rect plot{50, 0, 400, 100};
  for (int i = 1; i < bars.num_bars(); ++i)
    EXPECT_GE(bars.column(i, plot).x, bars.column(i - 1, plot).right());
  EXPECT_LE(bars.column(8, plot).right(), plot.right() + 0.5F);
}

TEST(BarLayout, ManyKeysShareBarsWithinTheirBlock) {
  std::vector<int> blocks(4096);
  for (int k = 0; k < 4096; ++k) blocks[static_cast<std::size_t>(k)] = k / 16;
  const BarLayout bars = layout_bars(blocks, 0, 500, 4, 46, 3);
  EXPECT_GT(bars.keys_per_bar, 1);
  int keys = 0;
  for (int i = 0; i < bars.num_bars(); ++i) {
    keys += bars.end_key(i) - bars.first_key(i);
    EXPECT_EQ(blocks[static_cast<std::size_t>(bars.first_key(i))],
              blocks[static_cast<std::size_t>(bars.end_key(i) - 1)]);
  }
  EXPECT_EQ(keys, 4096);
  EXPECT_LE(bars.column(bars.num_bars() - 1, {0, 0, 500, 10}).right(), 501.0F);
}

TEST(LabelSpread, FirstLastAndChosenAreThereAndNoneTouch) {
  for (const int count : {1, 2, 7, 64, 999}) {
    for (const float pitch : {0.7F, 3.0F, 14.0F, 60.0F}) {
      for (const int chosen : {-1, 0, count / 2, count - 1}) {
        constexpr float kNeeded = 20.0F;
        const std::vector<int> labels = spread_labels(count, pitch, kNeeded, chosen);
        ASSERT_FALSE(labels.empty());
        for (std::size_t i = 1; i < labels.size(); ++i) {
          ASSERT_GE(pitch * static_cast<float>(labels[i] - labels[i - 1]), kNeeded);
        }
        const auto has = [&](int place) {
          return std::find(labels.begin(), labels.end(), place) != labels.end();
        };
        EXPECT_TRUE(chosen < 0 || has(chosen));
        const float from_chosen = pitch * static_cast<float>(chosen);
        EXPECT_TRUE(has(0) || from_chosen < kNeeded);
        if (pitch * static_cast<float>(count) > 4.0F * kNeeded && chosen < 0) {
          EXPECT_TRUE(has(count - 1));
        }
      }
    }
  }
  EXPECT_EQ(spread_labels(5, 30.0F, 20.0F, 2), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(spread_labels(10, 10.0F, 20.0F, 5), (std::vector<int>{0, 2, 5, 9}));
}

}  // namespace
}  // namespace attn::viz
