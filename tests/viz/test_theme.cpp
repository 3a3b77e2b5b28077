// Colours as numbers: every text and stroke that occurs is readable on what it is drawn on, and the magnitude
// palette rises evenly.
#include <gtest/gtest.h>

#include <cmath>

#include "viz/palette.h"
#include "viz/theme.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

class EveryTheme : public testing::TestWithParam<const Theme*> {
 protected:
  const Theme& theme = *GetParam();
};

TEST_P(EveryTheme, TextIsReadable) {
  const Theme& t = theme;
  for (const Color ink :
       {Color::text, Color::muted, Color::accent, Color::warning, Color::error, Color::ok}) {
    for (const Color back : {Color::panel, Color::raised}) {
      EXPECT_GE(contrast(t[ink], t[back]), 4.5)
          << theme.name << ": ink " << static_cast<int>(ink) << " on " << static_cast<int>(back);
    }
  }
  EXPECT_GE(contrast(t[Color::on_accent], t[Color::accent]), 4.5);
  EXPECT_GE(contrast(t[Color::panel], t[Color::text]), 4.5);  // the reference-count badge
  EXPECT_GE(contrast(t[Color::pad], t[Color::panel]), 3.0);
  for (int i = 0; i < kNumHues; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_GE(contrast(t[Color::text], theme.tint[at]), 4.5) << theme.name << " tint " << i;
    EXPECT_GE(contrast(theme.on_hue[at], theme.hue[at]), 4.5) << theme.name << " hue " << i;
  }
}

TEST_P(EveryTheme, StrokesAndGlyphsAreVisible) {
  const Theme& t = theme;
  for (const Color stroke : {Color::stroke, Color::selection, Color::accent, Color::pad, Color::masked,
                             Color::unwritten, Color::warning}) {
    EXPECT_GE(contrast(t[stroke], t[Color::panel]), 3.0)
        << theme.name << ": stroke " << static_cast<int>(stroke);
  }
  for (const Rgb hue : theme.hue) {
    EXPECT_GE(contrast(hue, t[Color::panel]), 3.0) << theme.name;
    EXPECT_GE(contrast(hue, t[Color::raised]), 3.0) << theme.name;
  }
  // The staircase and own-key rings on the cells of the mask.
  EXPECT_GE(contrast(t[Color::text], t[Color::allowed]), 3.0);
  EXPECT_GE(contrast(t[Color::text], t[Color::cached_band]), 3.0);
}

TEST_P(EveryTheme, HuesDifferFromEachOther) {
  for (std::size_t i = 0; i < kNumHues; ++i) {
    for (std::size_t j = i + 1; j < kNumHues; ++j) EXPECT_NE(theme.hue[i], theme.hue[j]);
  }
}

INSTANTIATE_TEST_SUITE_P(Themes, EveryTheme,
                         testing::Values(&theme_of(ThemeId::dark), &theme_of(ThemeId::light)),
                         [](const auto& tested) { return std::string(tested.param->name); });

TEST(Contrast, KnownPairs) {
  EXPECT_NEAR(contrast(0x000000, 0xFFFFFF), 21.0, 1e-9);
  EXPECT_NEAR(contrast(0x777777, 0xFFFFFF), 4.48, 0.01);  // the classic grey that just misses
  EXPECT_DOUBLE_EQ(contrast(0x123456, 0x123456), 1.0);
}

TEST(Cividis, LightnessRisesFromEndToEnd) {
  for (int i = 1; i < kPaletteStops; ++i)
    EXPECT_GE(luminance(cividis_stop(i)) + 1e-3, luminance(cividis_stop(i - 1))) << i;
  EXPECT_EQ(cividis_stop(0), 0x00224EU);
  EXPECT_EQ(cividis_stop(255), 0xFEE838U);
  EXPECT_EQ(cividis(-1.0F), cividis_stop(0));
  EXPECT_EQ(cividis(2.0F), cividis_stop(255));
  EXPECT_EQ(cividis(NAN), cividis_stop(0));
}

TEST(Cividis, NumbersInCellsAreReadable) {
  for (int i = 0; i < kPaletteStops; ++i)
    EXPECT_GE(contrast(ink_on(cividis_stop(i)), cividis_stop(i)), 4.5) << i;
}

TEST(WeightScale, LogarithmicFloorAndCeiling) {
  EXPECT_FLOAT_EQ(weight_position(1.0F, true), 1.0F);
  EXPECT_NEAR(weight_position(1e-3F, true), 0.5F, 1e-5F);
  EXPECT_FLOAT_EQ(weight_position(1e-9F, true), 0.0F);
  EXPECT_FLOAT_EQ(weight_position(0.25F, false), 0.25F);
}

}  // namespace
}  // namespace attn::viz
