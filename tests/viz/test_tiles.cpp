// The tile stepper: what it draws is what the kernel's probe wrote, the invariant is checked and can fail,
// and the cursor walks forwards and back through every tile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/tile_layout.h"
#include "viz/panels/tiles_parts.h"
#include "viz/panels/tiles_state.h"

namespace attn::viz {
namespace {

sample::Sample decode(int tokens = 23, int k_tile = 4, int num_splits = 1) {
  return sample::make({.kind = trace::StepKind::decode,
                       .path = trace::AttentionPath::decode_paged,
                       .num_blocks = tokens / 4 + 2,
                       .seqs = {{0, 10, tokens, tokens - 1, 1, {}}},
                       .k_tile = k_tile,
                       .num_splits = num_splits});
}

void show_tiles(Headless& window) { window.view.stage = StageView::tiles; }

bool has(const Mark& mark, const std::string& text) { return mark.value.find(text) != std::string::npos; }

TEST(Tiles, EveryNumberIsTheProbes) {
  const sample::Sample sample = decode();
  const trace::AttentionView& view = *sample.attention;
  Headless window(1600, 900);
  show_tiles(window);
  for (int head = 0; head < view.num_heads; ++head) {
    window.selection.head = head;
    for (int t = 0; t < view.num_tiles; ++t) {
      window.selection.tile = t;
      window.draw(sample.frame);
      window.draw(sample.frame);
      const std::size_t at = view.tile_at(head, 0, t);
      const auto get = [&](const char* what) {
        return window.marks.get(fmt::format("tiles/{}/{}", what, t));
      };
      ASSERT_TRUE(get("m") && get("alpha") && get("l") && get("o") && get("check"));
      EXPECT_TRUE(has(*get("m"), tile_number(view.tile_m[at]) + " after"));
      EXPECT_TRUE(has(*get("l"), "l " + tile_number(view.tile_l[at])));
      EXPECT_TRUE(has(*get("o"), tile_number(view.tile_o_norm[at]) + " after"));
      EXPECT_TRUE(t == 0 || has(*get("alpha"), "= " + tile_number(view.tile_alpha[at])));
      EXPECT_TRUE(has(*get("check"), "holds")) << get("check")->value;
      EXPECT_EQ(get("l")->source, fmt::format("tile_l[{}, 0, {}] F32, {}", head, t, view.kernel));
      for (int k = t * view.k_tile; k < std::min(view.max_k, (t + 1) * view.k_tile); ++k) {
        const auto score = window.marks.get(fmt::format("tiles/score/{}", k));
        ASSERT_TRUE(score);
        EXPECT_TRUE(has(*score, "score " + tile_number(view.score(head, 0, k))));
      }
    }
  }
}

TEST(Tiles, InvariantComparesTwoArraysOfTheKernel) {
  sample::Sample sample = decode();
  const TileRow good = tile_row(sample.frame, {.tile = 2});
  for (const TileState& tile : good.tiles) EXPECT_TRUE(tile.holds()) << tile.difference();
  EXPECT_NEAR(good.tiles.back().log_scores, good.lse, 1e-5);

  sample.attention->scores[9] += 0.01F;  // key 9: tile 2 of 4 keys each
  const TileRow bad = tile_row(sample.frame, {.tile = 2});
  EXPECT_TRUE(bad.tiles[1].holds());
  for (std::size_t t = 2; t < bad.tiles.size(); ++t) EXPECT_FALSE(bad.tiles[t].holds());

  Headless window(1600, 900);
  show_tiles(window);
  window.selection.tile = 2;
  window.draw(sample.frame);
  window.draw(sample.frame);
  EXPECT_TRUE(has(*window.marks.get("tiles/check/2"), "does not hold"));
  sample.attention->tile_l[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(tile_row(sample.frame, {.tile = 1}).now().holds()) << "NaN must not pass";
}

/// Four decimals would say 0.0001 on both sides, whatever they are.
TEST(Tiles, TheInvariantOfSmallSumsHasDigitsToCompare) {
  sample::Sample sample = decode();
  trace::AttentionView& view = *sample.attention;
  for (float& score : view.scores) score -= 9.0F;
  for (float& m : view.tile_m) m -= 9.0F;
  for (float& lse : view.lse) lse -= 9.0F;
  Headless window(1600, 900);
  show_tiles(window);
  window.selection.tile = 0;
  window.draw(sample.frame);
  window.draw(sample.frame);
  const TileState tile = tile_row(sample.frame, {.tile = 0}).now();
  ASSERT_LT(std::exp(tile.log_state), 0.01);
  EXPECT_TRUE(
      has(*window.marks.get("tiles/invariant"), fmt::format("exp(m) = {:#.5g}", std::exp(tile.log_state))))
      << window.marks.get("tiles/invariant")->value;
}

TEST(Tiles, StepsForwardAndBackThroughEveryTile) {
  const sample::Sample sample = decode();
  Headless window(1600, 900);
  show_tiles(window);
  const int tiles = sample.attention->num_tiles;
  const auto press = [&](const char* name) {
    window.click(sample.frame, name);
    for (const Command& command : window.commands) {
      if (command.kind == Command::Kind::select) window.selection = command.selection;
    }
  };
  std::vector<int> way;
  for (int i = 0; i < tiles; ++i) {
    press("tiles/next");
    way.push_back(window.selection.tile);
  }
  std::vector<int> expected;
  for (int t = 0; t < tiles; ++t) expected.push_back(t);
  EXPECT_EQ(way, expected);
  press("tiles/next");
  EXPECT_EQ(window.selection.tile, tiles - 1) << "the last tile has no next one";
  for (int t = tiles - 2; t >= 0; --t) {
    press("tiles/prev");
    EXPECT_EQ(window.selection.tile, t);
  }
  press("tiles/tile/3");
  EXPECT_EQ(window.selection.tile, 3);
  EXPECT_EQ(window.selection.stage, trace::Stage::attention);
}

TEST(Tiles, NextRescaleIsATileWhoseAlphaIsBelowOne) {
  const sample::Sample sample = decode();
  const trace::AttentionView& view = *sample.attention;
  int found = 0;
  for (int head = 0; head < view.num_heads; ++head) {
    const TileRow row = tile_row(sample.frame, {.head = head});
    const int next = row.next_rescale();
    for (int t = 1; t < (next < 0 ? view.num_tiles : next); ++t)
      EXPECT_EQ(view.tile_alpha[view.tile_at(head, 0, t)], 1.0F);
    if (next < 0) continue;
    ++found;
    EXPECT_LT(view.tile_alpha[view.tile_at(head, 0, next)], 1.0F);
    Headless window(1600, 900);
    show_tiles(window);
    window.selection.head = head;
    window.click(sample.frame, "tiles/rescale");
    ASSERT_FALSE(window.commands.empty());
    EXPECT_EQ(window.commands.back().selection.tile, next);
  }
  EXPECT_GT(found, 0);
}

TEST(Tiles, MaskedTilesAreSkippedAndTheLastRowIsTheDefault) {
  const sample::Sample sample = sample::prefill();
  const BatchRows rows = batch_rows(sample.frame, 2);  // 7 queries, 7 keys, tiles of 4
  EXPECT_EQ(focus_q_row(rows, {}), 6);
  const TileRow row = tile_row(sample.frame, {.seq = 2, .q_row = 1});
  ASSERT_EQ(row.tiles.size(), 2U);
  EXPECT_EQ(row.tiles[0].seen, 2);
  EXPECT_FALSE(row.tiles[1].visited);
  EXPECT_EQ(row.tiles[1].l_new, row.tiles[0].l_new);
  EXPECT_EQ(row.cursor, 0) << "the last tile that was visited";
  Headless window(1600, 900);
  show_tiles(window);
  window.selection = {.seq = 2, .q_row = 1};
  window.draw(sample.frame);
  EXPECT_TRUE(has(*window.marks.get("tiles/tile/1"), "masked"));
}

TEST(Tiles, SplitsHaveTheirOwnStateAndMergeToTheViewsLse) {
  const sample::Sample sample = decode(41, 4, 3);
  const TileRow row = tile_row(sample.frame, {.head = 1, .tile = 5});
  ASSERT_EQ(row.splits.size(), 3U);
  const int per_split = sample.attention->keys_per_split / 4;
  double sum = 0.0;
  for (std::size_t s = 0; s < 3; ++s) {
    const SplitPart& part = row.splits[s];
    const TileState& first = row.tiles[static_cast<std::size_t>(part.first_tile)];
    const TileState& last = row.tiles[static_cast<std::size_t>(part.end_tile - 1)];
    EXPECT_EQ(part.first_tile, static_cast<int>(s) * per_split);
    EXPECT_TRUE(first.first);
    EXPECT_FALSE(first.rescale());
    EXPECT_TRUE(last.holds());
    EXPECT_NEAR(last.log_state, part.lse, 1e-5);
    sum += part.weight;
  }
  EXPECT_NEAR(sum, 1.0, 1e-5);
  EXPECT_NEAR(row.merged_lse(), row.lse, 1e-5);
  Headless window(1920, 1080);
  show_tiles(window);
  window.selection = {.head = 1, .tile = 5};
  window.draw(sample.frame);
  for (const char* name : {"tiles/split/0", "tiles/split/2", "tiles/merge", "tiles/merge/0"})
    EXPECT_TRUE(window.marks.get(name)) << name;
}

TEST(Tiles, SplitsLeaveRoomForThePictureAndSayWhichAreEmpty) {
  const sample::Sample sample = decode(16, 4, 3);  // four tiles, two to a split
  const TileRow row = tile_row(sample.frame, {.tile = 1});
  ASSERT_EQ(row.splits.size(), 3U);
  ASSERT_EQ(row.splits[2].first_tile, row.splits[2].end_tile);
  Headless window(1600, 900);
  show_tiles(window);
  window.selection.tile = 1;
  window.draw(sample.frame);
  for (const char* name : {"tiles/score/4", "tiles/gauge/m", "tiles/gauge/o", "tiles/row/0", "tiles/merge/0"})
    EXPECT_TRUE(window.marks.get(name)) << name;
  ASSERT_TRUE(window.marks.get("tiles/merge/empty"));
  EXPECT_TRUE(has(*window.marks.get("tiles/merge/empty"), "split 2: no keys"));
  window.draw(decode(41, 4, 3).frame);
  EXPECT_FALSE(window.marks.get("tiles/merge/empty"));
}

TEST(Tiles, PadsAreTiledLikeKeys) {
  const sample::Sample sample = sample::padded_decode();
  const BatchRows rows = batch_rows(sample.frame, 2);
  ASSERT_GT(rows.pads(), 0);
  const TileRow row = tile_row(sample.frame, {.seq = 2});
  EXPECT_EQ(row.num_keys, rows.attended);
  EXPECT_TRUE(row.tiles.back().holds());
}

TEST(Tiles, SizesRepeatTheRunAndNeedTheSwitch) {
  sample::Sample sample = decode();
  Headless window(1600, 900);
  show_tiles(window);
  window.click(sample.frame, "tiles/size/8");
  EXPECT_TRUE(window.commands.empty()) << "a run that cannot be repeated has no switches";
  Switch k_tile;
  k_tile.name = "k_tile";
  k_tile.value = "4";
  sample.frame.switches.push_back(k_tile);
  window.click(sample.frame, "tiles/size/8");
  ASSERT_FALSE(window.commands.empty());
  EXPECT_EQ(window.commands.back().kind, Command::Kind::set_switch);
  EXPECT_EQ(window.commands.back().text, "k_tile");
  EXPECT_EQ(window.commands.back().value, "8");
}

TEST(Tiles, SaysWhyThereIsNothing) {
  sample::Sample sample = decode();
  EXPECT_EQ(tiles_missing(sample.frame, {}), "");
  sample.attention->kernel = "attention_l1_scores_kernel<float, StateProbe>";
  EXPECT_NE(tiles_missing(sample.frame, {}).find("Level 2"), std::string::npos);
  sample.attention->kernel = "decode_l2_tiled_kernel<float, StateProbe>";
  sample.attention->first_row = 4;
  EXPECT_NE(tiles_missing(sample.frame, {}).find("window"), std::string::npos);
  EXPECT_NE(tiles_missing(sample::empty().frame, {}), "");
}

TEST(Tiles, FitsEverySizeFromOneTileToHundreds) {
  for (const int tokens : {1, 30, 4096}) {
    for (const int splits : {1, 5}) {
      const sample::Sample sample = decode(tokens, 16, splits);
      for (const float scale : {0.75F, 1.0F, 2.5F}) {
        Headless window(1024, 640, scale);
        show_tiles(window);
        for (const auto& [w, h] : {std::pair(1024.0F, 640.0F), {1600.0F, 900.0F}, {3840.0F, 2160.0F}}) {
          window.resize(w, h);
          window.view.maximised = PanelId::tiles;
          window.selection.tile = sample.attention->num_tiles / 2;
          window.draw(sample.frame);
          window.draw(sample.frame);
          const Mark* panel = window.marks.find("tiles");
          ASSERT_NE(panel, nullptr);
          int parts = 0;
          for (const Mark& mark : window.marks.all()) {
            if (!mark.name.starts_with("tiles/")) continue;
            ++parts;
            EXPECT_GE(mark.rect.x, panel->rect.x) << mark.name;
            EXPECT_GE(mark.rect.y, panel->rect.y) << mark.name;
            EXPECT_LE(mark.rect.right(), panel->rect.right() + 0.5F) << mark.name;
            EXPECT_LE(mark.rect.bottom(), panel->rect.bottom() + 0.5F) << mark.name;
          }
          EXPECT_GT(parts, 0) << w << " x " << h << " at " << scale;
          EXPECT_LT(window.largest_list(), 65'000);
        }
      }
    }
  }
}

TEST(TileLayout, PartsDoNotOverlapAndThePageHoldsTheCursor) {
  for (const float w : {200.0F, 500.0F, 1500.0F}) {
    for (const bool splits : {false, true}) {
      const TileNeeds needs{.width = w,
                            .splits = splits,
                            .tiles = 8,
                            .control_lines = w < 500.0F ? 3 : 1,
                            .seen = 1400.0F,
                            .note = 16.0F};
      const float least = least_tiles_height(needs);
      for (float h = least; h < 1400.0F; h += 37.0F) {
        const TileLayout layout = layout_tiles({10.0F, 20.0F, w, h}, needs);
        float y = 20.0F;
        for (const Rect* part :
             {&layout.controls, &layout.strip, &layout.plot, &layout.table, &layout.merge, &layout.footer}) {
          if (part == &layout.merge && !splits) continue;
          EXPECT_GT(part->w, 0.0F);
          EXPECT_GT(part->h, 15.0F) << w << "x" << h;
          EXPECT_GE(part->y, y) << w << "x" << h;
          y = part->bottom();
          EXPECT_LE(y, 20.0F + h + 0.5F);
        }
        EXPECT_GE(layout.gauges.h, 112.0F);
        EXPECT_TRUE(layout.gauges.x >= layout.plot.right() || layout.gauges.y >= layout.plot.bottom());
        EXPECT_LE(layout.gauges.bottom(), layout.table.y);
      }
    }
  }
  for (const float seen : {112.0F, 130.0F, 160.0F, 240.0F}) {
    const TileNeeds low{.width = 700.0F, .splits = true, .tiles = 8, .seen = seen, .note = 16.0F};
    const TileLayout layout = layout_tiles({0.0F, 0.0F, 700.0F, least_tiles_height(low)}, low);
    EXPECT_LE(std::max(layout.gauges.bottom(), layout.footer.bottom()), seen - low.note)
        << "numbers and invariant are seen first";
    EXPECT_LE(layout.plot.h, 112.5F);
    EXPECT_GE(layout.plot.h, 79.5F);
    EXPECT_GT(layout.merge.h, 15.0F);
  }
  for (int cursor = 0; cursor < 512; ++cursor) {
    const TileStrip strip = layout_tile_strip({0.0F, 0.0F, 400.0F, 40.0F}, 4090, 8, cursor, 14.0F);
    EXPECT_TRUE(strip.shows(cursor));
    EXPECT_LE(strip.tile(strip.first + strip.count - 1).right(), 400.5F);
  }
}

/// Numbers beside bars cover no bar: at the tip, on either side of 0.
TEST(Tiles, ScoresAreReadBesideTheirBars) {
  sample::Sample sample = decode();
  for (std::size_t i = 0; i < sample.attention->scores.size(); i += 3) sample.attention->scores[i] *= -1.0F;
  for (const WindowSize size : {WindowSize{1600, 900}, {1920, 1080}}) {
    Headless window(size.w, size.h);
    show_tiles(window);
    int numbers = 0;
    for (int tile = 0; tile < sample.attention->num_tiles; ++tile) {
      window.selection.tile = tile;
      window.draw(sample.frame);
      for (const Mark& label : window.marks.all()) {
        if (!label.name.starts_with("tiles/score_label/")) continue;
        ++numbers;
        for (const Mark& bar : window.marks.all()) {
          if (!bar.name.starts_with("tiles/bar/")) continue;
          EXPECT_TRUE(label.rect.right() <= bar.rect.x || label.rect.x >= bar.rect.right() ||
                      label.rect.bottom() <= bar.rect.y || label.rect.y >= bar.rect.bottom())
              << label.name << " on " << bar.name << " in tile " << tile;
        }
      }
    }
    EXPECT_GT(numbers, 15);
  }
}

/// The plan's tile holds 64 keys; three that score nothing are still told apart and told to be 0.
TEST(Tiles, ScoresOfNothingHaveTheirNumbersInAShortTile) {
  sample::Sample sample = decode(3, 64);
  std::ranges::fill(sample.attention->scores, 0.0F);
  Headless window(1600, 900);
  show_tiles(window);
  window.draw(sample.frame);
  for (int key = 0; key < 3; ++key) {
    const auto label = window.marks.get(fmt::format("tiles/score_label/{}", key));
    ASSERT_TRUE(label.has_value()) << key;
    EXPECT_EQ(label->value, "0.00");
  }
}

/// Where a split's keys do not end with a tile, that tile is one of the split it begins in.
TEST(Tiles, ATileThatStraddlesTwoSplitsIsCountedOnce) {
  sample::Sample sample = decode(24, 4, 2);
  sample.attention->keys_per_split = 10;
  const TileRow row = tile_row(sample.frame, {});
  ASSERT_EQ(row.splits.size(), 2U);
  EXPECT_EQ(row.splits[0].end_tile, 3);
  EXPECT_EQ(row.splits[1].first_tile, 3);
  EXPECT_EQ(row.splits[1].end_tile, 5);
  EXPECT_EQ(row.tiles[2].split, 0);
  EXPECT_FALSE(row.tiles[2].first);
  EXPECT_EQ(row.tiles[3].split, 1);
  EXPECT_TRUE(row.tiles[3].first);
}

}  // namespace
}  // namespace attn::viz
