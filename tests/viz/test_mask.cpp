// The mask: what is in force, previews of other alignments, the rule with numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "headless.h"
#include "sample_frame.h"
#include "viz/panels/mask_rows.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

TEST(Mask, PreviewCountsBothAndNeverHidesTheEngine) {
  const auto s = sample::prefill();  // B: 4 queries over 12 keys, 8 cached
  Headless screen(1600, 900);
  screen.selection.seq = 1;
  screen.click(s.frame, "mask/align/top_left");
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "mask/allowed").substr(0, 37), "preview: 10 of 48 allowed, engine: 42");
  EXPECT_NE(value_of(screen, "mask/cell/1,9").find("engine's bottom-right mask: allowed"), std::string::npos);
  EXPECT_NE(value_of(screen, "mask/cell/1,9").find("masked (top-left"), std::string::npos);
  screen.click(s.frame, "mask/align/bottom_right");
  screen.draw(s.frame);
  EXPECT_FALSE(screen.view.attention.mask_preview.has_value());
  EXPECT_EQ(value_of(screen, "mask/allowed"), "42 of 48 allowed  \xC2\xB7  cached_len 8");
}

TEST(Mask, RuleHasTheNumbersOfTheSequenceAndOfTheSelectedCell) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.selection.seq = 1;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "mask/rule"),
            "j \xE2\x89\xA4 i + (kv \xE2\x88\x92 q) = i + (12 \xE2\x88\x92 4) = i + 8");
  screen.selection.q_row = 1;
  screen.selection.k_col = 10;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "mask/rule"), "j = 10 > 9 = i + (12 \xE2\x88\x92 4) \xE2\x86\x92 masked");
}

TEST(Mask, RowsOfAPreviewKnowTheEnginesToo) {
  BatchRows rows;
  rows.batch = 0;
  rows.q_len = 4;
  rows.k_len = rows.attended = 12;
  const MaskPair mask{MaskAlignment::top_left, MaskAlignment::bottom_right};
  const auto lines = prefill_mask_rows(mask, rows, {0, 4}, 2);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].visible_low, 3);
  EXPECT_EQ(lines[1].visible, 4);
  EXPECT_EQ(lines[1].engine_visible, 12);
  EXPECT_EQ(count_allowed(MaskAlignment::top_left, rows), 10);
  EXPECT_EQ(count_allowed(MaskAlignment::bottom_right, rows), 42);
  EXPECT_EQ(count_allowed(MaskAlignment::none, rows), 48);
}

TEST(Mask, TopLeftInDecodeSeesKeyZeroOnly) {
  auto s = sample::padded_decode();
  Headless screen(1600, 900);
  screen.selection.seq = 2;
  screen.view.attention.mask_preview = MaskAlignment::top_left;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "mask/allowed"), "preview: 1 of 18 keys, engine: 18");
  EXPECT_NE(value_of(screen, "mask/rule").find("key 0 only"), std::string::npos);
  TextLog log;
  screen.view.text_log = &log;
  const auto told = [&] {
    screen.draw(s.frame);
    return std::ranges::any_of(log.entries,
                               [](const TextLog::Entry& entry) { return entry.text == "masked"; });
  };
  EXPECT_TRUE(told()) << "the hatch has no name";
  screen.view.attention.mask_preview = MaskAlignment::bottom_right;
  EXPECT_FALSE(told());
  screen.view.text_log = nullptr;
}

TEST(Mask, ZoomReadsCellsOfItsPart) {
  const auto s = sample::many(1, 512, 16, trace::StepKind::prefill);
  Headless screen(1600, 900);
  screen.view.attention.mask_rows = {0.5, 0.5625};
  screen.view.attention.mask_cols = {0.5, 0.5625};
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "mask/cell/260,260").find("own key"), std::string::npos);
  EXPECT_FALSE(screen.marks.get("mask/cell/3,3").has_value());
}

}  // namespace
}  // namespace attn::viz
